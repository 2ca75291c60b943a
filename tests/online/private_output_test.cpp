// Outputs for one party: lies about them, and the views of both parties.
#include <gtest/gtest.h>

#include "tests/online/cheat.h"
#include "tests/online/listed_circuit.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

// By receiver.
class PrivateOutput : public testing::TestWithParam<Party> {
 protected:
  Party receiver() const { return GetParam(); }
  Party other() const { return peer_of(receiver()); }
  Receiver to() const { return receiver() == Party::A ? Receiver::A : Receiver::B; }

  // An AND and an XOR of both parties' inputs.
  ListedCircuit circuit() const {
    ListedCircuit circuit;
    const auto x = circuit.input(Party::A, 2), y = circuit.input(Party::B, 2);
    circuit.output(to(), {circuit.and_of(x[0], y[0]), circuit.xor_of(x[1], y[1])});
    return circuit;
  }
};

INSTANTIATE_TEST_SUITE_P(To, PrivateOutput, testing::Values(Party::A, Party::B),
                         [](const auto& receiver) {
                           return std::string(1, letter(receiver.param));
                         });

constexpr std::size_t kPrivateLanes = 67;

Inputs drawn(const Circuit& circuit) {
  Rng rng(Seed{{12, 1}});
  return random_inputs(circuit, kPrivateLanes, rng);
}

TEST_P(PrivateOutput, ReceiverDetectsLieOfTheOtherParty) {
  const ListedCircuit circuit = this->circuit();
  const Inputs inputs = drawn(circuit);
  for (const AndMaterial form : {AndMaterial::AandAot, AndMaterial::Triples}) {
    for (const std::size_t bit :
         {std::size_t{0}, kPrivateLanes - 1, kPrivateLanes, 2 * kPrivateLanes - 1}) {
      const OnlineRun run =
          expect_caught({circuit, kPrivateLanes, inputs, form}, other(),
                        cheating(flip_bit("output.shares", 0, bit)), "MAC transcript");
      EXPECT_TRUE(run.of(other()).outputs.empty() || !run.of(other()).outputs[0]);
    }
  }
}

// The lie reveals nothing to the receiver: all messages of the other party are the same as without
// it, except the digest that ends the run, which hashes values that only the other party has. The
// other party ends with PeerCheated.
TEST_P(PrivateOutput, WithTriplesALieOfTheReceiverRevealsNothingAndIsDetected) {
  const ListedCircuit circuit = this->circuit();
  const Inputs inputs = drawn(circuit);
  const OnlineJob job{circuit, kPrivateLanes, inputs, AndMaterial::Triples};
  const Messages honest = messages_of(job, other());
  for (const std::size_t bit :
       {std::size_t{0}, kPrivateLanes - 1, kPrivateLanes, 2 * kPrivateLanes - 1}) {
    Messages seen;
    PartyOptions options;
    (receiver() == Party::A ? options.wrap_a : options.wrap_b) =
        cheating(flip_bit("output.shares", 0, bit));
    (receiver() == Party::A ? options.wrap_b : options.wrap_a) = recording(seen);
    const OnlineRun run = run_online(job, options, false);
    EXPECT_EQ(run.outcome(other()).kind, Outcome::Kind::PeerCheated)
        << run.outcome(other()).message;
    EXPECT_EQ(run.outcome(other()).check, "MAC transcript");
    EXPECT_TRUE(run.of(other()).outputs.empty());
    ASSERT_EQ(seen.size(), honest.size());
    for (std::size_t i = 0; i + 1 < seen.size(); ++i)
      EXPECT_EQ(seen[i].payload, honest[i].payload) << seen[i].tag;
    EXPECT_EQ(seen.back().tag, "mac_transcript.digest");
    EXPECT_NE(seen.back().payload, honest.back().payload);
  }
}

TEST_P(PrivateOutput, WithPairsTheReceiverRevealsNothing) {
  const ListedCircuit circuit = this->circuit();
  const Inputs inputs = drawn(circuit);
  const OnlineJob job{circuit, kPrivateLanes, inputs, AndMaterial::AandAot};
  for (const Message& message : messages_of(job, receiver()))
    EXPECT_NE(message.tag, "output.shares");
  EXPECT_EQ(payload_of(messages_of(job, other()), "output.shares").size(),
            bytes_for(2 * kPrivateLanes));
}

// The messages of both parties open the output under the receiver's mask: for a constant output,
// these are fair coins that differ in each session.
TEST_P(PrivateOutput, WithTriplesOpenedBitsAreMasked) {
  constexpr std::size_t kMany = 20'000;
  ListedCircuit circuit;
  const auto x = circuit.input(receiver(), 1);
  circuit.output(to(), {circuit.constant(true), circuit.xor_of(x[0], x[0]), x[0]});
  const Inputs inputs = {LaneValues(kMany, BitVector(1))};
  const OnlineJob job{circuit, kMany, inputs, AndMaterial::Triples};
  std::vector<std::byte> opened[2];
  for (const std::uint64_t seed : {1, 2}) {
    opened[seed - 1] = payload_of(messages_of(job, Party::A, seed), "output.shares");
    const auto of_b = payload_of(messages_of(job, Party::B, seed), "output.shares");
    ASSERT_EQ(opened[seed - 1].size(), bytes_for(3 * kMany));
    ASSERT_EQ(of_b.size(), bytes_for(3 * kMany));
    for (std::size_t i = 0; i < of_b.size(); ++i) opened[seed - 1][i] ^= of_b[i];
  }
  for (std::size_t bundle_bit = 0; bundle_bit < 3; ++bundle_bit) {
    int ones = 0, different = 0;
    for (std::size_t lane = 0; lane < kMany; ++lane) {
      const std::size_t bit = bundle_bit * kMany + lane;
      const auto at = [&](int session) {
        return std::to_integer<int>(opened[session][bit / 8] >> (bit % 8)) & 1;
      };
      ones += at(0);
      different += at(0) != at(1);
    }
    EXPECT_NEAR(ones, kMany / 2.0, 450) << bundle_bit;  // six standard deviations
    EXPECT_NEAR(different, kMany / 2.0, 450) << bundle_bit;
  }
}

}  // namespace
}  // namespace tinyot
