// Shared bits on wires: [x] = [x_A | x_B] for every lane of every slot, as one party holds them (NNOB12 Fig. 3).
//
// A slot holds `lanes` shares: my bits and their MACs, and the keys of the peer's bits. XOR, NOT and constants are local; the
// result may take the slot of an operand.
#pragma once

#include <cstddef>
#include <span>

#include "base/bit_vector.h"
#include "base/block.h"
#include "base/party.h"
#include "base/secret.h"

namespace tinyot {

// One wire's shares over all lanes.
struct WireView {
  std::span<std::uint64_t> bits;
  std::span<Mac> macs;
  std::span<Key> keys;
};

class Wires {
 public:
  // `global_key` is the one under which I check the peer's bits.
  Wires(Party me, Delta global_key, std::size_t lanes) : me_(me), global_key_(global_key), lanes_(lanes), words_(words_for(lanes)) {}
  ~Wires() { wipe_object(global_key_); }
  Wires(const Wires&) = delete;
  Wires& operator=(const Wires&) = delete;

  std::size_t lanes() const { return lanes_; }
  // Makes room for `slots` slots; never shrinks. Views are invalid afterwards.
  void grow(std::size_t slots);
  WireView operator[](std::size_t slot);

  void set_constant(std::size_t out, bool value);
  void set_xor(std::size_t out, std::size_t in0, std::size_t in1);
  void set_not(std::size_t out, std::size_t in);

 private:
  // [x] ^ 1: A's share flips, so its bit moves at A and its key at B.
  void flip(const WireView& wire);

  Party me_;
  Delta global_key_;
  std::size_t lanes_, words_, slots_ = 0;
  SecretVector<std::uint64_t> bits_;
  SecretVector<Mac> macs_;
  SecretVector<Key> keys_;
};

}  // namespace tinyot
