// Circuit files for the tests, made by the generators or as text at first use, in a directory that
// is removed at the end of the process.
//
//   adder64.txt, sub64.txt, mult64.txt  Bristol Fashion  64, 64 -> 64
//   neg64.txt                           Bristol Fashion  64 -> 64
//   zero_equal.txt                      Bristol Fashion  64 -> 1
//   aes_128.txt                         Bristol Fashion  key 128, message 128 -> 128
//   aes_128_msb.txt                     Bristol Fashion  message 128, key 128 -> 128
//   sha256.txt                          Bristol Fashion  block 512, chaining value 256 -> 256
//   adder_32bit.txt                     old Bristol      32, 32 -> 33
//   lt16.lps                            truth tables     16, 16 -> 1: a < b
// Wire j of a bundle is bit j of the value as an integer; for AES and SHA-256 the integer that the
// standards' hexadecimal digits denote. In aes_128_msb.txt wire 0 is the highest bit, and the
// S-boxes are the shallow ones.
#pragma once

#include <string>

#include "tests/support/layers.h"

namespace tinyot::test {

// The path of one of these files, complete when it returns; threads may ask at the same time.
// Fails: std::out_of_range if there is no such file.
std::string circuit_file(const std::string& name);

}  // namespace tinyot::test
