// Global keys with the lowest bits that garbling needs.
#pragma once

#include "tests/support/two_parties.h"

namespace tinyot::test {

inline Delta garbling_key(Party holder, std::uint64_t seed) {
  Delta key = global_key_of(holder, seed);
  key.value.lo = (key.value.lo & ~std::uint64_t{1}) | (holder == Party::B ? 1 : 0);
  return key;
}

}  // namespace tinyot::test
