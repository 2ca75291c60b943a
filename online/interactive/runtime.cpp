#include "online/interactive/runtime.h"

#include <algorithm>
#include <utility>

#include "base/bit_stream.h"
#include "base/error.h"
#include "circuitgen/layering.h"
#include "online/interactive/and_layer.h"
#include "online/outputs.h"
#include "online/stopwatch.h"
#include "online/wires.h"

namespace tinyot::online {
namespace {

constexpr std::size_t kWindowWireBytes = std::size_t{256} << 20;
constexpr std::size_t kLargestWindowWireBytes = 2 * kWindowWireBytes;
constexpr std::size_t kWindowMin = 4096, kWindowMax = std::size_t{1} << 20;
constexpr std::size_t kChunkEntries = 512;  // ANDs of a tile whose blocks are gathered at a time

// The gathered operands and products of some ANDs.
class BlockChunk {
 public:
  explicit BlockChunk(std::size_t planes) : planes_(planes), blocks_(3 * planes * kCapacity) {}

  static constexpr std::size_t kCapacity = kChunkEntries + Lanes::kTileLanes;
  // Operands 0, 1, 2 are x, y, z.
  Block* plane(std::size_t operand, std::size_t p) {
    return blocks_.data() + (operand * planes_ + p) * kCapacity;
  }
  ShareBlocks operand(std::size_t number) {
    return {{plane(number, 0), planes_ == 2 ? plane(number, 1) : nullptr}};
  }

 private:
  std::size_t planes_;
  SecretVector<Block> blocks_;
};

class Runtime final : public circuit::RoundSink {
 public:
  Runtime(checks::Session& session, MaterialReader& material, AndMaterial form,
          const circuit::CircuitRounds& rounds, const BundleValues& inputs,
          const SharedValues& shared, const RunProgress& progress)
      : session_(session), material_(material), form_(form), info_(rounds.circuit().info()),
        inputs_(inputs), shared_(shared), progress_(progress), lanes_(rounds.lanes()),
        bits_(session.me(), lanes_),
        blocks_(session.me(), wire_form_of(form), session.global_key(), lanes_),
        chunk_(planes_of(wire_form_of(form))), outputs_(info_, wire_form_of(form), lanes_) {}

  void round(circuit::Round& round) override;
  void finish_blocks();
  void reveal_outputs();

  Evaluation result;

 private:
  // A round whose bits have been evaluated.
  struct Evaluated {
    circuit::Round round;
    std::vector<InputLayer> inputs;
    std::unique_ptr<AndLayer> ands;
  };

  static void receive(std::vector<InputLayer>& inputs);
  BitVector gather(const circuit::Round& round, circuit::Slot circuit::RoundAnd::*operand) const;
  void scatter(const circuit::Round& round, const BitVector& z);
  void combine(std::span<const circuit::RoundAnd> ands, std::size_t tile, std::size_t width,
               AndLayer& layer);
  void combine_gathered(std::span<const circuit::RoundAnd> ands, std::size_t tile,
                        std::size_t width, AndLayer& layer);
  ShareBlocks operand(std::size_t number, std::size_t tile, circuit::Slot slot);
  void set_outputs(BundleValues values, checks::SettledCheck) {
    result.outputs = std::move(values);
  }

  // Calls use(tile, gate, width) for the ANDs in the order of their entries: tile by tile,
  // then invariant ones, whose results may reuse slots that were read before.
  template <class Use>
  void for_each_and(const circuit::Round& round, Use use) const {
    for (std::size_t tile = 0; tile < lanes_.tiles(); ++tile)
      for (const circuit::RoundAnd& gate : round.ands) use(tile, gate, lanes_.width(tile));
    for (const circuit::RoundAnd& gate : round.invariant_ands) use(0, gate, std::size_t{1});
  }

  checks::Session& session_;
  MaterialReader& material_;
  AndMaterial form_;
  const circuit::CircuitInfo& info_;
  const BundleValues& inputs_;
  const SharedValues& shared_;
  const RunProgress& progress_;
  Lanes lanes_;
  WireBits bits_;
  WireBlocks blocks_;
  BlockChunk chunk_;
  OutputShares outputs_;
  std::optional<Evaluated> evaluated_;  // the round whose blocks have not been computed
  circuit::Round spare_;                // whose memory is used again
};

BitVector Runtime::gather(const circuit::Round& round,
                          circuit::Slot circuit::RoundAnd::*operand) const {
  BitVector bits(round.and_count(lanes_.count()));
  BitWriter to(bits.words());
  for_each_and(round, [&](std::size_t tile, const circuit::RoundAnd& gate, std::size_t width) {
    to.write(bits_.get(tile, gate.*operand), width);
  });
  to.finish();
  return bits;
}

void Runtime::scatter(const circuit::Round& round, const BitVector& z) {
  BitReader from(z.words());
  for_each_and(round, [&](std::size_t tile, const circuit::RoundAnd& gate, std::size_t width) {
    bits_.put_next(tile, gate.out, from, width);
  });
}

void Runtime::round(circuit::Round& round) {
  Evaluated now;
  bits_.grow(round);
  for (const Party owner : {Party::A, Party::B}) {
    std::vector<circuit::RoundInput> given;
    std::copy_if(round.inputs.begin(), round.inputs.end(), std::back_inserter(given),
                 [&](const circuit::RoundInput& input) {
                   return info_.inputs[input.bundle].source == circuit::source_of(owner);
                 });
    if (given.empty()) continue;
    now.inputs.emplace_back(session_, material_, owner, info_, lanes_.count(), std::move(given),
                            inputs_);
    now.inputs.back().set_bits(lanes_, bits_);
  }
  for (const circuit::RoundInput& input : round.inputs) {
    const circuit::InputSource source = info_.inputs[input.bundle].source;
    if (source == circuit::InputSource::Shared)
      shared_[input.bundle]->set_bits(input, lanes_, bits_);
    if (source == circuit::InputSource::Public)
      set_public_bits(input, *inputs_[input.bundle], lanes_, bits_);
  }
  bits_.evaluate(round);
  for (const circuit::RoundOutput& output : round.outputs) outputs_.take_bits(output, bits_);
  const std::size_t ands = round.and_count(lanes_.count());
  result.ands += ands;
  result.xors += round.xor_count(lanes_.count());
  if (ands > 0)
    now.ands = begin_and_layer(session_, material_, form_, gather(round, &circuit::RoundAnd::in0),
                               gather(round, &circuit::RoundAnd::in1));
  finish_blocks();
  if (ands > 0) {
    const Stopwatch waiting(result.wire_s);
    receive(now.inputs);
    scatter(round, now.ands->open());
    ++result.and_rounds;
  }
  now.round = std::exchange(round, std::move(spare_));
  evaluated_ = std::move(now);
  if (progress_) progress_(result.ands);
}

// Inputs of a round without ANDs are not waited for before the openings of the next round are sent.
void Runtime::receive(std::vector<InputLayer>& inputs) {
  for (InputLayer& layer : inputs) layer.receive();
}

void Runtime::finish_blocks() {
  if (!evaluated_) return;
  receive(evaluated_->inputs);
  const Stopwatch computing(result.blocks_s);
  const Evaluated& last = *evaluated_;
  blocks_.grow(last.round);
  for (const InputLayer& inputs : last.inputs)
    inputs.set_blocks(lanes_, wire_form_of(form_), session_.global_key(), blocks_);
  for (const circuit::RoundInput& input : last.round.inputs) {
    const circuit::InputSource source = info_.inputs[input.bundle].source;
    if (source == circuit::InputSource::Shared)
      shared_[input.bundle]->set_blocks(input, lanes_, blocks_);
    if (source == circuit::InputSource::Public)
      set_public_blocks(input, *inputs_[input.bundle], lanes_, blocks_);
  }
  blocks_.evaluate_invariant(last.round.invariant_local);
  for (std::size_t tile = 0; tile < lanes_.tiles(); ++tile) {
    blocks_.evaluate_tile(last.round.local, tile);
    for (const circuit::RoundOutput& output : last.round.outputs)
      outputs_.take_blocks(output, tile, blocks_);
    if (last.ands) combine(last.round.ands, tile, lanes_.width(tile), *last.ands);
  }
  if (last.ands) combine(last.round.invariant_ands, 0, 1, *last.ands);
  spare_ = std::move(evaluated_->round);
  evaluated_.reset();
}

// Of a full tile the blocks are used where they are.
void Runtime::combine(std::span<const circuit::RoundAnd> ands, std::size_t tile, std::size_t width,
                      AndLayer& layer) {
  if (width < Lanes::kTileLanes) return combine_gathered(ands, tile, width, layer);
  for (const circuit::RoundAnd& gate : ands)
    layer.combine(width, operand(0, tile, gate.in0), operand(1, tile, gate.in1),
                  operand(2, tile, gate.out));
}

// The blocks of a slot in a full tile. Those of a lane-invariant wire are copied to the chunk.
ShareBlocks Runtime::operand(std::size_t number, std::size_t tile, circuit::Slot slot) {
  if (circuit::is_invariant(slot)) {
    for (std::size_t p = 0; p < blocks_.planes(); ++p)
      blocks_.read(tile, slot, p, Lanes::kTileLanes, chunk_.plane(number, p));
    return chunk_.operand(number);
  }
  ShareBlocks blocks{};
  for (std::size_t p = 0; p < blocks_.planes(); ++p) blocks.plane[p] = blocks_.plane(tile, slot, p);
  return blocks;
}

void Runtime::combine_gathered(std::span<const circuit::RoundAnd> ands, std::size_t tile,
                               std::size_t width, AndLayer& layer) {
  const std::size_t planes = blocks_.planes(),
                    step = std::max<std::size_t>(1, kChunkEntries / width);
  for (std::size_t first = 0; first < ands.size(); first += step) {
    const auto some = ands.subspan(first, std::min(step, ands.size() - first));
    for (std::size_t p = 0; p < planes; ++p) {
      Block *x = chunk_.plane(0, p), *y = chunk_.plane(1, p);
      for (std::size_t i = 0; i < some.size(); ++i) {
        if (i + kGatesAhead < some.size()) {
          blocks_.prefetch(tile, some[i + kGatesAhead].in0, p);
          blocks_.prefetch(tile, some[i + kGatesAhead].in1, p);
        }
        blocks_.read(tile, some[i].in0, p, width, x);
        blocks_.read(tile, some[i].in1, p, width, y);
        x += width;
        y += width;
      }
    }
    layer.combine(some.size() * width, chunk_.operand(0), chunk_.operand(1), chunk_.operand(2));
    for (std::size_t p = 0; p < planes; ++p) {
      const Block* z = chunk_.plane(2, p);
      for (const circuit::RoundAnd& gate : some) {
        copy_blocks(z, width, blocks_.plane(tile, gate.out, p));
        z += width;
      }
    }
  }
}

void Runtime::reveal_outputs() {
  checks::SettledCheck settled = checks::settle_transcripts(session_);
  auto values = outputs_.reveal(session_, material_, std::move(settled));
  set_outputs(std::move(values), checks::settle_transcripts(session_));
  result.shared = outputs_.take_shared();
}

}  // namespace

MaterialCounts material_for(const circuit::CircuitInfo& info, std::uint64_t ands, AndMaterial form,
                            std::size_t lanes) {
  MaterialCounts counts;
  if (form == AndMaterial::Triples) {
    counts[MaterialKind::Triples] = ands;
    for (const circuit::OutputBundle& bundle : info.outputs)
      if (bundle.to == circuit::Receiver::A || bundle.to == circuit::Receiver::B)
        counts[material::auth_bits_of(bundle.to == circuit::Receiver::A ? Party::A : Party::B)] +=
            std::uint64_t{bundle.bits} * lanes;
  } else {
    for (const Party party : {Party::A, Party::B})
      counts[material::auth_ands_of(party)] = counts[material::auth_ots_from(party)] =
          counts[material::auth_bits_of(party)] = ands;
  }
  count_input_masks(info, lanes, counts);
  return counts;
}

std::size_t window_for(std::size_t lanes) {
  return std::clamp(kWindowWireBytes / (lanes * (sizeof(Mac) + sizeof(Key))), kWindowMin,
                    kWindowMax);
}

std::vector<std::size_t> windows_for(std::size_t lanes) {
  std::vector<std::size_t> windows = {window_for(lanes)};
  while (2 * windows.back() * lanes * (sizeof(Mac) + sizeof(Key)) <= kLargestWindowWireBytes)
    windows.push_back(2 * windows.back());
  return windows;
}

Evaluation run_circuit(checks::Session& session, material::Source& source,
                       const MaterialCounts& wanted, AndMaterial form,
                       circuit::CircuitRounds& rounds, const BundleValues& inputs,
                       const SharedValues& shared, const RunProgress& progress) {
  check_inputs(session.me(), rounds.circuit().info(), rounds.lanes(), inputs);
  check_shared_inputs(rounds.circuit().info(), {wire_form_of(form)}, rounds.lanes(), shared);
  MaterialReader material(source, wanted);
  Runtime runtime(session, material, form, rounds, inputs, shared, progress);
  double evaluating_cpu_s = 0;
  {
    const net::PhaseLog::Scope phase(session.log(), session.channel(), "gates", rounds.lanes());
    evaluating_cpu_s = rounds.run(runtime);
    runtime.finish_blocks();
  }
  session.log().add({.name = "gates", .cpu_s = evaluating_cpu_s});
  const net::PhaseLog::Scope phase(session.log(), session.channel(), "outputs", rounds.lanes());
  runtime.reveal_outputs();
  runtime.result.store_s = material.waited_s();
  runtime.result.opening_s = material.opening_s();
  return std::move(runtime.result);
}

}  // namespace tinyot::online
