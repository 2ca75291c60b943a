// Layers of more than one flight, with material of several batches.
#include <gtest/gtest.h>

#include "online/windowed_exchange.h"
#include "tests/online/cheat.h"
#include "tests/online/listed_circuit.h"
#include "tests/online/tampering_channel.h"
#include "tests/support/layers.h"
#include "tests/support/test_name.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

// Three ANDs per lane and two invariant ones: the border between flights is inside a tile. Every
// product is the operand of a second layer, of one AND.
class LargeLayer : public testing::TestWithParam<AndMaterial> {
 protected:
  static constexpr std::size_t kLanes = 22'000, kEntries = 3 * kLanes + 2,
                               kSecond = kEntries - WindowedExchange::kEntries;
  static_assert(kEntries > WindowedExchange::kEntries &&
                kEntries < 2 * WindowedExchange::kEntries &&
                WindowedExchange::kEntries % (3 * 64) != 0);

  LargeLayer() {
    const auto x = circuit_.input(Party::A, 3), y = circuit_.input(Party::B, 3);
    const auto s = circuit_.input(Party::A, 2, true), t = circuit_.input(Party::B, 2, true);
    const auto c0 = circuit_.and_of(s[0], t[0]), c1 = circuit_.and_of(s[1], t[1]);
    const auto z0 = circuit_.and_of(x[0], y[0]), z1 = circuit_.and_of(x[1], y[1]),
               z2 = circuit_.and_of(x[2], y[2]);
    circuit_.output(Receiver::A, {circuit_.and_of(circuit_.xor_of(z0, c0),
                                                  circuit_.xor_of(circuit_.xor_of(z1, z2), c1))});
    circuit_.output(Receiver::Both, {z0, z1, z2, c0, c1});
    Rng rng(Seed{{9, 1}});
    inputs_ = random_inputs(circuit_, kLanes, rng);
  }
  OnlineJob job() const { return {circuit_, kLanes, inputs_, GetParam()}; }

  ListedCircuit circuit_;
  Inputs inputs_;
};

INSTANTIATE_TEST_SUITE_P(FromEachForm, LargeLayer,
                         testing::Values(AndMaterial::AandAot, AndMaterial::Triples),
                         [](const auto& form) { return test_name(form.param); });

TEST_P(LargeLayer, IsSentInSeveralMessagesAndIsCorrect) {
  Messages sent;
  PartyOptions options;
  options.wrap_b = recording(sent);
  const OnlineRun run = run_online(job(), options);
  expect_outputs(circuit_, run, evaluate(circuit_, kLanes, inputs_));
  std::map<std::string, std::vector<std::size_t>> bytes;
  for (const Message& message : sent) bytes[message.tag].push_back(message.payload.size());
  using Sizes = std::vector<std::size_t>;
  const auto flights = [](std::size_t bits) {
    return Sizes{bytes_for(bits * WindowedExchange::kEntries), bytes_for(bits * kSecond),
                 bytes_for(bits * kLanes)};
  };
  if (GetParam() == AndMaterial::Triples) {
    EXPECT_EQ(bytes["and.de"], flights(2));
  } else {
    EXPECT_EQ(bytes["and.fgdh"], flights(4));
    EXPECT_EQ(bytes["and.e"], flights(1));
  }
}

TEST_P(LargeLayer, DetectsLiesAtTheBordersOfItsMessages) {
  using Attacked = std::vector<std::pair<const char*, std::size_t>>;  // message tags and their
                                                                      // numbers of segments
  for (const auto& [name, segments] : GetParam() == AndMaterial::AandAot
                                          ? Attacked{{"and.fgdh", 4}, {"and.e", 1}}
                                          : Attacked{{"and.de", 2}}) {
    const char* tag = name;
    const auto flip_caught = [&](Party cheater, std::size_t flight, std::size_t bit) {
      expect_change_caught(
          job(), cheater, tag, flight, [=](std::vector<std::byte>& payload) { flip(payload, bit); },
          "MAC transcript");
    };
    // the last entry of the first segment
    flip_caught(Party::A, 0, WindowedExchange::kEntries - 1);
    // the first one of the last segment
    flip_caught(Party::B, 0, (segments - 1) * WindowedExchange::kEntries);
    flip_caught(Party::A, 1, (segments - 1) * kSecond);
    flip_caught(Party::B, 1, segments * kSecond - 1);  // an invariant AND
  }
}

// Of different and of equal lengths.
TEST_P(LargeLayer, DetectsReorderedMessages) {
  for (const Party cheater : {Party::A, Party::B}) {
    bool done = false;
    const char* tag = GetParam() == AndMaterial::AandAot ? "and.fgdh" : "and.de";
    expect_caught(job(), cheater, swapping(tag, 0, done), "framing");
    EXPECT_TRUE(done);
  }
  ListedCircuit circuit;
  const auto x = circuit.input(Party::A, 2, true), y = circuit.input(Party::B, 1);
  circuit.output(Receiver::B, {circuit.and_of(x[0], y[0]), circuit.and_of(x[1], y[0])});
  Rng rng(Seed{{9, 2}});
  const Inputs inputs = random_inputs(circuit, WindowedExchange::kEntries, rng);
  const OnlineJob full{circuit, WindowedExchange::kEntries, inputs, GetParam()};
  for (const char* tag : {"and.fgdh", "and.e", "and.de"}) {
    if ((GetParam() == AndMaterial::Triples) != (std::string_view(tag) == "and.de")) continue;
    bool done = false;
    expect_caught(full, Party::A, swapping(tag, 0, done), "MAC transcript");
    EXPECT_TRUE(done);
  }
}

}  // namespace
}  // namespace tinyot
