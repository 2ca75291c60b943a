// One party flips bits of its messages in the online phase; the honest party ends with PeerCheated
// and without output.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/online/cheat.h"
#include "tests/online/listed_circuit.h"
#include "tests/online/random_circuit.h"
#include "tests/online/tampering_channel.h"
#include "tests/support/layers.h"
#include "tests/support/test_name.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

class OnlineCheating : public testing::TestWithParam<AndMaterial> {};

INSTANTIATE_TEST_SUITE_P(FromEachForm, OnlineCheating,
                         testing::Values(AndMaterial::AandAot, AndMaterial::Triples),
                         [](const auto& form) { return test_name(form.param); });

void expect_flip_caught(const OnlineJob& job, Party cheater, const std::string& tag,
                        std::size_t occurrence, std::size_t bit) {
  SCOPED_TRACE("bit " + std::to_string(bit));
  const bool padding = bit >= bits_of_message(job, cheater, tag, occurrence);
  expect_change_caught(
      job, cheater, tag, occurrence, [=](std::vector<std::byte>& payload) { flip(payload, bit); },
      padding ? "framing" : "MAC transcript");
}

// All lanes fit in a part of a tile, so the padding bits are flipped, too.
TEST_P(OnlineCheating, DetectsEveryFlippedBitOfFirstMiddleAndLastMessages) {
  const ListedCircuit circuit = mixed_layers();
  Rng rng(Seed{{4, 4}});
  const Inputs inputs = random_inputs(circuit, 3, rng);
  const OnlineJob job{circuit, 3, inputs, GetParam()};
  for (const Party cheater : {Party::A, Party::B}) {
    const Messages messages = messages_of(job, cheater);
    const auto chosen = some_of_each(messages);
    // 3 of each layer's kinds, 2 digests, an input and an output
    ASSERT_EQ(chosen.size(), GetParam() == AndMaterial::AandAot ? 10u : 7u);
    for (const auto& [tag, occurrence] : chosen) {
      std::size_t bits = 0;
      for (const Message& message : messages)
        if (message.tag == tag && message.occurrence == occurrence)
          bits = 8 * message.payload.size();
      ASSERT_GE(bits, bits_of_message(job, cheater, tag, occurrence));
      for (std::size_t bit = 0; bit < bits; bit += tag == "mac_transcript.digest" ? 5 : 1)
        expect_flip_caught(job, cheater, tag, occurrence, bit);
    }
    if (HasFailure()) return;
  }
}

// In a layer on a full and a partial tile: the ends of each segment, and the invariant ANDs after
// them.
TEST_P(OnlineCheating, DetectsFlipsAtBordersOfTilesAndInvariantAnds) {
  constexpr std::size_t kLanes = 70, kGates = 3, kInvariant = 2,
                        kEntries = kGates * kLanes + kInvariant;
  const ListedCircuit circuit = mixed_layers();
  Rng rng(Seed{{4, 5}});
  const Inputs inputs = random_inputs(circuit, kLanes, rng);
  const OnlineJob job{circuit, kLanes, inputs, GetParam()};
  const bool pairs = GetParam() == AndMaterial::AandAot;
  for (const Party cheater : {Party::A, Party::B}) {
    for (const char* tag : {pairs ? "and.fgdh" : "and.de", pairs ? "and.e" : "and.de"}) {
      const std::size_t bits = bits_of_message(job, cheater, tag, 1);
      ASSERT_EQ(bits % kEntries, 0u);
      for (std::size_t segment = 0; segment < bits / kEntries; ++segment)
        for (const std::size_t entry : {std::size_t{0}, kGates * 64 - 1, kGates * 64,
                                        kGates * kLanes - 1, kGates * kLanes, kEntries - 1})
          expect_flip_caught(job, cheater, tag, 1, segment * kEntries + entry);
    }
    for (const char* tag : {"input.masked", "output.shares"}) {
      const std::size_t bits = bits_of_message(job, cheater, tag, 0);
      for (const std::size_t bit :
           {std::size_t{0}, std::size_t{63}, std::size_t{64}, kLanes - 1, kLanes, bits - 1})
        expect_flip_caught(job, cheater, tag, 0, bit);
    }
  }
}

// A small window splits a layer into several rounds, so that inputs are read late.
TEST_P(OnlineCheating, DetectsFlipsInAnyRoundOfASplitCircuit) {
  const RandomCircuit circuit(11, 120);
  Rng rng(Seed{{11, 5}});
  const Inputs inputs = random_inputs(circuit, 5, rng);
  const OnlineJob job{circuit, 5, inputs, GetParam(), 6};
  for (const Party cheater : {Party::A, Party::B}) {
    std::size_t layers = 0;
    for (const Message& message : messages_of(job, cheater)) {
      if (!message.tag.starts_with("and.")) continue;
      ++layers;
      const std::size_t last = bits_of_message(job, cheater, message.tag, message.occurrence) - 1;
      expect_flip_caught(job, cheater, message.tag, message.occurrence, last);
    }
    EXPECT_GE(layers, 20u);
  }
}

// z1 = z2 = xy: an equal change of both does not change their sum. With pairs, the peer's bits do
// not depend on f and g, a wrong d adds the honest party's x to both products, and a wrong e
// negates both. With triples, a wrong d that both parties use adds y to both, and a wrong e adds x.
TEST_P(OnlineCheating, DetectsTwoFlipsWhoseEffectsCancelInTheOutput) {
  constexpr std::size_t kLanes = 5, kEntries = 2 * kLanes, kLane = 2;
  ListedCircuit circuit;
  const auto x = circuit.input(Party::A, 1), y = circuit.input(Party::B, 1);
  circuit.output(Receiver::Both,
                 {circuit.xor_of(circuit.and_of(x[0], y[0]), circuit.and_of(x[0], y[0]))});
  Rng rng(Seed{{4, 6}});
  const Inputs inputs = random_inputs(circuit, kLanes, rng);
  const OnlineJob job{circuit, kLanes, inputs, GetParam()};
  for (const Party cheater : {Party::A, Party::B}) {
    if (GetParam() == AndMaterial::Triples) {
      for (const std::size_t segment : {0, 1})
        expect_caught(job, cheater,
                      flipping_both_ways("and.de", {segment * kEntries + kLane,
                                                    (segment * 2 + 1) * kLanes + kLane}),
                      "MAC transcript");
      continue;
    }
    for (const auto& [tag, segment] : {std::pair("and.fgdh", 0), std::pair("and.fgdh", 1),
                                       std::pair("and.fgdh", 2), std::pair("and.e", 0)}) {
      const std::size_t first = static_cast<std::size_t>(segment) * kEntries + kLane;
      const auto change = [&](std::vector<std::byte>& payload) {
        for (const std::size_t gate : {0, 1}) flip(payload, first + gate * kLanes);
      };
      expect_change_caught(job, cheater, tag, 0, change, "MAC transcript");
    }
  }
}

// The cheater corrects the output for the effect of its lie in an AND.
TEST_P(OnlineCheating, DetectsLieThatIsUndoneInTheOutput) {
  ListedCircuit circuit;
  const auto x = circuit.input(Party::B, 1), y = circuit.input(Party::A, 1);
  circuit.output(Receiver::Both, {circuit.and_of(x[0], y[0])});
  BitVector one(1);
  one.put(0, true);
  const Inputs inputs = {{BitVector(1)}, {one}};
  const OnlineJob job{circuit, 1, inputs, GetParam()};
  const ChannelWrapper correct =
      cheating([](std::string_view tag, std::size_t, std::vector<std::byte>& payload) {
        if (tag == "output.shares") flip(payload, 0);
      });
  // With pairs the peer's share is negated; with triples z = xy ^ y, where y is the cheater's 1.
  const ChannelWrapper lie = GetParam() == AndMaterial::AandAot ? cheating(flip_bit("and.e", 0, 0))
                                                                : flipping_both_ways("and.de", {0});
  expect_caught(
      job, Party::A, [&](std::unique_ptr<Channel> inner) { return correct(lie(std::move(inner))); },
      "MAC transcript");
}

// The shares of the outputs are sent after the check of everything before them.
TEST_P(OnlineCheating, HonestPartyRevealsNoOutputAfterALie) {
  const ListedCircuit circuit = mixed_layers();
  Rng rng(Seed{{4, 7}});
  const Inputs inputs = random_inputs(circuit, 3, rng);
  const OnlineJob job{circuit, 3, inputs, GetParam()};
  for (const Party cheater : {Party::A, Party::B}) {
    for (const auto& [tag, occurrence] : some_of_each(messages_of(job, cheater))) {
      if (tag == "output.shares" || (tag == "mac_transcript.digest" && occurrence == 1)) continue;
      SCOPED_TRACE(tag + " number " + std::to_string(occurrence));
      Messages seen;
      PartyOptions options;
      (cheater == Party::A ? options.wrap_a : options.wrap_b) =
          cheating(flip_bit(tag, occurrence, 1));
      (cheater == Party::A ? options.wrap_b : options.wrap_a) = recording(seen);
      const OnlineRun run = run_online(job, options, false);
      EXPECT_EQ(run.outcome(peer_of(cheater)).kind, Outcome::Kind::PeerCheated)
          << run.outcome(peer_of(cheater)).message;
      ASSERT_FALSE(seen.empty());
      EXPECT_EQ(seen.back().tag, "mac_transcript.digest");
      EXPECT_TRUE(std::ranges::none_of(
          seen, [](const Message& message) { return message.tag == "output.shares"; }));
    }
  }
}

// A masked input is announced without a MAC: a different announcement amounts to a different input,
// and is detected if the party continues with the old one.
TEST_P(OnlineCheating, DetectsInputThatDiffersFromItsAnnouncement) {
  ListedCircuit circuit;  // no AND: detected at the output
  const auto x = circuit.input(Party::A, 2), y = circuit.input(Party::B, 2),
             s = circuit.input(Party::A, 1, true);
  circuit.output(Receiver::Both,
                 {circuit.xor_of(x[0], y[0]), circuit.not_of(x[1]), circuit.xor_of(s[0], y[1])});
  Rng rng(Seed{{4, 8}});
  const Inputs inputs = random_inputs(circuit, 66, rng);
  const OnlineJob job{circuit, 66, inputs, GetParam()};
  for (const Party cheater : {Party::A, Party::B})
    for (const std::size_t bit : {std::size_t{0}, std::size_t{65}, std::size_t{66},
                                  bits_of_message(job, cheater, "input.masked", 0) - 1})
      expect_flip_caught(job, cheater, "input.masked", 0, bit);
}

}  // namespace
}  // namespace tinyot
