// Searches this process's writable memory for secrets: heap, stacks, globals, and memory that has
// been freed but not reused.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/support/layers.h"

namespace tinyot::test {

// A secret that this process must not hold in the clear: its bytes, each XORed with a mask.
struct MaskedSecret {
  std::string name;
  std::vector<unsigned char> masked;
};

// The secrets that `make` returns. It runs in a child process, so that no trace of them is left in
// this one. Call it while there are no other threads. Several secrets of one kind are concatenated,
// `bytes` bytes each.
using Bytes = std::vector<unsigned char>;
std::vector<MaskedSecret> made_elsewhere(const std::string& name, std::size_t bytes,
                                         const std::function<Bytes()>& make);

// A line for each place where one of them was found: which secret, in which mapping.
std::vector<std::string> places_of(const std::vector<MaskedSecret>& secrets);

}  // namespace tinyot::test
