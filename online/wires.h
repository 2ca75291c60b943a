// Shared bits on wires in one party's view: a value for every lane of every slot, tile by tile, and
// one value for a lane-invariant wire.
//
// The bits of my shares are stored apart from their blocks, because the runtime evaluates a round's
// bits first and its blocks later, while the peer's message is in flight.
// XOR, NOT and constants are local; the result may reuse the slot of an operand.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "base/bit_stream.h"
#include "base/block.h"
#include "base/secret.h"
#include "circuitgen/layering.h"
#include "online/lanes.h"
#include "tinyot/parameters.h"
#include "tinyot/party.h"

namespace tinyot::online {

// The blocks of a lane of a wire.
enum class WireForm {
  MacAndKey,   // [x_A | x_B] (NNOB12 Fig. 3): the MAC of my bit and the key of the peer's
  MacShare,    // a share of x.(Delta^A ^ Delta^B)
  HalfShares,  // shares of x.Delta^B and of x.Delta^A (garbled/half_shares.h)
};
constexpr WireForm wire_form_of(AndMaterial form) {
  return form == AndMaterial::AandAot ? WireForm::MacAndKey : WireForm::MacShare;
}

// Blocks of a share, in planes: all lanes of the first, then all lanes of the second.
constexpr std::size_t planes_of(WireForm form) { return form == WireForm::MacShare ? 1 : 2; }

// How many gates before their evaluation operands are prefetched.
inline constexpr std::size_t kGatesAhead = 16;

// Faster than std::copy_n for a single block, as in circuits of one lane.
inline void copy_blocks(const Block* from, std::size_t count, Block* to) {
  if (count == 1)
    *to = *from;
  else
    std::copy_n(from, count, to);
}

// Bits of wires, a word for each tile; bits beyond its width are undefined. A lane-invariant wire
// has 64 equal bits. On one lane, where no wire is invariant, a byte replaces the word: more wires
// fit in the cache.
class WireBits {
 public:
  // `adds_public`: what both parties know, a constant or the 1 of a NOT, is added to these bits.
  WireBits(bool adds_public, const Lanes& lanes)
      : public_mask_(mask_of(adds_public)), one_lane_(lanes.count() == 1), tiles_(lanes.tiles()) {}
  // My shares of the values: what is public is added to A's.
  WireBits(Party me, const Lanes& lanes) : WireBits(me == Party::A, lanes) {}

  // Allocates the slots of the round; never shrinks.
  void grow(const circuit::Round& round);
  void evaluate(const circuit::Round& round);

  std::uint64_t get(std::size_t tile, circuit::Slot slot) const {
    if (one_lane_) return lane_[slot];
    return circuit::is_invariant(slot) ? invariant_[circuit::index_of(slot)] : tiles_[tile][slot];
  }
  void put(std::size_t tile, circuit::Slot slot, std::uint64_t word) {
    if (one_lane_)
      lane_[slot] = static_cast<std::uint8_t>(word);
    else
      (circuit::is_invariant(slot) ? invariant_[circuit::index_of(slot)] : tiles_[tile][slot]) =
          word;
  }
  // The next `width` bits; a single one is repeated, as a lane-invariant wire has it.
  void put_next(std::size_t tile, circuit::Slot slot, BitReader& from, std::size_t width) {
    const std::uint64_t word = from.read(width);
    put(tile, slot, width == 1 ? std::uint64_t{0} - word : word);
  }
  // A constant for each lane.
  void put_public(std::size_t tile, circuit::Slot slot, std::uint64_t word) {
    put(tile, slot, word & public_mask_);
  }

 private:
  void evaluate(std::span<const circuit::LocalGate> gates, std::size_t tile);

  std::uint64_t public_mask_;
  bool one_lane_;
  SecretVector<std::uint8_t> lane_;                 // on one lane
  std::vector<SecretVector<std::uint64_t>> tiles_;  // on several
  SecretVector<std::uint64_t> invariant_;
};

// The blocks of wires, such as the MACs and keys, or the MAC shares, of the bits.
class WireBlocks {
 public:
  static constexpr std::size_t kPlanesMax = 2;

  // `flips`: what a public 1 adds to each plane.
  WireBlocks(std::span<const Block> flips, const Lanes& lanes);
  // `global_key`: this party's.
  WireBlocks(Party me, WireForm form, Delta global_key, const Lanes& lanes);
  ~WireBlocks() { wipe_object(flip_); }
  WireBlocks(const WireBlocks&) = delete;
  WireBlocks& operator=(const WireBlocks&) = delete;

  std::size_t planes() const { return planes_; }

  void grow(const circuit::Round& round);
  void evaluate_invariant(std::span<const circuit::LocalGate> gates) {
    evaluate(gates, {invariant_.data(), 1});
  }
  void evaluate_tile(std::span<const circuit::LocalGate> gates, std::size_t tile) {
    evaluate(gates, {tiles_[tile].data(), lanes_.width(tile)});
  }

  // A plane of a slot: width(tile) blocks, or one of a lane-invariant wire.
  Block* plane(std::size_t tile, circuit::Slot slot, std::size_t plane) {
    return circuit::is_invariant(slot)
               ? invariant_.data() + circuit::index_of(slot) * planes_ + plane
               : tiles_[tile].data() + (slot * planes_ + plane) * lanes_.width(tile);
  }
  // A constant for each lane.
  void put_public(std::size_t tile, circuit::Slot slot, std::uint64_t word);
  // Copies a plane to `width` blocks; an invariant one is repeated for each lane.
  void read(std::size_t tile, circuit::Slot slot, std::size_t plane, std::size_t width, Block* to) {
    const Block* from = this->plane(tile, slot, plane);
    if (circuit::is_invariant(slot))
      std::fill_n(to, width, *from);
    else
      copy_blocks(from, width, to);
  }
  // A hint that a plane is read soon.
  void prefetch(std::size_t tile, circuit::Slot slot, std::size_t plane) {
    __builtin_prefetch(this->plane(tile, slot, plane));
  }

 private:
  struct Table {
    Block* blocks;
    std::size_t width;
  };
  void evaluate(std::span<const circuit::LocalGate> gates, const Table& table);
  void set_xor(const circuit::LocalGate& gate, const Table& table);

  Lanes lanes_;
  std::size_t planes_;
  std::array<Block, kPlanesMax> flip_;
  std::vector<SecretVector<Block>> tiles_;
  SecretVector<Block> invariant_;
};

}  // namespace tinyot::online
