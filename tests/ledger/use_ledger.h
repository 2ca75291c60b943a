// Everything that this process has used once only, and what it has used again.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/parameters.h"
#include "tests/support/layers.h"

namespace tinyot::test {

// Begins to record.
void open_ledger();

// How many uses were recorded of each kind, in the order of UseKind.
std::vector<std::size_t> recorded_uses();

// A line for each use that repeats or overlaps another. Allowed are, if they are the very same:
//   H       two inputs a tweak: the key holder's two candidates
//   stream  three passes over a chunk of a row of LaBit: for the columns, the check, and the rows
//           that are kept
//   RO      what the table in the source names
std::vector<std::string> repeated_uses(Profile profile);

}  // namespace tinyot::test
