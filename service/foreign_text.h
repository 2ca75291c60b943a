// Text that a peer has chosen, as it may appear in logs, in the interface and in messages to the
// peer.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace tinyot::service {

inline constexpr std::size_t kForeignTextMax = 400;  // characters

// Printable ASCII, at most kForeignTextMax characters.
inline std::string foreign_text(std::string_view text) {
  constexpr std::string_view kCut = "...";
  const bool is_cut = text.size() > kForeignTextMax;
  std::string clean(text.substr(0, is_cut ? kForeignTextMax - kCut.size() : text.size()));
  std::ranges::replace_if(
      clean, [](char c) { return c < ' ' || c > '~'; }, '?');
  return is_cut ? clean.append(kCut) : clean;
}

}  // namespace tinyot::service
