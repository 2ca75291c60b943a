// What the messages of the online phase depend on: before the check, on no MAC, key or global key;
// and, for an observer without the masks, on no value.
#include <gtest/gtest.h>

#include "tests/online/cheat.h"
#include "tests/online/listed_circuit.h"
#include "tests/support/layers.h"
#include "tests/support/test_name.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

class Transcript : public testing::TestWithParam<AndMaterial> {};

INSTANTIATE_TEST_SUITE_P(FromEachForm, Transcript,
                         testing::Values(AndMaterial::AandAot, AndMaterial::Triples),
                         [](const auto& form) { return test_name(form.param); });

// The ideal dealer's bits, with unrelated blocks.
class OtherBlocks : public material::Source {
 public:
  explicit OtherBlocks(const Session& session)
      : dealer_(dealer_of(session, 1)), rng_(Seed{{1, 2}}) {}
  material::Batch draw(MaterialKind kind, std::size_t count) override {
    material::Batch batch = dealer_.draw(kind, count);
    for (auto& column : batch.mine) rng_.fill_blocks(std::span(column.macs));
    for (auto& column : batch.peers) rng_.fill_blocks(std::span(column.keys));
    for (auto& column : batch.shares) rng_.fill_blocks(std::span(column.macs));
    return batch;
  }

 private:
  IdealDealer dealer_;
  Rng rng_;
};

struct Recorded {
  Messages a, b;
  OnlineRun run;

  const Messages& of(Party party) const { return party == Party::A ? a : b; }
};

// Runs a job with a session and a source for each party; `key_seed` selects the global keys.
template <class MakeSource>
Recorded record(const OnlineJob& job, std::uint64_t key_seed, MakeSource make_source) {
  Recorded recorded;
  const PartyOptions options{
      .seed = 1, .wrap_a = recording(recorded.a), .wrap_b = recording(recorded.b)};
  recorded.run.outcomes = run_channels(
      [&](Party party, Channel& channel) {
        Rng rng(Seed{{1, static_cast<std::uint64_t>(party)}});
        const SessionIds ids = establish_session(channel, rng, party, {}, std::nullopt);
        PhaseLog log;
        Session session(party, ids, global_key_of(party, key_seed), channel, std::move(rng), log);
        auto source = make_source(session);
        (party == Party::A ? recorded.run.a : recorded.run.b) = run_party(session, source, job);
      },
      options);
  return recorded;
}

TEST_P(Transcript, NoMessageBeforeTheCheckDependsOnABlock) {
  const ListedCircuit circuit = mixed_layers();
  Rng rng(Seed{{14, 1}});
  const Inputs inputs = random_inputs(circuit, 70, rng);
  const OnlineJob job{circuit, 70, inputs, GetParam()};
  const Recorded honest =
      record(job, 1, [](const Session& session) { return dealer_of(session, 1); });
  const Recorded other =
      record(job, 1, [](const Session& session) { return OtherBlocks(session); });
  for (const Party party : {Party::A, Party::B}) {
    const Messages &before = honest.of(party), &after = other.of(party);
    EXPECT_EQ(honest.run.outcome(party).kind, Outcome::Kind::Done)
        << honest.run.outcome(party).message;
    EXPECT_NE(other.run.outcome(party).kind, Outcome::Kind::Done);  // the first check fails
    std::size_t at = 0;
    for (; at < after.size() && before[at].tag != "mac_transcript.digest"; ++at) {
      EXPECT_EQ(before[at].tag, after[at].tag);
      EXPECT_EQ(before[at].payload, after[at].payload) << before[at].tag;
    }
    ASSERT_LT(at, after.size());
    EXPECT_GT(at, 3u);
    EXPECT_NE(before[at].payload, after[at].payload);
    EXPECT_EQ(after.size(), at + 1) << "a message was sent after the first check";
  }
}

// The same session under other global keys with matching MACs: only the digests differ.
TEST_P(Transcript, OnlyDigestsDependOnTheGlobalKeys) {
  const ListedCircuit circuit = mixed_layers();
  Rng rng(Seed{{14, 2}});
  const Inputs inputs = random_inputs(circuit, 5, rng);
  const OnlineJob job{circuit, 5, inputs, GetParam()};
  const auto under_keys = [&](std::uint64_t key_seed) {
    return record(job, key_seed, [=](const Session& session) {
      return IdealDealer(session.me(), 1, global_key_of(Party::A, key_seed),
                         global_key_of(Party::B, key_seed));
    });
  };
  const Recorded first = under_keys(1), second = under_keys(2);
  std::size_t digests = 0;
  for (const Party party : {Party::A, Party::B}) {
    EXPECT_EQ(second.run.outcome(party).kind, Outcome::Kind::Done)
        << second.run.outcome(party).message;
    ASSERT_EQ(first.of(party).size(), second.of(party).size());
    for (std::size_t i = 0; i < first.of(party).size(); ++i) {
      const Message &one = first.of(party)[i], &other = second.of(party)[i];
      const bool digest = one.tag == "mac_transcript.digest";
      EXPECT_EQ(one.payload != other.payload, digest) << one.tag << " number " << one.occurrence;
      digests += digest;
    }
  }
  EXPECT_EQ(digests, 4u);
  expect_outputs(circuit, second.run, evaluate(circuit, 5, inputs));
}

bool bit_at(const std::vector<std::byte>& bytes, std::size_t bit) {
  return (bytes[bit / 8] >> (bit % 8) & std::byte{1}) != std::byte{0};
}

// Each segment of each message except outputs consists of fair coins, whatever the inputs are; so
// do the values that two messages open together.
TEST_P(Transcript, MaskedValuesAreBalanced) {
  constexpr std::size_t kLanes = 20'000;
  constexpr double kSixDeviations = 425;
  ListedCircuit circuit;
  const auto x = circuit.input(Party::A, 1), y = circuit.input(Party::B, 1);
  circuit.output(Receiver::Both, {circuit.and_of(x[0], y[0])});
  for (const bool value : {false, true}) {
    BitVector bit(1);
    bit.put(0, value);
    const Inputs inputs(2, LaneValues(kLanes, bit));
    const Recorded recorded = record({circuit, kLanes, inputs, GetParam()}, 1,
                                     [](const Session& session) { return dealer_of(session, 1); });
    std::map<std::string, std::vector<std::byte>> of_a;
    std::size_t segments = 0;
    for (const Party party : {Party::A, Party::B}) {
      for (const Message& message : recorded.of(party)) {
        if (message.tag != "input.masked" && !message.tag.starts_with("and.")) continue;
        if (party == Party::A) of_a[message.tag] = message.payload;
        for (std::size_t first = 0; first < 8 * message.payload.size();
             first += kLanes, ++segments) {
          std::size_t ones = 0, opened = 0;
          for (std::size_t i = first; i < first + kLanes; ++i) {
            ones += bit_at(message.payload, i);
            opened += bit_at(message.payload, i) != bit_at(of_a.at(message.tag), i);
          }
          SCOPED_TRACE(letter(party) + ("'s " + message.tag) + ", segment " +
                       std::to_string(first / kLanes) + ", inputs " + std::to_string(value));
          EXPECT_NEAR(static_cast<double>(ones), kLanes / 2.0, kSixDeviations);
          if (party == Party::A) continue;
          EXPECT_NEAR(static_cast<double>(opened), kLanes / 2.0, kSixDeviations) << "with A's";
        }
      }
    }
    EXPECT_EQ(segments, GetParam() == AndMaterial::AandAot ? 2u * (1 + 4 + 1) : 2u * (1 + 2));
  }
}

}  // namespace
}  // namespace tinyot
