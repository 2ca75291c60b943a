// A record of this process's uses of RO domains, tweaks, stream blocks and nonces, and its repeated
// uses.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/layers.h"
#include "tinyot/parameters.h"

namespace tinyot::test {

// Starts recording.
void open_ledger();

// The number of recorded uses of each kind, in the order of UseKind.
std::vector<std::size_t> recorded_uses();

// The number of recorded queries of RO in a phase.
std::size_t recorded_queries(std::string_view label);

// A line for each use that repeats or overlaps another. Exact repetitions that are allowed:
//   H       two inputs per tweak: the key holder's two candidates
//   stream  three passes over a chunk of a row of LaBit: for the columns, the check, and the rows
//           that are kept; of coefficients of the check of silent bits, those at the noise places,
//           which the MAC holder computes for psi and again for the sum of all leaves. They are
//           factors, and mask nothing; both are of one challenge
//   H1      128 trees a key, each expanded three times
//   RO      the uses listed in use_ledger.cpp
std::vector<std::string> repeated_uses(Profile profile);

}  // namespace tinyot::test
