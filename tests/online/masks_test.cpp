// The masks of inputs and outputs: each authenticated bit that a run draws masks one value and
// equals the dealt bit.

#include "tests/online/listed_circuit.h"
#include "tests/online/online_run.h"
#include "tests/support/cheating_channel.h"
#include "tests/support/layers.h"
#include "tests/support/test_name.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr std::size_t kMaskLanes = 72;

// Inputs of each party, some the same in all lanes, and outputs to each party and to both. Eight
// bits per bundle: no message of masked inputs ends within a byte.
ListedCircuit inputs_and_outputs() {
  ListedCircuit circuit;
  const auto a = circuit.input(Party::A, 8), b = circuit.input(Party::B, 8);
  const auto common_a = circuit.input(Party::A, 8, true);
  const auto common_b = circuit.input(Party::B, 8, true);
  const auto more_a = circuit.input(Party::A, 8), more_b = circuit.input(Party::B, 8);
  circuit.output(Receiver::A, {circuit.and_of(a[0], b[0]), circuit.xor_of(a[1], b[1]), more_b[0]});
  circuit.output(Receiver::B,
                 {circuit.and_of(a[2], common_b[0]), circuit.and_of(b[2], common_a[0])});
  circuit.output(Receiver::Both, {circuit.xor_of(more_a[1], more_b[1])});
  circuit.output(Receiver::A, {circuit.and_of(a[3], more_b[2]), circuit.and_of(a[4], common_b[7])});
  return circuit;
}

struct MaskedRun {
  ListedCircuit circuit = inputs_and_outputs();
  Inputs inputs;
  Messages sent[2];
  OnlineRun run;
};

// With a window of `window` gates, so that inputs are sent in several messages.
MaskedRun run_masked(AndMaterial form, std::size_t window) {
  MaskedRun masked;
  Rng rng(Seed{{5, 5}});
  masked.inputs = random_inputs(masked.circuit, kMaskLanes, rng);
  masked.run =
      run_online({masked.circuit, kMaskLanes, masked.inputs, form, window},
                 {.wrap_a = recording(masked.sent[0]), .wrap_b = recording(masked.sent[1])});
  return masked;
}

// The bits of all messages of a tag.
std::vector<bool> sent_bits(const Messages& sent, std::string_view tag) {
  std::vector<bool> bits;
  for (const Message& message : sent) {
    if (message.tag != tag) continue;
    for (const std::byte byte : message.payload)
      for (int bit = 0; bit < 8; ++bit)
        bits.push_back(((byte >> bit) & std::byte{1}) != std::byte{0});
  }
  return bits;
}

// The dealt bits of a party.
std::vector<bool> dealt_bits(Party party, std::uint64_t seed, std::size_t count) {
  IdealDealer dealer(party, seed, global_key_of(Party::A, seed), global_key_of(Party::B, seed));
  const material::Batch batch = dealer.draw(material::auth_bits_of(party), count);
  std::vector<bool> bits;
  for (std::size_t i = 0; i < count; ++i) bits.push_back(batch.mine[0].bits[i]);
  return bits;
}

// A party's inputs in the order of the circuit: bundle, bit, lane.
std::vector<bool> inputs_of(const MaskedRun& masked, Party party) {
  std::vector<bool> bits;
  for (std::size_t bundle = 0; bundle < masked.inputs.size(); ++bundle) {
    const InputBundle& info = masked.circuit.info().inputs[bundle];
    if (!gives(info.source, party)) continue;
    for (std::size_t bit = 0; bit < info.bits; ++bit)
      for (const BitVector& lane : masked.inputs[bundle]) bits.push_back(lane[bit]);
  }
  return bits;
}

// The masks of the outputs that only `party` learns, from the opened values: bundle, bit, lane.
std::vector<bool> output_masks(const MaskedRun& masked, Party party) {
  const auto of_a = sent_bits(masked.sent[0], "output.shares"),
             of_b = sent_bits(masked.sent[1], "output.shares");
  const std::vector<LaneValues> values = evaluate(masked.circuit, kMaskLanes, masked.inputs);
  std::vector<bool> masks;
  std::size_t at = 0;
  for (std::size_t bundle = 0; bundle < values.size(); ++bundle) {
    const OutputBundle& info = masked.circuit.info().outputs[bundle];
    const bool is_hidden = info.to == (party == Party::A ? Receiver::A : Receiver::B);
    for (std::size_t bit = 0; bit < info.bits; ++bit)
      for (std::size_t lane = 0; lane < kMaskLanes; ++lane, ++at)
        if (is_hidden) masks.push_back(of_a.at(at) ^ of_b.at(at) ^ values[bundle][lane][bit]);
  }
  return masks;
}

// With pairs, ANDs take authenticated bits as well, so all inputs come first.
std::vector<std::size_t> windows_of(AndMaterial form) {
  if (form == AndMaterial::AandAot) return {0};
  return {0, 8};
}

class MasksOf : public testing::TestWithParam<AndMaterial> {};

TEST_P(MasksOf, EachDrawnBitMasksOneInputOrOneOutput) {
  for (const std::size_t window : windows_of(GetParam())) {
    const MaskedRun masked = run_masked(GetParam(), window);
    for (const Party party : {Party::A, Party::B}) {
      SCOPED_TRACE(letter(party));
      const std::vector<bool> inputs = inputs_of(masked, party);
      std::vector<bool> masks;
      const auto sent = sent_bits(masked.sent[static_cast<int>(party)], "input.masked");
      for (std::size_t i = 0; i < inputs.size(); ++i) masks.push_back(sent.at(i) ^ inputs[i]);
      if (GetParam() == AndMaterial::Triples) {
        const std::vector<bool> of_outputs = output_masks(masked, party);
        EXPECT_FALSE(of_outputs.empty());
        masks.insert(masks.end(), of_outputs.begin(), of_outputs.end());
      }
      EXPECT_EQ(masks, dealt_bits(party, 1, masks.size()));
      const MaterialCounts& dealt = party == Party::A ? masked.run.dealt_a : masked.run.dealt_b;
      const std::uint64_t ands = dealt[MaterialKind::AuthAndsA];  // one bit each, with pairs
      EXPECT_EQ(dealt[material::auth_bits_of(party)], masks.size() + ands);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EachForm, MasksOf,
                         testing::Values(AndMaterial::AandAot, AndMaterial::Triples),
                         [](const auto& tested) { return test_name(tested.param); });

}  // namespace
}  // namespace tinyot
