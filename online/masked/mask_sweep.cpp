#include "online/masked/mask_sweep.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/block_sums.h"
#include "base/declassify.h"
#include "base/error.h"
#include "checks/opening.h"
#include "online/runtime.h"
#include "online/windowed_exchange.h"

namespace tinyot::online {
namespace {

constexpr net::MessageTag kProducts = net::message_tag("masked.products");
constexpr std::array<Block, 1> kNoFlip{};  // a NOT changes no mask, and the mask of a constant is 0

}  // namespace

MaskSweep::MaskSweep(checks::Session& session, MaterialReader& material,
                     const circuit::CircuitInfo& info, const Lanes& lanes,
                     const SharedValues& shared, std::shared_ptr<const CircuitPlan> plan,
                     std::size_t atoms_max)
    : session_(session), material_(material), info_(info), lanes_(lanes), shared_(shared),
      plans_(std::move(plan), atoms_max), bits_(false, lanes), blocks_(kNoFlip, lanes) {}

void MaskSweep::round(circuit::Round& round) {
  const RoundPlan& plan = plans_.next(round);
  targets_ += plan.targets.size();
  if (targets_ > kTargetsMost)
    throw UsageError("the circuit's sums are too long for a masked run: take another online phase");
  rounds_.push_back({.plan = &plan});
  gates_.push_back(std::exchange(round, {}));
  MaskedRound& masked = rounds_.back();
  const circuit::Round& gates = gates_.back();
  const std::size_t entries = gates.and_count(lanes_.count());
  bits_.grow(gates);
  blocks_.grow(gates);
  set_input_masks(gates, masked);
  masked.triples = material_.take(MaterialKind::Triples, entries);
  masked.groups = GroupMasks(gates, lanes_);
  const RoundTriples triples(masked.triples);
  {
    const CutGates cut(gates, plan);
    bits_.evaluate(cut.round());
    blocks_.evaluate_invariant(cut.round().invariant_local);
    for (std::size_t tile = 0; tile < lanes_.tiles(); ++tile)
      blocks_.evaluate_tile(cut.round().local, tile);
  }
  change_bits(plan, lanes_, bits_, [&](const Pivot& pivot, std::size_t tile) {
    const std::size_t width = circuit::is_invariant(pivot.wire) ? 1 : lanes_.width(tile);
    return bits_at(triples.bits[pivot.operand], entry_of(gates, lanes_, pivot, tile), width);
  });
  change_blocks(gates, plan, triples.blocks);
  if (entries > 0) open_wires(gates, plan, triples);
  const auto bits_of_round = opened_before(gates, plan, lanes_);
  for (std::size_t i = 0; i < kLevelsMost; ++i) opened_bits_[i] += bits_of_round[i];
  for_each_result(gates, lanes_, [&](std::size_t tile, circuit::Slot slot, std::size_t width) {
    bits_.put(tile, slot, 0);
    std::fill_n(blocks_.plane(tile, slot, 0), width, Block{0, 0});
  });
  while (bits_under_way_ > kUnderWayMost) receive_first();
}

// Shared inputs are known already: they are masks themselves, with 0 as the public bit.
void MaskSweep::set_input_masks(const circuit::Round& gates, MaskedRound& masked) {
  masked.inputs = draw_inputs(session_, material_, info_, lanes_, gates);
  for (const InputLayer& inputs : masked.inputs)
    inputs.set_masks(lanes_, WireForm::MacShare, session_.global_key(), bits_, blocks_);
  for (const circuit::RoundInput& input : gates.inputs) {
    const circuit::InputSource source = info_.inputs[input.bundle].source;
    if (source == circuit::InputSource::Shared) {
      shared_[input.bundle]->set_bits(input, lanes_, bits_);
      shared_[input.bundle]->set_blocks(input, lanes_, blocks_);
    }
    if (source == circuit::InputSource::Public)
      for_each_part(info_.inputs[input.bundle], lanes_, [&](std::size_t tile, std::size_t) {
        bits_.put_public(tile, input.out, 0);
        blocks_.put_public(tile, input.out, 0);
      });
  }
}

// As change_bits, of the blocks.
void MaskSweep::change_blocks(const circuit::Round& gates, const RoundPlan& plan,
                              const TripleBlocksOf& triples) {
  if (plan.pivots.empty()) return;
  const auto change = [&](std::size_t tile, std::span<const PivotTarget> targets, bool invariants,
                          std::span<const Block> difference) {
    for (const PivotTarget& target : targets) {
      if (circuit::is_invariant(target.slot) != invariants) continue;
      Block* blocks = blocks_.plane(tile, target.slot, 0);
      const std::size_t width = invariants ? 1 : lanes_.width(tile);
      if (target.is_cut)
        std::fill_n(blocks, width, Block{0, 0});
      else if (difference.size() < width)
        xor_block_to_each(std::span<const Block>(blocks, width), difference[0], blocks);
      else
        xor_blocks(std::span<const Block>(blocks, width), difference.data(), blocks);
    }
  };
  const auto difference_of = [&](const Pivot& pivot, std::size_t tile, std::span<Block> to) {
    triples.add_factor(pivot.operand, entry_of(gates, lanes_, pivot, tile),
                       {blocks_.plane(tile, pivot.wire, 0), to.size()}, to.data());
  };
  SecretVector<Block> invariant;
  for_each_pivot(plan, [&](const Pivot& pivot, std::span<const PivotTarget> targets) {
    if (!circuit::is_invariant(pivot.wire)) return;
    invariant.push_back({});
    difference_of(pivot, 0, std::span(invariant).last(1));
    change(0, targets, true, std::span<const Block>(invariant).last(1));
  });
  for (std::size_t tile = 0; tile < lanes_.tiles(); ++tile) {
    SecretVector<Block> of_lanes(lanes_.width(tile));
    std::size_t next = 0;
    for_each_pivot(plan, [&](const Pivot& pivot, std::span<const PivotTarget> targets) {
      if (circuit::is_invariant(pivot.wire))
        return change(tile, targets, false, std::span<const Block>(invariant).subspan(next++, 1));
      difference_of(pivot, tile, of_lanes);
      change(tile, targets, false, of_lanes);
    });
  }
}

void MaskSweep::open_wires(const circuit::Round& gates, const RoundPlan& plan,
                           const RoundTriples& triples) {
  UnderWay opening{rounds_.size() - 1, 1, openings_of(gates, plan),
                   opened_before(gates, plan, lanes_)[0]};
  BitWriter mine(opening.mine.words());
  Block* blocks = opening.first_block();
  std::array<Block, Lanes::kTileLanes> masks{};
  for_each_opened_before(gates, opening.openings, lanes_,
                         [&](std::size_t tile, circuit::Slot slot, std::size_t operand,
                             std::size_t entry, std::size_t skipped, std::size_t lanes) {
                           const std::uint64_t mask = bits_.get(tile, slot) >> skipped;
                           mine.write(mask ^ bits_at(triples.bits[operand], entry, lanes), lanes);
                           blocks_.read(tile, slot, 0, skipped + lanes, masks.data());
                           triples.blocks.add_factor(
                               operand, entry,
                               std::span<const Block>(masks).subspan(skipped, lanes), blocks);
                           blocks += lanes;
                         });
  mine.finish();
  wipe_object(masks);
  send(std::move(opening));
}

void MaskSweep::open_parts(std::size_t round, std::size_t level) {
  const circuit::Round& gates = gates_[round];
  const MaskedRound& masked = rounds_[round];
  const std::uint64_t count = opened_before(gates, *masked.plan, lanes_)[level - 1];
  if (count == 0) return;
  const RoundTriples triples(masked.triples);
  UnderWay opening{round, level, {}, count};
  BitWriter mine(opening.mine.words());
  Block* blocks = opening.first_block();
  for_each_opened_part(
      gates, lanes_, level,
      [&](std::size_t operand, std::size_t entry, std::size_t part, std::size_t width) {
        mine.write(masked.groups.bits(part, width) ^ bits_at(triples.bits[operand], entry, width),
                   width);
        triples.blocks.add_factor(operand, entry, masked.groups.blocks(part, width), blocks);
        blocks += width;
      });
  mine.finish();
  send(std::move(opening));
}

void MaskSweep::send(UnderWay opening) {
  const std::size_t count = opening.mine.size();
  WindowedExchange(count, 1).fill_window([&](std::size_t first, std::size_t some) {
    BitVector message(some);
    message.copy_from(opening.mine, first, 0, some);
    checks::reveal_bits(session_, kProducts, message);
  });
  bits_under_way_ += count;
  under_way_.push_back(std::move(opening));
}

void MaskSweep::receive_first() {
  UnderWay opening = std::move(under_way_.front());
  under_way_.pop_front();
  const std::size_t count = opening.mine.size();
  bits_under_way_ -= count;
  BitVector opened(count);
  WindowedExchange(count, 1).run(
      [](std::size_t, std::size_t) {},
      [&](std::size_t first, std::size_t some) {
        opened.copy_from(checks::receive_revealed_bits(session_, kProducts, some), 0, first, some);
      });
  opened ^= opening.mine;
  declassify(opened.words());
  const Block delta = session_.global_key().value;
  for (std::size_t i = 0; i < count; ++i)
    opening.blocks[i].value = opening.blocks[i].value ^ times(delta, opened[i]);
  checks::absorb_opened(session_, opening.blocks);
  keep(opening, opened);
}

void MaskSweep::keep(const UnderWay& opening, const BitVector& opened) {
  MaskedRound& masked = rounds_[opening.round];
  const circuit::Round& gates = gates_[opening.round];
  std::size_t at = 0;
  const auto keep_some = [&](std::size_t operand, std::size_t entry, std::size_t lanes) {
    copy_bits(opened.words(), at, masked.opened[operand].words(), entry, lanes);
    at += lanes;
  };
  if (opening.level == 1) {
    const std::size_t entries = gates.and_count(lanes_.count());
    masked.opened = {BitVector(entries), BitVector(entries)};
    for_each_opened_before(
        gates, opening.openings, lanes_,
        [&](std::size_t, circuit::Slot, std::size_t operand, std::size_t entry, std::size_t,
            std::size_t lanes) { keep_some(operand, entry, lanes); });
  } else {
    for_each_opened_part(gates, lanes_, opening.level,
                         [&](std::size_t operand, std::size_t entry, std::size_t,
                             std::size_t width) { keep_some(operand, entry, width); });
  }
  if (gates.groups.empty() && gates.invariant_groups.empty()) return;
  masked.groups.make(opening.level, gates, lanes_, RoundTriples(masked.triples), masked.opened,
                     {session_.me() == Party::A, session_.global_key().value});
}

void MaskSweep::receive_wires() {
  while (!under_way_.empty()) receive_first();
}

void MaskSweep::receive_all() {
  receive_wires();
  for (std::size_t level = 2; level <= kLevelsMost; ++level) {
    for (std::size_t round = 0; opened_bits_[level - 1] > 0 && round < rounds_.size(); ++round) {
      open_parts(round, level);
      while (bits_under_way_ > kUnderWayMost) receive_first();
    }
    receive_wires();
  }
}

}  // namespace tinyot::online
