// Messages of the online phase that are truncated, extended, swapped, repeated or replayed.
#include <gtest/gtest.h>

#include "tests/online/cheat.h"
#include "tests/online/listed_circuit.h"
#include "tests/online/tampering_channel.h"
#include "tests/support/layers.h"
#include "tests/support/test_name.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

class OnlineMessages : public testing::TestWithParam<AndMaterial> {
 protected:
  OnlineJob job() const { return {circuit_, kLanes, inputs_, GetParam()}; }

  static constexpr std::size_t kLanes = 5;

 private:
  static Inputs drawn(const Circuit& circuit) {
    Rng rng(Seed{{6, 1}});
    return random_inputs(circuit, kLanes, rng);
  }
  const ListedCircuit circuit_ = mixed_layers();
  const Inputs inputs_ = drawn(circuit_);
};

INSTANTIATE_TEST_SUITE_P(FromEachForm, OnlineMessages,
                         testing::Values(AndMaterial::AandAot, AndMaterial::Triples),
                         [](const auto& form) { return test_name(form.param); });

TEST_P(OnlineMessages, RejectsMessagesOfAnotherLength) {
  using Bytes = std::vector<std::byte>;
  const std::function<void(Bytes&)> changes[] = {
      [](Bytes& payload) { payload.pop_back(); },
      [](Bytes& payload) { payload.push_back(std::byte{0}); },
      [](Bytes& payload) { payload.clear(); },
      [](Bytes& payload) { payload.resize(2 * payload.size()); },
      [](Bytes& payload) { payload.resize(1'000'000); }};
  for (const Party cheater : {Party::A, Party::B})
    for (const auto& [tag, occurrence] : some_of_each(messages_of(job(), cheater)))
      for (const auto& change : changes)
        expect_change_caught(job(), cheater, tag, occurrence, change, "framing");
}

// Swaps two messages sent without a wait between them: a message of another kind arrives in place
// of the swapped one. No message follows the digest that ends the outputs.
TEST_P(OnlineMessages, RejectsSwappedMessages) {
  std::size_t swapped = 0;
  for (const Party cheater : {Party::A, Party::B}) {
    for (const Message& message : messages_of(job(), cheater)) {
      if (!message.tag.starts_with("input.") && !message.tag.starts_with("and.") &&
          !message.tag.starts_with("output."))
        continue;
      bool done = false;
      PartyOptions options;
      (cheater == Party::A ? options.wrap_a : options.wrap_b) =
          swapping(message.tag, message.occurrence, done);
      const OnlineRun run = run_online(job(), options, false);
      const Outcome& honest = run.outcome(peer_of(cheater));
      if (!done) {
        EXPECT_EQ(honest.kind, Outcome::Kind::Done) << honest.message;
        continue;
      }
      ++swapped;
      EXPECT_EQ(honest.kind, Outcome::Kind::PeerCheated) << message.tag << ": " << honest.message;
      EXPECT_TRUE(honest.check.starts_with("framing")) << honest.check;
      EXPECT_TRUE(run.of(peer_of(cheater)).outputs.empty());
    }
  }
  EXPECT_GE(swapped, 1u);  // the inputs with the next message
}

TEST_P(OnlineMessages, RejectsRepeatedMessages) {
  for (const Party cheater : {Party::A, Party::B}) {
    for (const auto& [tag, occurrence] : some_of_each(messages_of(job(), cheater))) {
      SCOPED_TRACE(tag + " number " + std::to_string(occurrence));
      // the last message: the repetition is not read
      if (tag == "mac_transcript.digest" && occurrence == 1) continue;
      // If a message of the same kind and length follows, the repetition is read in its place.
      const bool taken_for_next = tag == "and.de" && occurrence + 1 < 3;
      expect_caught(job(), cheater, repeating(tag, occurrence), taken_for_next ? "" : "framing");
    }
  }
}

// Replaces each message by an earlier one of its kind, by the same one of another session, and by
// the peer's.
TEST_P(OnlineMessages, DetectsReplayedMessages) {
  for (const Party cheater : {Party::A, Party::B}) {
    const Messages mine = messages_of(job(), cheater), others = messages_of(job(), cheater, 2),
                   peers = messages_of(job(), peer_of(cheater));
    for (const auto& [name, occurrence] : some_of_each(mine)) {
      const std::string& tag = name;
      const auto find = [&](const Messages& messages, std::size_t number) {
        for (const Message& message : messages)
          if (message.tag == tag && message.occurrence == number) return message.payload;
        return std::vector<std::byte>();
      };
      const auto own = find(mine, occurrence);
      std::vector<std::vector<std::byte>> replayed = {find(others, occurrence),
                                                      find(peers, occurrence)};
      if (occurrence > 0) replayed.push_back(find(mine, occurrence - 1));
      for (const auto& payload : replayed) {
        if (payload.size() != own.size()) continue;  // covered by RejectsMessagesOfAnotherLength
        ASSERT_NE(payload, own);
        expect_change_caught(
            job(), cheater, tag, occurrence, [&](std::vector<std::byte>& sent) { sent = payload; },
            "MAC transcript");
      }
    }
  }
}

TEST_P(OnlineMessages, DetectsReflectedDigestsAndOutputs) {
  for (const Party cheater : {Party::A, Party::B}) {
    // It reads before it answers: its only input is the honest party's message.
    expect_caught(job(), cheater, reflecting("mac_transcript.digest"), "MAC transcript");
    if (GetParam() == AndMaterial::Triples)
      expect_caught(job(), cheater, reflecting("output.shares"), "MAC transcript");
    expect_caught(job(), cheater,
                  reflecting(GetParam() == AndMaterial::Triples ? "and.de" : "and.e"),
                  "MAC transcript");
  }
}

}  // namespace
}  // namespace tinyot
