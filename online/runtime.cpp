#include "online/runtime.h"

#include <algorithm>
#include <utility>

#include "base/bit_stream.h"
#include "base/error.h"
#include "online/stopwatch.h"

namespace tinyot::online {
namespace {

constexpr std::size_t kWindowWireBytes = std::size_t{256} << 20;
constexpr std::size_t kLargestWindowWireBytes = 2 * kWindowWireBytes;
constexpr std::size_t kWindowMin = 4096, kWindowMax = std::size_t{1} << 20;

}  // namespace

MaterialCounts material_for(const circuit::CircuitInfo& info, std::uint64_t ands, AndMaterial form,
                            std::size_t lanes) {
  MaterialCounts counts;
  if (form == AndMaterial::Triples || form == AndMaterial::Garbling) {
    counts[form == AndMaterial::Triples ? MaterialKind::Triples : MaterialKind::FullTriples] = ands;
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

BitVector gather(const circuit::Round& round, const Lanes& lanes, const WireBits& bits,
                 circuit::Slot circuit::RoundAnd::*operand) {
  ENSURE(round.groups.empty() && round.invariant_groups.empty());
  BitVector gathered(round.and_count(lanes.count()));
  BitWriter to(gathered.words());
  for_each_and(round, lanes,
               [&](std::size_t tile, const circuit::RoundAnd& gate, std::size_t width) {
                 to.write(bits.get(tile, gate.*operand), width);
               });
  to.finish();
  return gathered;
}

Runtime::Runtime(checks::Session& session, RoundSteps& steps, WireForm form,
                 const circuit::CircuitInfo& info, std::size_t lanes, const BundleValues& inputs,
                 const SharedValues& shared, const RunProgress& progress)
    : session_(session), steps_(steps), form_(form), info_(info), inputs_(inputs), shared_(shared),
      progress_(progress), lanes_(lanes), bits_(session.me(), lanes_),
      blocks_(session.me(), form, session.global_key(), lanes_), outputs_(info_, form, lanes_) {}

void Runtime::scatter(const circuit::Round& round, const BitVector& z) {
  BitReader from(z.words());
  for_each_result(round, lanes_, [&](std::size_t tile, circuit::Slot slot, std::size_t width) {
    bits_.put_next(tile, slot, from, width);
  });
}

void Runtime::round(circuit::Round& round) {
  Evaluated now;
  bits_.grow(round);
  now.inputs = steps_.inputs_of(round);
  for (InputLayer& inputs : now.inputs) {
    inputs.announce(inputs_);
    inputs.set_bits(lanes_, bits_);
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
  result_.ands += ands;
  result_.xors += round.xor_count(lanes_.count());
  result_.and_rounds += ands > 0;
  now.ands = steps_.begin(round, bits_);
  finish_blocks();
  if (now.ands) {
    const Stopwatch waiting(result_.wire_s);
    receive(now.inputs);
    scatter(round, now.ands->open(round, now.inputs));
  }
  now.round = std::exchange(round, std::move(spare_));
  evaluated_ = std::move(now);
  if (progress_) progress_(result_.ands);
}

// Inputs of a round without openings are not waited for before those of the next round are sent.
void Runtime::receive(std::vector<InputLayer>& inputs) {
  for (InputLayer& layer : inputs) layer.receive();
}

void Runtime::finish_blocks() {
  if (!evaluated_) return;
  receive(evaluated_->inputs);
  const Stopwatch computing(result_.blocks_s);
  const Evaluated& last = *evaluated_;
  blocks_.grow(last.round);
  for (const InputLayer& inputs : last.inputs)
    inputs.set_blocks(lanes_, form_, session_.global_key(), blocks_);
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
    if (last.ands) last.ands->combine(last.round, tile, blocks_);
  }
  if (last.ands) last.ands->combine_invariant(last.round, blocks_);
  spare_ = std::move(evaluated_->round);
  evaluated_.reset();
}

Evaluation Runtime::reveal_outputs(MaterialReader& material) {
  checks::SettledCheck settled = checks::settle_transcripts(session_);
  auto values = outputs_.reveal(session_, material, std::move(settled));
  set_outputs(std::move(values), checks::settle_transcripts(session_));
  result_.shared = outputs_.take_shared();
  result_.store_s = material.waited_s();
  result_.opening_s = material.opening_s();
  return std::move(result_);
}

}  // namespace tinyot::online
