// Secrets as users write them.
#pragma once

#include <string_view>

#include "base/secret.h"

namespace tinyot {

// Wiped however short it is, as a std::string would not be.
using SecretText = SecretVector<char>;

inline SecretText secret_text(std::string_view text) { return {text.begin(), text.end()}; }
inline std::string_view view_of(const SecretText& text) { return {text.data(), text.size()}; }

}  // namespace tinyot
