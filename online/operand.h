// Shared bits side by side, as one party holds them: an operand or the result of a layer of ANDs.
#pragma once

#include "base/bit_vector.h"
#include "base/block.h"
#include "base/secret.h"

namespace tinyot {

struct Operand {
  explicit Operand(std::size_t n) : bits(n), macs(n), keys(n) {}
  std::size_t size() const { return macs.size(); }

  BitVector bits;  // my share
  SecretVector<Mac> macs;
  SecretVector<Key> keys;  // of the peer's share
};

}  // namespace tinyot
