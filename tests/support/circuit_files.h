// Circuit files for the tests, written when a test first asks for one: with the generators, or a
// line of text at a time. They stand in a directory that is removed at the end of the process.
//
//   adder64.txt, sub64.txt, mult64.txt  Bristol Fashion  64, 64 -> 64
//   neg64.txt                           Bristol Fashion  64 -> 64
//   zero_equal.txt                      Bristol Fashion  64 -> 1
//   aes_128.txt                         Bristol Fashion  key 128, message 128 -> 128
//   aes_128_msb.txt                     Bristol Fashion  message 128, key 128 -> 128
//   sha256.txt                          Bristol Fashion  block 512, chaining value 256 -> 256
//   adder_32bit.txt                     old Bristol      32, 32 -> 33
//   lt16.lps                            truth tables     16, 16 -> 1, which is a < b
//
// Wire j of a bundle is bit j of the value as an integer, that of AES and SHA-256 read from
// hexadecimal digits as their standards write them; in aes_128_msb.txt wire 0 is the highest bit,
// and the S-boxes are the shallow ones.
#pragma once

#include <string>

#include "tests/support/layers.h"

namespace tinyot::test {

// The path of one of these files. One thread. Fails: std::out_of_range if there is no such file.
std::string circuit_file(const std::string& name);

}  // namespace tinyot::test
