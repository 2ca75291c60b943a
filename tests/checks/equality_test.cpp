// EQ: equal strings pass, others end the session, and no opening can be taken from elsewhere.
#include "checks/equality.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/checks/transit_channel.h"
#include "tests/support/cheating_channel.h"

namespace tinyot {
namespace {

using namespace tinyot::test;
using Kind = Outcome::Kind;

Digest digest_of(std::uint64_t number) { return RandomOracle({}, {"test digest", '*', number}).digest(); }

// Compares `n` digests named "item 0", ...; that of `other` at index `differs` is another one.
void compare(Session& session, std::size_t n, std::optional<Party> other = {}, std::size_t differs = 0) {
  EqualityCheck check;
  for (std::size_t i = 0; i < n; ++i)
    check.add("item " + std::to_string(i), digest_of(other == session.me() && i == differs ? 1000 + i : i));
  check.run(session);
}

ChannelWrapper cheating(Deviation deviation) {
  return [deviation = std::move(deviation)](std::unique_ptr<Channel> inner) { return make_cheating_channel(std::move(inner), deviation); };
}

void expect_cheated(const Outcome& outcome, const std::string& check) {
  EXPECT_EQ(outcome.kind, Kind::PeerCheated) << outcome.message;
  EXPECT_EQ(outcome.check, check);
}

TEST(Equality, EqualDigestsPass) {
  for (std::size_t n = 1; n <= 4; ++n) run_sessions([&](Session& session) { compare(session, n); });
}

TEST(Equality, CostsWhatTheHeaderSays) {
  for (const std::size_t n : {1u, 4u}) {
    run_sessions([&](Session& session) {
      const ChannelCounters before = session.channel().counters();
      compare(session, n);
      const ChannelCounters& after = session.channel().counters();
      const bool a = session.me() == Party::A;
      EXPECT_EQ(after.messages_sent - before.messages_sent, a ? 2u : 1u);
      EXPECT_EQ(after.bytes_sent - before.bytes_sent, a ? 16 + 32 + 16 + 32 * n + 32 : 16 + 32 * n);
    });
  }
}

TEST(Equality, AnyDifferenceIsFoundByAAndEndsB) {
  for (std::size_t n = 1; n <= 4; ++n) {
    for (std::size_t differs = 0; differs < n; ++differs) {
      for (const Party other : {Party::A, Party::B}) {
        const Outcomes outcomes = run_sessions([&](Session& session) { compare(session, n, other, differs); }, {}, false);
        expect_cheated(outcomes.a, "EQ of item " + std::to_string(differs));
        EXPECT_EQ(outcomes.b.kind, Kind::PeerAborted);
      }
    }
  }
}

TEST(Equality, ADoesNotOpenWhenTheDigestsDiffer) {
  std::multiset<std::string> sent;
  PartyOptions options;
  options.wrap_a = cheating([&](std::string_view tag, std::size_t, std::vector<std::byte>&) { sent.emplace(tag); });
  run_sessions([](Session& session) { compare(session, 2, Party::B); }, options, false);
  EXPECT_EQ(sent.count("eq.commitment"), 1u);
  EXPECT_EQ(sent.count("eq.opening"), 0u);
}

// A that goes on although the digests differ (it sees its own instead of B's) is found by B.
TEST(Equality, BFindsADifferenceThatAOpens) {
  PartyOptions options;
  options.wrap_a = in_transit([](const Arrival& arrival) {
    if (arrival.tag != "eq.answer") return;
    const Digest own = digest_of(1000);
    std::memcpy(arrival.received.data(), own.bytes.data(), 32);
  });
  const Outcomes outcomes = run_sessions([](Session& session) { compare(session, 3, Party::A, 0); }, options, false);
  expect_cheated(outcomes.b, "EQ of item 0");
}

TEST(Equality, AnAlteredAnswerIsFoundByA) {
  for (const std::size_t bit : {0u, 255u, 256u, 511u}) {
    const Outcomes outcomes = run_sessions([](Session& session) { compare(session, 2); }, {.wrap_b = cheating(flip_bit("eq.answer", 0, bit))}, false);
    expect_cheated(outcomes.a, bit < 256 ? "EQ of item 0" : "EQ of item 1");
  }
}

TEST(Equality, AnOpeningOfAnotherStringThanCommittedIsFound) {
  for (const std::size_t bit : {0u, 255u, 256u, 511u, 512u, 767u}) {
    const Outcomes outcomes =
        run_sessions([](Session& session) { compare(session, 2); }, {.wrap_a = cheating(flip_bit("eq.opening", 0, bit))}, false);
    expect_cheated(outcomes.b, "EQ commitment");
  }
  const Outcomes outcomes =
      run_sessions([](Session& session) { compare(session, 2); }, {.wrap_a = cheating(flip_bit("eq.commitment", 0, 17))}, false);
  expect_cheated(outcomes.b, "EQ commitment");
}

// A rushing A: it commits to anything, sees B's digests, and opens to just these.
TEST(Equality, AnOpeningMadeUpAfterTheAnswerIsFound) {
  PartyOptions options;
  options.wrap_a = in_transit([](const Arrival& arrival) {
    if (arrival.tag == "eq.answer") std::memcpy(arrival.received.data(), digest_of(1000).bytes.data(), 32);
  });
  const auto inner = options.wrap_a;
  options.wrap_a = [inner](std::unique_ptr<Channel> channel) {
    return inner(make_cheating_channel(std::move(channel), [](std::string_view tag, std::size_t, std::vector<std::byte>& payload) {
      if (tag == "eq.opening") std::memcpy(payload.data(), digest_of(0).bytes.data(), 32);
    }));
  };
  const Outcomes outcomes = run_sessions([](Session& session) { compare(session, 1, Party::A); }, options, false);
  expect_cheated(outcomes.b, "EQ commitment");
}

// Records commitment and opening, or puts recorded ones in their place.
struct Replay {
  std::map<std::string, std::vector<std::byte>> recorded;

  Deviation record(std::size_t wanted = 0) {
    return [this, wanted](std::string_view tag, std::size_t occurrence, std::vector<std::byte>& payload) {
      if (tag.starts_with("eq.") && occurrence == wanted) recorded[std::string(tag)] = payload;
    };
  }
  Deviation play(std::size_t wanted = 0) {
    return [this, wanted](std::string_view tag, std::size_t occurrence, std::vector<std::byte>& payload) {
      if (tag.starts_with("eq.") && occurrence == wanted) payload = recorded.at(std::string(tag));
    };
  }
};

TEST(Equality, NothingIsReplayedFromAnotherSession) {
  Replay replay;
  run_sessions([](Session& session) { compare(session, 1); }, {.seed = 1, .wrap_a = cheating(replay.record())});
  ASSERT_EQ(replay.recorded.size(), 2u);
  const Outcomes outcomes = run_sessions([](Session& session) { compare(session, 1); }, {.seed = 2, .wrap_a = cheating(replay.play())}, false);
  expect_cheated(outcomes.b, "EQ commitment");
}

TEST(Equality, NothingIsReplayedFromAnEarlierCounter) {
  Replay replay;
  const auto deviation = [&](std::string_view tag, std::size_t occurrence, std::vector<std::byte>& payload) {
    replay.record(0)(tag, occurrence, payload);
    replay.play(1)(tag, occurrence, payload);
  };
  const Outcomes outcomes = run_sessions([](Session& session) { compare(session, 1), compare(session, 1); }, {.wrap_a = cheating(deviation)}, false);
  expect_cheated(outcomes.b, "EQ commitment");
}

TEST(Equality, TheSameDigestIsCommittedToDifferentlyEachTime) {
  std::set<std::string> commitments;
  PartyOptions options;
  options.wrap_a = cheating([&](std::string_view tag, std::size_t, std::vector<std::byte>& payload) {
    if (tag == "eq.commitment") commitments.emplace(reinterpret_cast<const char*>(payload.data()), payload.size());
  });
  run_sessions([](Session& session) { compare(session, 1), compare(session, 1), compare(session, 1); }, options);
  EXPECT_EQ(commitments.size(), 3u);
}

}  // namespace
}  // namespace tinyot
