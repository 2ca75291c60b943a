// What must become of a deviation, for every message of every protocol: the claim that `tinyot
// selftest --adversary` tries.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tools/adversary/trial.h"

namespace tinyot::tools {

enum class Expected : std::uint8_t {
  // by one of the row's checks of the honest party, or by a check of the cheater's own, who then
  // has nothing to say
  Ended,
  // or else, if the cheater has guessed a secret bit, nothing has changed: what the honest party
  // gets is right
  Guess,
  Harmless,  // it concerns the cheater alone: the honest party may go on, and what it gets is right
};

// One message. Its checks are those that may name what is wrong, separated by '|': a name, or how
// it begins.
// "(disagreed)" is exit status 6 instead of 4, "(cut)" is 3, "(refused)" 5.
struct TableRow {
  std::uint32_t tag;
  std::string_view name;
  std::string_view source;
  std::size_t row_bits;  // of one row of its payload: a block, a column
  Expected bit;          // of one bit flipped
  Expected rows;         // of a bit of each row
  Expected other;        // of another payload
  std::string_view checks;
  double survival;  // with what probability one bit flipped survives, if it is a guess
};
std::span<const TableRow> adversary_table();
const TableRow* row_of(std::uint32_t tag);

Expected expected_of(const TableRow& row, Trick trick);

// As the rows name it: a check, or "(cut)" and the like.
std::string ending_name(const Ending& ending);

enum class Verdict : std::uint8_t { Void, Caught, Stopped, Survived, Counted, Violation };
// What a trial shows. `reason` says what the table excludes.
struct Judgement {
  Verdict verdict;
  std::string reason;
};
Judgement judge(const TableRow& row, Trick trick, const Trial& trial);

}  // namespace tinyot::tools
