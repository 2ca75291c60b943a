#include "base/suggestion.h"

#include <algorithm>

namespace tinyot {
namespace {

// The optimal string alignment distance: letters inserted, removed, replaced, or swapped with
// their neighbour.
std::size_t distance(std::string_view x, std::string_view y) {
  std::vector<std::vector<std::size_t>> d(x.size() + 1, std::vector<std::size_t>(y.size() + 1));
  for (std::size_t i = 0; i <= x.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= y.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= x.size(); ++i) {
    for (std::size_t j = 1; j <= y.size(); ++j) {
      d[i][j] = std::min(
          {d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (x[i - 1] == y[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && x[i - 1] == y[j - 2] && x[i - 2] == y[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[x.size()][y.size()];
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t kWordMax = 200;  // the word may be a stranger's
  if (word.size() > kWordMax) return "";
  const std::string* best = nullptr;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const std::size_t changes = distance(word, candidate);
    // Words without a common letter are not close, such as those of one letter.
    if (changes >= least || changes >= std::max(word.size(), candidate.size())) continue;
    least = changes;
    best = &candidate;
  }
  return best == nullptr ? "" : " (did you mean " + *best + "?)";
}

}  // namespace tinyot
