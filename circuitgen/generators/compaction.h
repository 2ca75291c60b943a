// Order-preserving compaction: marked integers move to the front and keep their order.
//
// For n integers of w bits, n a power of two: n / 2 . log2 n exchanges of w ANDs, about n / 2 .
// log2 n + n ANDs to control them, at AND-depth of about (log2 n)^2 + log2 n. Source: Sasy,
// Johnson, Goldberg, "Fast fully oblivious compaction and shuffling", CCS 2022, algorithms
// ORCompact and OROffCompact. A shuffle that hides positions takes more: a permutation network has
// n log2 n - n + 1 exchanges for each of the two parties.
#pragma once

#include "circuitgen/generators/columns.h"

namespace tinyot::circuit {

// Integer k is marked if marks[k] is 1. Returns the number of marks, in bit_width(n) bits. What
// follows the marked integers is a permutation of the others.
Bits compact(Columns& values, BitSpan marks);

}  // namespace tinyot::circuit
