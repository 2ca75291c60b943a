// Secrets as text, for example input values.
#pragma once

#include <string_view>

#include "base/secret.h"

namespace tinyot {

// Also wiped if short; a std::string stores short text inside the object and does not wipe it.
using SecretText = SecretVector<char>;

inline SecretText secret_text(std::string_view text) { return {text.begin(), text.end()}; }
inline std::string_view view_of(const SecretText& text) { return {text.data(), text.size()}; }

}  // namespace tinyot
