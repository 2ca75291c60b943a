// What a user may have meant by a word that is not known.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tinyot {

// " (did you mean X?)", X being the known word with the fewest changes of a letter or swaps of
// neighbours from `word`; empty if none is close, or if the word is long.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace tinyot
