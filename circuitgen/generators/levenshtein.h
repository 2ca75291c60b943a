// The Levenshtein distance of two strings: the least number of insertions, deletions and
// replacements of symbols that turns one into the other.
//
//   parameters  rows, columns, symbol_bits, cells: differences or distances
//   inputs      a (rows . symbol_bits, A), b (columns . symbol_bits, B): symbol k begins at
//               bit k . symbol_bits; as Bytes if symbols are whole bytes, so that text is written
//               in its order
//   output      distance (bit_width(max(rows, columns)), to both)
//
// Cell (i, j) of the table is the distance D(i, j) of the first i symbols of one string and the
// first j of the other. The table is computed anti-diagonal by anti-diagonal, the cells of each in
// parallel, with O(min(rows, columns)) live wires.
//
//   distances    The cell itself, in bit_width(max(i, j)) = w bits: two minima, then an addition of
//                0 or 1. 5 w ANDs per cell, and symbol_bits - 1 to compare the symbols, fewer at
//                the borders. Source: Huang, Evans, Katz, Malka, "Faster secure two-party
//                computation using garbled circuits", USENIX Security 2011, also in section 7.4 of
//                Asharov, Lindell, Schneider, Zohner, CCS 2013: 1,290,653,042 ANDs for 2,000 and
//                10,000 symbols of 2 bits.
//   differences  Only D(i, j) - D(i - 1, j) and D(i, j) - D(i, j - 1), both -1, 0 or 1: 4
//                ANDs per cell, and symbol_bits - 1; two levels of ANDs per anti-diagonal. The
//                distance is the sum along one diagonal. Source: the cell of Myers, "A fast
//                bit-vector algorithm for approximate string matching based on dynamic
//                programming", J. ACM 46 (1999).
#pragma once

#include "circuitgen/generators/family.h"

namespace tinyot::circuit {

CircuitFamily levenshtein_family();

}  // namespace tinyot::circuit
