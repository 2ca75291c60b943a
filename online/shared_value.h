// The value of a bundle that stays shared between the parties: an output of one circuit that no
// party receives, and an input of later circuits of the same session. One party's view.
//
// It is authenticated under the session's global keys, as the wires of a running circuit are, so a
// circuit that continues with it detects a changed share as it detects a changed wire.
// Secret: all of it. May be used any number of times.
#pragma once

#include <span>
#include <vector>

#include "base/bit_vector.h"
#include "circuitgen/layering.h"
#include "online/wires.h"
#include "tinyot/lane_matrix.h"

namespace tinyot::online {

class SharedValue {
 public:
  // `bits` bits in each of `lanes` lanes. Entry (bit, lane) is at bit . lanes + lane, as in the
  // planes (online/wires.h).
  SharedValue(std::size_t bits, std::size_t lanes, WireForm form, BitVector my_bits,
              std::vector<SecretVector<Block>> planes);

  std::size_t bits() const { return bits_; }
  std::size_t lanes() const { return lanes_; }
  WireForm form() const { return form_; }

  // My bits: the value is their XOR with the peer's. Without MACs, nothing guards them.
  LaneMatrix my_share() const;

  // My shares, unguarded, and the planes of their blocks.
  const BitVector& bit_shares() const { return my_bits_; }
  std::span<const Block> plane(std::size_t index) const { return planes_[index]; }

  // The same value as interactive runs on triples take it: of half shares, their sums.
  SharedValue folded() const;

  // Of a run on as many lanes, or of one lane for an input that is the same in all lanes.
  void set_bits(const circuit::RoundInput& input, const Lanes& lanes, WireBits& wires) const;
  void set_blocks(const circuit::RoundInput& input, const Lanes& lanes, WireBlocks& wires) const;

 private:
  std::size_t bits_, lanes_;
  WireForm form_;
  BitVector my_bits_;
  std::vector<SecretVector<Block>> planes_;
};

// By bundle; null or absent for bundles that are not shared.
using SharedValues = std::vector<const SharedValue*>;
using SharedOutputs = std::vector<std::optional<SharedValue>>;

}  // namespace tinyot::online
