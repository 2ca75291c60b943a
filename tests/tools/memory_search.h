// Looks for secrets in this process's own writable memory: heap, stacks, globals, and what has been
// freed and not used again.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/support/layers.h"

namespace tinyot::test {

// A secret that this process may not hold in the clear: its bytes, each XORed with a mask.
struct MaskedSecret {
  std::string name;
  std::vector<unsigned char> masked;
};

// What `make` returns, which runs in a child process of its own, so that nothing of it is left
// here. Call it while there are no other threads. Several secrets of one kind are separated by
// their length: `bytes` each.
using Bytes = std::vector<unsigned char>;
std::vector<MaskedSecret> made_elsewhere(const std::string& name, std::size_t bytes,
                                         const std::function<Bytes()>& make);

// A line for each place that holds one of them: which secret, in which mapping.
std::vector<std::string> places_of(const std::vector<MaskedSecret>& secrets);

}  // namespace tinyot::test
