// Batches of authenticated bits in one party's view, as structures of arrays (NNOB12 Fig. 3).
//
//   MacColumn       bits of mine: I am the MAC holder and have (x, M_x) for each.
//   KeyColumn       bits of the peer: I am the key holder and have K_x for each. The global key is
//                   stored separately, once per session.
//   AuthShares      shared bits x = x_A ^ x_B: my x_P, and my share of x.(Delta^A ^ Delta^B) in
//                   place of a MAC and a key.
//
// Batches are move-only: material is consumed by moving it. Views are spans into a batch; a
// MacColumnView starts at a multiple of 64, so that its bits are whole words.
#pragma once

#include "base/bit_vector.h"
#include "base/block.h"
#include "base/secret.h"

namespace tinyot {

struct MacColumnView {
  std::span<std::uint64_t> bits;
  std::span<Mac> macs;

  std::size_t size() const { return macs.size(); }
  bool bit(std::size_t index) const { return get_bit(bits, index); }
  MacColumnView part(std::size_t first, std::size_t count) const {
    ENSURE(first % 64 == 0 && first + count <= size());
    return {bits.subspan(first / 64, words_for(count)), macs.subspan(first, count)};
  }
};

using KeyColumnView = std::span<Key>;

class MacColumn {
 public:
  MacColumn() = default;
  explicit MacColumn(std::size_t size) : bits(size), macs(size) {}
  MacColumn(MacColumn&&) = default;
  MacColumn& operator=(MacColumn&&) = default;

  std::size_t size() const { return macs.size(); }
  MacColumnView view() { return {bits.words(), macs}; }
  MacColumnView view(std::size_t first, std::size_t count) { return view().part(first, count); }

  BitVector bits;
  SecretVector<Mac> macs;
};

class KeyColumn {
 public:
  KeyColumn() = default;
  explicit KeyColumn(std::size_t size) : keys(size) {}
  KeyColumn(KeyColumn&&) = default;
  KeyColumn& operator=(KeyColumn&&) = default;

  std::size_t size() const { return keys.size(); }
  KeyColumnView view() { return keys; }
  KeyColumnView view(std::size_t first, std::size_t count) {
    return KeyColumnView(keys).subspan(first, count);
  }

  SecretVector<Key> keys;
};

class AuthShares {
 public:
  AuthShares() = default;
  explicit AuthShares(std::size_t size) : bits(size), macs(size) {}
  AuthShares(AuthShares&&) = default;
  AuthShares& operator=(AuthShares&&) = default;

  std::size_t size() const { return macs.size(); }

  BitVector bits;
  SecretVector<MacShare> macs;
};

}  // namespace tinyot
