#include "online/masked/masked_steps.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/block_sums.h"
#include "base/declassify.h"
#include "base/secret.h"
#include "checks/opening.h"
#include "online/windowed_exchange.h"

namespace tinyot::online {

// The ANDs of a round, whose material is released with them.
class MaskedRoundAnds final : public RoundAnds {
 public:
  MaskedRoundAnds(MaskedSteps& run, MaskedRound& masked, const circuit::Round& round,
                  const WireBits& bits);
  ~MaskedRoundAnds() override { masked_ = {}; }

  BitVector open(const circuit::Round& round, std::span<const InputLayer> inputs) override;
  void combine(const circuit::Round& round, std::size_t tile, WireBlocks& wires) override;
  void combine_invariant(const circuit::Round& round, WireBlocks& wires) override;

 private:
  static constexpr net::MessageTag kOperands = net::message_tag("masked.operands");
  // Entries whose products are computed at a time, and in which absorbing is done.
  static constexpr std::size_t kStep = 256;

  void set_public_inputs(const circuit::Round& round, std::span<const InputLayer> inputs);
  BitVector gather_public(const circuit::Round& round, std::size_t operand) const;
  BitVector results_of(const circuit::Round& round, BitVector products);
  void absorb_pivots(const circuit::Round& round, std::size_t tile, bool invariants,
                     WireBlocks& wires);
  void multiply(std::span<const circuit::RoundAnd> ands, std::size_t tile, std::size_t width,
                std::size_t entry, WireBlocks& wires);
  void add_terms(const PlacedGroup& group, WireBlocks& wires);

  MaskedSteps& run_;
  MaskedRound& masked_;
  const WireBits& bits_;  // until the opening
  RoundTriples triples_{masked_.triples};
  std::size_t of_lanes_ = 0;  // pivots over all lanes, before those of lane-invariant wires
  BitVector pivots_;          // my shares; after the opening, the opened bits
  // Of the groups, in the order of their entries, and how many have been computed.
  std::vector<std::vector<ResultTerms>> terms_;
  std::size_t absorbed_ = 0, computed_ = 0;
};

std::unique_ptr<RoundAnds> MaskedSteps::begin(const circuit::Round& round, const WireBits& bits) {
  const bool is_first = next_ == 0;
  if (is_first) flights_.before_receiving();
  times_.add_round(announced_bits(info_, lanes_.count(), round),
                   (is_first ? flights_.opened_before[0] : 0) +
                       rounds_[next_].plan->opened_after(lanes_.count()));
  for (std::size_t level = 1; is_first && level < kLevelsMost; ++level)
    times_.add_round({}, flights_.opened_before[level]);
  return std::make_unique<MaskedRoundAnds>(*this, rounds_[next_++], round, bits);
}

MaskedRoundAnds::MaskedRoundAnds(MaskedSteps& run, MaskedRound& masked, const circuit::Round& round,
                                 const WireBits& bits)
    : run_(run), masked_(masked), bits_(bits) {
  const Lanes& lanes = run_.lanes_;
  std::size_t invariants = 0;
  for (const Pivot& pivot : masked_.plan->pivots) invariants += circuit::is_invariant(pivot.wire);
  of_lanes_ = (masked_.plan->pivots.size() - invariants) * lanes.count();
  pivots_ = BitVector(of_lanes_ + invariants);
  BitWriter to(pivots_.words());
  const auto mask = [&](const Pivot& pivot, std::size_t tile, std::size_t width) {
    const std::size_t entry = entry_of(round, lanes, pivot, tile);
    to.write(bits.get(tile, pivot.wire) ^ bits_at(triples_.bits[pivot.operand], entry, width),
             width);
  };
  for (std::size_t tile = 0; tile < lanes.tiles(); ++tile)
    for (const Pivot& pivot : masked_.plan->pivots)
      if (!circuit::is_invariant(pivot.wire)) mask(pivot, tile, lanes.width(tile));
  for (const Pivot& pivot : masked_.plan->pivots)
    if (circuit::is_invariant(pivot.wire)) mask(pivot, 0, 1);
  to.finish();
  WindowedExchange(pivots_.size(), 1).fill_window([&](std::size_t first, std::size_t count) {
    BitVector message(count);
    message.copy_from(pivots_, first, 0, count);
    checks::reveal_bits(run_.session_, kOperands, message);
  });
}

BitVector MaskedRoundAnds::open(const circuit::Round& round, std::span<const InputLayer> inputs) {
  const Lanes& lanes = run_.lanes_;
  WireBits& bits = run_.public_bits_;
  if (run_.next_ == 1) run_.flights_.before_opening();
  BitVector peers(pivots_.size());
  WindowedExchange(pivots_.size(), 1)
      .run([](std::size_t, std::size_t) {},
           [&](std::size_t first, std::size_t count) {
             peers.copy_from(checks::receive_revealed_bits(run_.session_, kOperands, count), 0,
                             first, count);
           });
  pivots_ ^= peers;
  declassify(pivots_.words());
  bits.grow(round);
  set_public_inputs(round, inputs);
  bits.evaluate(CutGates(round, *masked_.plan).round());
  std::size_t next = 0, next_invariant = of_lanes_;
  change_bits(*masked_.plan, lanes, bits, [&](const Pivot& pivot, std::size_t tile) {
    const std::size_t width = lanes.width(tile);
    if (circuit::is_invariant(pivot.wire)) return bits_at(pivots_, next_invariant++, 1);
    return bits_at(pivots_, std::exchange(next, next + width), width);
  });
  BitVector z = triples_.bits[2];
  const bool adds_constant = run_.session_.me() == Party::A;
  BitVector &d = masked_.opened[0], &e = masked_.opened[1];
  if (z.size() > 0) {
    d ^= gather_public(round, 0);
    e ^= gather_public(round, 1);
  }
  for (std::size_t w = 0; w < z.words().size(); ++w) {
    const std::uint64_t of_d = d.words()[w], of_e = e.words()[w];
    z.words()[w] ^= (of_e & triples_.bits[0].words()[w]) ^ (of_d & triples_.bits[1].words()[w]) ^
                    (adds_constant ? of_d & of_e : 0);
  }
  z = results_of(round, std::move(z));
  for_each_result(round, lanes, [&](std::size_t tile, circuit::Slot slot, std::size_t) {
    bits.put(tile, slot, 0);
  });
  return z;
}

// The public bits of an operand, by entry. Those of a group's products are not needed.
BitVector MaskedRoundAnds::gather_public(const circuit::Round& round, std::size_t operand) const {
  BitVector gathered(round.and_count(run_.lanes_.count()));
  BitWriter to(gathered.words());
  const auto gather_in = [&](std::size_t tile, bool is_invariant, std::size_t width) {
    for_each_product(round, is_invariant, [&](std::uint32_t, const FactorWires& wires) {
      to.write(wires[operand] ? run_.public_bits_.get(tile, *wires[operand]) : 0, width);
    });
  };
  for (std::size_t tile = 0; tile < run_.lanes_.tiles(); ++tile)
    gather_in(tile, false, run_.lanes_.width(tile));
  gather_in(0, true, 1);
  to.finish();
  return gathered;
}

// Those of ANDs are products. Those of groups are sums, whose terms are kept for the blocks.
BitVector MaskedRoundAnds::results_of(const circuit::Round& round, BitVector products) {
  if (round.groups.empty() && round.invariant_groups.empty()) return products;
  const Lanes& lanes = run_.lanes_;
  std::size_t count = 0;
  for_each_result(round, lanes,
                  [&](std::size_t, circuit::Slot, std::size_t width) { count += width; });
  BitVector results(count);
  BitWriter to(results.words());
  const auto write_ands = [&](std::size_t ands, std::size_t entry, std::size_t width) {
    for (std::size_t i = 0; i < ands; ++i)
      to.write(bits_at(products, entry + i * width, width), width);
  };
  const auto write_group = [&](const PlacedGroup& group) {
    const circuit::GroupShape& shape = group.shape();
    std::array<std::uint64_t, circuit::kGroupInputsMax> l{};
    for (std::size_t i = 0; i < shape.inputs; ++i)
      l[i] = run_.public_bits_.get(group.tile, group.group.inputs[i]);
    terms_.push_back(terms_of(shape, std::span(l).first(shape.inputs)));
    for (std::size_t k = 0; k < shape.results.size(); ++k) {
      const ResultTerms& terms = terms_.back()[k];
      std::uint64_t z = run_.session_.me() == Party::A ? terms.constant : 0;
      for (std::size_t i = 0; i < shape.inputs; ++i)
        if ((shape.results[k].linear >> i & 1) != 0)
          z ^= bits_.get(group.tile, group.group.inputs[i]);
      for (const auto& [part, factor] : terms.parts)
        z ^= factor & masked_.groups.bits(group.part(part), group.width);
      to.write(z, group.width);
    }
  };
  for (std::size_t tile = 0; tile < lanes.tiles(); ++tile) {
    write_ands(round.ands.size(), entry_of(round, lanes, false, 0, tile), lanes.width(tile));
    for_each_group_in(round, lanes, tile, write_group);
  }
  write_ands(round.invariant_ands.size(), entry_of(round, lanes, true, 0, 0), 1);
  for_each_invariant_group(round, lanes, write_group);
  to.finish();
  return results;
}

void MaskedRoundAnds::set_public_inputs(const circuit::Round& round,
                                        std::span<const InputLayer> inputs) {
  for (const InputLayer& given : inputs) given.set_announced(run_.lanes_, run_.public_bits_);
  for (const circuit::RoundInput& input : round.inputs) {
    const circuit::InputBundle& bundle = run_.info_.inputs[input.bundle];
    if (bundle.source == circuit::InputSource::Shared)
      for_each_part(bundle, run_.lanes_, [&](std::size_t tile, std::size_t) {
        run_.public_bits_.put(tile, input.out, 0);
      });
    if (bundle.source == circuit::InputSource::Public)
      set_public_bits(input, *run_.inputs_[input.bundle], run_.lanes_, run_.public_bits_);
  }
}

void MaskedRoundAnds::combine(const circuit::Round& round, std::size_t tile, WireBlocks& wires) {
  absorb_pivots(round, tile, false, wires);
  multiply(round.ands, tile, run_.lanes_.width(tile), entry_of(round, run_.lanes_, false, 0, tile),
           wires);
  for_each_group_in(round, run_.lanes_, tile,
                    [&](const PlacedGroup& group) { add_terms(group, wires); });
}

void MaskedRoundAnds::combine_invariant(const circuit::Round& round, WireBlocks& wires) {
  absorb_pivots(round, 0, true, wires);
  multiply(round.invariant_ands, 0, 1, entry_of(round, run_.lanes_, true, 0, 0), wires);
  for_each_invariant_group(round, run_.lanes_,
                           [&](const PlacedGroup& group) { add_terms(group, wires); });
}

void MaskedRoundAnds::absorb_pivots(const circuit::Round& round, std::size_t tile, bool invariants,
                                    WireBlocks& wires) {
  const std::size_t width = invariants ? 1 : run_.lanes_.width(tile);
  const Block delta = run_.session_.global_key().value;
  SecretVector<MacShare> blocks;
  const auto absorb = [&] {
    for (std::size_t i = 0; i < blocks.size(); ++i)
      blocks[i].value = blocks[i].value ^ times(delta, pivots_[absorbed_ + i]);
    checks::absorb_opened(run_.session_, blocks);
    absorbed_ += blocks.size();
    blocks.clear();
  };
  for (const Pivot& pivot : masked_.plan->pivots) {
    if (circuit::is_invariant(pivot.wire) != invariants) continue;
    const std::size_t at = blocks.size();
    blocks.resize(at + width);
    triples_.blocks.add_factor(pivot.operand, entry_of(round, run_.lanes_, pivot, tile),
                               {wires.plane(tile, pivot.wire, 0), width}, &blocks[at].value);
    if (blocks.size() >= kStep) absorb();
  }
  if (!blocks.empty()) absorb();
}

// From an entry on. In a full tile the products are written where they belong.
void MaskedRoundAnds::multiply(std::span<const circuit::RoundAnd> ands, std::size_t tile,
                               std::size_t width, std::size_t entry, WireBlocks& wires) {
  const Block delta = run_.session_.global_key().value;
  const auto multiply_entries = [&](std::size_t count, Block* z) {
    for (std::size_t done = 0; done < count;) {
      std::array<std::uint64_t, kStep / 64> d{}, e{};
      const TripleBlocksOf::Run run = triples_.blocks.at(entry, std::min(count - done, kStep));
      copy_bits(masked_.opened[0].words(), entry, d, 0, run.count);
      copy_bits(masked_.opened[1].words(), entry, e, 0, run.count);
      multiply_by_triples(
          {run.columns[0], run.columns[1], run.columns[2], d.data(), e.data(), z + done}, run.count,
          delta);
      done += run.count;
      entry += run.count;
    }
  };
  if (width == Lanes::kTileLanes) {
    for (const circuit::RoundAnd& gate : ands)
      multiply_entries(width, wires.plane(tile, gate.out, 0));
    return;
  }
  const std::size_t step = std::max<std::size_t>(1, kStep / width);
  SecretVector<Block> products(std::min(step, ands.size()) * width);
  for (std::size_t first = 0; first < ands.size(); first += step) {
    const auto some = ands.subspan(first, std::min(step, ands.size() - first));
    multiply_entries(some.size() * width, products.data());
    const Block* z = products.data();
    for (const circuit::RoundAnd& gate : some) {
      copy_blocks(z, width, wires.plane(tile, gate.out, 0));
      z += width;
    }
  }
}

// No result has the slot of an input.
void MaskedRoundAnds::add_terms(const PlacedGroup& group, WireBlocks& wires) {
  const circuit::GroupShape& shape = group.shape();
  const Block delta = run_.session_.global_key().value;
  const std::vector<ResultTerms>& terms = terms_[computed_++];
  SecretVector<Block> input(group.width);
  for (std::size_t k = 0; k < shape.results.size(); ++k) {
    Block* const to = wires.plane(group.tile, group.group.results[k], 0);
    for (std::size_t lane = 0; lane < group.width; ++lane)
      to[lane] = times(delta, (terms[k].constant >> lane & 1) != 0);
    for (std::size_t i = 0; i < shape.inputs; ++i) {
      if ((shape.results[k].linear >> i & 1) == 0) continue;
      wires.read(group.tile, group.group.inputs[i], 0, group.width, input.data());
      xor_blocks(input, to, to);
    }
    for (const auto& [part, factor] : terms[k].parts) {
      const std::span<const Block> masks = masked_.groups.blocks(group.part(part), group.width);
      for (std::size_t lane = 0; lane < group.width; ++lane)
        to[lane] = to[lane] ^ times(masks[lane], (factor >> lane & 1) != 0);
    }
  }
}

}  // namespace tinyot::online
