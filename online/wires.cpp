#include "online/wires.h"

#include <algorithm>
#include <type_traits>

#include "base/block_sums.h"
#include "base/error.h"

namespace tinyot::online {
namespace {

// The gate whose operands are prefetched at gate `i`. Only an XOR has two of them.
const circuit::LocalGate* xor_ahead(std::span<const circuit::LocalGate> gates, std::size_t i) {
  if (i + kGatesAhead >= gates.size()) return nullptr;
  const circuit::LocalGate& gate = gates[i + kGatesAhead];
  return gate.kind == circuit::GateKind::Xor ? &gate : nullptr;
}

// `bits(slot)` points to the bits of a wire.
template <class BitsOf>
void evaluate_bits(std::span<const circuit::LocalGate> gates, std::uint64_t not_mask, BitsOf bits) {
  using Word = std::remove_pointer_t<decltype(bits(0))>;
  for (std::size_t i = 0; i < gates.size(); ++i) {
    const circuit::LocalGate& gate = gates[i];
    if (const circuit::LocalGate* later = xor_ahead(gates, i)) {
      __builtin_prefetch(bits(later->in0));
      __builtin_prefetch(bits(later->in1));
    }
    Word& out = *bits(gate.out);
    switch (gate.kind) {
      case circuit::GateKind::Xor:
        out = *bits(gate.in0) ^ *bits(gate.in1);
        break;
      case circuit::GateKind::Not:
        out = static_cast<Word>(*bits(gate.in0) ^ not_mask);
        break;
      case circuit::GateKind::Const:
        out = gate.in0 != 0 ? static_cast<Word>(not_mask) : 0;
        break;
      default:
        ENSURE(false && "not a local gate");
    }
  }
}

}  // namespace

void WireBits::grow(const circuit::Round& round) {
  if (one_lane_) {
    if (lane_.size() < round.slots) lane_.resize(round.slots);
    return;
  }
  for (auto& tile : tiles_)
    if (tile.size() < round.slots) tile.resize(round.slots);
  if (invariant_.size() < round.invariant_slots) invariant_.resize(round.invariant_slots);
}

void WireBits::evaluate(const circuit::Round& round) {
  if (one_lane_)
    return evaluate_bits(round.local, public_mask_,
                         [lane = lane_.data()](circuit::Slot slot) { return lane + slot; });
  evaluate(round.invariant_local, 0);
  for (std::size_t tile = 0; tile < tiles_.size(); ++tile) evaluate(round.local, tile);
}

void WireBits::evaluate(std::span<const circuit::LocalGate> gates, std::size_t tile) {
  evaluate_bits(gates, public_mask_,
                [invariant = invariant_.data(), lanes = tiles_[tile].data()](circuit::Slot slot) {
                  return circuit::is_invariant(slot) ? invariant + circuit::index_of(slot)
                                                     : lanes + slot;
                });
}

WireBlocks::WireBlocks(std::span<const Block> flips, const Lanes& lanes)
    : lanes_(lanes), planes_(flips.size()), flip_{}, tiles_(lanes.tiles()) {
  ENSURE(planes_ <= kPlanesMax);
  std::ranges::copy(flips, flip_.begin());
}

// XOR with the constant 1 changes A's bit: with MACs and keys it changes B's key of the bit, with
// shares of MACs both parties' shares.
WireBlocks::WireBlocks(Party me, WireForm form, Delta global_key, const Lanes& lanes)
    : WireBlocks(std::array<Block, kPlanesMax>{}, lanes) {
  planes_ = planes_of(form);
  if (form == WireForm::MacShare) flip_[0] = global_key.value;
  if (form == WireForm::MacAndKey && me == Party::B) flip_[1] = global_key.value;
}

void WireBlocks::grow(const circuit::Round& round) {
  for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
    const std::size_t blocks = round.slots * planes_ * lanes_.width(tile);
    if (tiles_[tile].size() < blocks) tiles_[tile].resize(blocks);
  }
  if (invariant_.size() < round.invariant_slots * planes_)
    invariant_.resize(round.invariant_slots * planes_);
}

void WireBlocks::put_public(std::size_t tile, circuit::Slot slot, std::uint64_t word) {
  const std::size_t width = circuit::is_invariant(slot) ? 1 : lanes_.width(tile);
  for (std::size_t p = 0; p < planes_; ++p)
    for (std::size_t i = 0; i < width; ++i)
      plane(tile, slot, p)[i] = times(flip_[p], ((word >> i) & 1) != 0);
}

void WireBlocks::evaluate(std::span<const circuit::LocalGate> gates, const Table& table) {
  const std::size_t blocks = planes_ * table.width;
  const bool one_block = blocks == 1 && lanes_.count() == 1;  // then no wire is invariant
  const auto row = [&](circuit::Slot slot) {
    return table.blocks + circuit::index_of(slot) * blocks;
  };
  for (std::size_t i = 0; i < gates.size(); ++i) {
    const circuit::LocalGate& gate = gates[i];
    if (const circuit::LocalGate* later = xor_ahead(gates, i)) {
      __builtin_prefetch(row(later->in0));
      __builtin_prefetch(row(later->in1));
    }
    Block* out = row(gate.out);
    switch (gate.kind) {
      case circuit::GateKind::Xor:
        if (one_block)
          *out = *row(gate.in0) ^ *row(gate.in1);
        else
          set_xor(gate, table);
        break;
      case circuit::GateKind::Not:
        for (std::size_t p = 0; p < planes_; ++p)
          xor_block_to_each(std::span<const Block>(row(gate.in0) + p * table.width, table.width),
                            flip_[p], out + p * table.width);
        break;
      case circuit::GateKind::Const:
        for (std::size_t p = 0; p < planes_; ++p)
          std::fill_n(out + p * table.width, table.width, times(flip_[p], gate.in0 != 0));
        break;
      default:
        ENSURE(false && "not a local gate");
    }
  }
}

void WireBlocks::set_xor(const circuit::LocalGate& gate, const Table& table) {
  const std::size_t blocks = planes_ * table.width;
  const auto row = [&](circuit::Slot slot) {
    return table.blocks + circuit::index_of(slot) * blocks;
  };
  Block* out = row(gate.out);
  // For an invariant gate `table` holds the lane-invariant wires; otherwise an invariant operand is
  // broadcast to the lanes.
  const bool mixed = !circuit::is_invariant(gate.out) &&
                     (circuit::is_invariant(gate.in0) || circuit::is_invariant(gate.in1));
  if (!mixed) return xor_blocks({row(gate.in0), blocks}, row(gate.in1), out);
  const auto [invariant, other] = circuit::is_invariant(gate.in0) ? std::pair(gate.in0, gate.in1)
                                                                  : std::pair(gate.in1, gate.in0);
  for (std::size_t p = 0; p < planes_; ++p)
    xor_block_to_each(std::span<const Block>(row(other) + p * table.width, table.width),
                      invariant_[circuit::index_of(invariant) * planes_ + p],
                      out + p * table.width);
}

}  // namespace tinyot::online
