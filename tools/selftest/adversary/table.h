// The required outcome of a deviation, for every message of every protocol: the claim that `tinyot
// selftest --adversary` tests.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "net/message_tags.h"
#include "tools/selftest/adversary/trial.h"

namespace tinyot::tools {

enum class Expected : std::uint8_t {
  // ended by one of the row's checks at the honest party, or by the cheater itself, whose own
  // checks fail
  Ended,
  // ended, or without effect if the cheater has guessed a secret bit: the honest party's results
  // are correct
  Guess,
  Harmless,  // affects only the cheater: the honest party may continue, with correct results
};

// One message. `checks` lists the checks that may catch a deviation, separated by '|': names or
// their beginnings.
// "(disagreed)" is exit status 6 instead of 4, "(cut)" is 3, "(refused)" 5.
struct TableRow {
  net::MessageTag message;
  std::string_view source;
  std::size_t row_bits;  // of one row of its payload: a block, a column
  Expected bit;          // if one bit is flipped
  Expected rows;         // if a bit of each row is flipped
  Expected other;        // if the payload is replaced
  std::string_view checks;
  double survival;  // probability that one flipped bit survives, if it is a guess
};
std::span<const TableRow> adversary_table();
const TableRow* row_of(std::uint32_t tag);

Expected expected_of(const TableRow& row, DeviationKind kind);

// The name that rows use: a check, or "(cut)" and the like.
std::string ending_name(const Ending& ending);

enum class Verdict : std::uint8_t { Void, Caught, Stopped, Survived, Counted, Violation };
// The result of a trial. `reason` says how it contradicts the table.
struct Judgement {
  Verdict verdict;
  std::string reason;
};
Judgement judge(const TableRow& row, DeviationKind kind, const Trial& trial);

}  // namespace tinyot::tools
