// EQ: equal strings pass, others end the session, nothing can be replayed, and the messages that a
// cheater sees are consistent with every digest.
#include "checks/equality.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "crypto/group.h"
#include "tests/checks/transit_channel.h"
#include "tests/support/cheating_channel.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;
using Kind = Outcome::Kind;

Digest digest_of(std::uint64_t number) {
  return RandomOracle({}, {crypto::Phase::unregistered("test digest"), '*', number}).digest();
}

// Compares `n` digests named "item 0", ...; that of `other` at index `differs` is different.
void compare(Session& session, std::size_t n, std::optional<Party> other = {},
             std::size_t differs = 0) {
  EqualityCheck check("test");
  for (std::size_t i = 0; i < n; ++i)
    check.add("item " + std::to_string(i),
              digest_of(other == session.me() && i == differs ? 1000 + i : i));
  check.run(session);
}

void expect_cheated(const Outcome& outcome, const std::string& check = "EQ of test") {
  EXPECT_EQ(outcome.kind, Kind::PeerCheated) << outcome.message;
  EXPECT_EQ(outcome.check, check);
}

TEST(Equality, AcceptsEqualDigests) {
  for (std::size_t n = 1; n <= 4; ++n) run_sessions([&](Session& session) { compare(session, n); });
}

TEST(Equality, CostsAsDocumented) {
  for (const std::size_t n : {1u, 4u}) {
    run_sessions([&](Session& session) {
      const ChannelCounters before = session.channel().counters();
      compare(session, n);
      const ChannelCounters& after = session.channel().counters();
      const bool a = session.me() == Party::A;
      EXPECT_EQ(after.messages_sent - before.messages_sent, a ? 2u : 1u);
      EXPECT_EQ(after.bytes_sent - before.bytes_sent, a ? 2 * (16 + 32) : 16 + 64);
    });
  }
}

TEST(Equality, AFindsAnyDifferenceAndAborts) {
  for (std::size_t n = 1; n <= 4; ++n) {
    for (std::size_t differs = 0; differs < n; ++differs) {
      for (const Party other : {Party::A, Party::B}) {
        const Outcomes outcomes =
            run_sessions([&](Session& session) { compare(session, n, other, differs); }, {}, false);
        expect_cheated(outcomes.a);
        EXPECT_EQ(outcomes.b.kind, Kind::PeerAborted);
      }
    }
  }
}

TEST(Equality, ComparesEveryBitOfADigest) {
  for (std::size_t bit = 0; bit < 256; bit += 5) {
    const Outcomes outcomes = run_sessions(
        [&](Session& session) {
          Digest digest = digest_of(1);
          if (session.me() == Party::A)
            digest.bytes[bit / 8] ^= static_cast<std::uint8_t>(1 << (bit % 8));
          EqualityCheck check("test");
          check.add("item", digest);
          check.run(session);
        },
        {}, false);
    expect_cheated(outcomes.a);
  }
}

TEST(Equality, ComparesNames) {
  const auto run = [](std::vector<std::string> of_a, std::vector<std::string> of_b) {
    return run_sessions(
        [&](Session& session) {
          EqualityCheck check("test");
          for (const std::string& name : session.me() == Party::A ? of_a : of_b)
            check.add(name, digest_of(1));
          check.run(session);
        },
        {}, false);
  };
  expect_cheated(run({"x"}, {"y"}).a);
  expect_cheated(run({"x", "y"}, {"y", "x"}).a);
  expect_cheated(run({"x"}, {"x", "x"}).a);
}

TEST(Equality, ASendsNoConfirmationIfDigestsDiffer) {
  std::multiset<std::string> sent;
  PartyOptions options;
  options.wrap_a = cheating(
      [&](std::string_view tag, std::size_t, std::vector<std::byte>&) { sent.emplace(tag); });
  run_sessions([](Session& session) { compare(session, 2, Party::B); }, options, false);
  EXPECT_EQ(sent.count("eq.point"), 1u);
  EXPECT_EQ(sent.count("eq.confirmation"), 0u);
}

TEST(Equality, BRejectsWrongConfirmation) {
  for (const std::size_t bit : {0u, 100u, 255u}) {
    const Outcomes outcomes =
        run_sessions([](Session& session) { compare(session, 2); },
                     {.wrap_a = cheating(flip_bit("eq.confirmation", 0, bit))}, false);
    expect_cheated(outcomes.b);
  }
}

TEST(Equality, ARejectsWrongConfirmation) {
  for (const std::size_t bit : {256u, 300u, 511u}) {
    const Outcomes outcomes =
        run_sessions([](Session& session) { compare(session, 2); },
                     {.wrap_b = cheating(flip_bit("eq.answer", 0, bit))}, false);
    expect_cheated(outcomes.a);
  }
}

// B's confirmation, sent back by A, is not valid as A's.
TEST(Equality, RejectsReflectedConfirmation) {
  Digest of_b{};
  PartyOptions options;
  options.wrap_a = in_transit([&](const Arrival& arrival) {
    if (arrival.tag == "eq.answer")
      std::memcpy(of_b.bytes.data(), arrival.received.data() + 32, 32);
  });
  const auto inner = options.wrap_a;
  options.wrap_a = [&, inner](std::unique_ptr<Channel> channel) {
    const auto reflect = [&](std::string_view tag, std::size_t, std::vector<std::byte>& payload) {
      if (tag == "eq.confirmation") std::memcpy(payload.data(), of_b.bytes.data(), 32);
    };
    return inner(cheating(reflect)(std::move(channel)));
  };
  const Outcomes outcomes =
      run_sessions([](Session& session) { compare(session, 1); }, options, false);
  expect_cheated(outcomes.b);
}

// The identity would make the shared point a constant, independent of the digests.
TEST(Equality, RejectsInvalidPoints) {
  Point identity{}, ones{}, odd{}, second_name{};
  ones.bytes.fill(0xFF);
  odd.bytes[0] = 1;
  second_name.bytes.fill(0xFF);
  second_name.bytes[0] = 0xED, second_name.bytes[31] = 0x7F;
  for (const Point& point : {identity, ones, odd, second_name}) {
    const auto replace = [&](std::string_view tag, std::size_t, std::vector<std::byte>& payload) {
      if (tag == "eq.point" || tag == "eq.answer")
        std::memcpy(payload.data(), point.bytes.data(), 32);
    };
    expect_cheated(run_sessions([](Session& session) { compare(session, 1); },
                                {.wrap_a = cheating(replace)}, false)
                       .b,
                   "EQ point");
    expect_cheated(run_sessions([](Session& session) { compare(session, 1); },
                                {.wrap_b = cheating(replace)}, false)
                       .a,
                   "EQ point");
  }
}

// A's point is replaced by another valid one in transit; the confirmations cover the points that
// were sent.
TEST(Equality, ConfirmationCoversBothPoints) {
  const auto negate = [](std::string_view tag, std::size_t, std::vector<std::byte>& payload) {
    if (tag != "eq.point") return;
    Point point, identity{};
    std::memcpy(point.bytes.data(), payload.data(), 32);
    const Point other = identity - point;
    std::memcpy(payload.data(), other.bytes.data(), 32);
  };
  const Outcomes outcomes = run_sessions([](Session& session) { compare(session, 1); },
                                         {.wrap_a = cheating(negate)}, false);
  expect_cheated(outcomes.a);
}

// Sends the messages of the first run of EQ that were recorded, in the run with this number.
ChannelWrapper playing(const Messages& messages, std::size_t run) {
  return cheating([&messages, run](std::string_view tag, std::size_t occurrence,
                                   std::vector<std::byte>& payload) {
    if (tag.starts_with("eq.") && occurrence == run) payload = payload_of(messages, tag);
  });
}

std::size_t messages_of_eq(const Messages& sent) {
  return static_cast<std::size_t>(std::ranges::count_if(
      sent, [](const Message& message) { return message.tag.starts_with("eq."); }));
}

TEST(Equality, RejectsReplayFromAnotherSession) {
  Messages of_a, of_b;
  run_sessions([](Session& session) { compare(session, 1); },
               {.seed = 1, .wrap_a = recording(of_a), .wrap_b = recording(of_b)});
  ASSERT_EQ(messages_of_eq(of_a), 2u);
  ASSERT_EQ(messages_of_eq(of_b), 1u);
  // Both parties repeat their own messages: only the session's id differs.
  const Outcomes outcomes =
      run_sessions([](Session& session) { compare(session, 1); },
                   {.seed = 2, .wrap_a = playing(of_a, 0), .wrap_b = playing(of_b, 0)}, false);
  expect_cheated(outcomes.a);
}

TEST(Equality, RejectsReplayFromEarlierRun) {
  Messages of_a, of_b;
  const auto both = [](Messages& messages) {
    return [&messages](std::unique_ptr<Channel> inner) {
      return recording(messages)(playing(messages, 1)(std::move(inner)));
    };
  };
  const Outcomes outcomes =
      run_sessions([](Session& session) { compare(session, 1), compare(session, 1); },
                   {.wrap_a = both(of_a), .wrap_b = both(of_b)}, false);
  expect_cheated(outcomes.a);
}

TEST(Equality, PointsOfTheSameDigestDifferPerRun) {
  Messages sent;
  run_sessions(
      [](Session& session) { compare(session, 1), compare(session, 1), compare(session, 1); },
      {.wrap_a = recording(sent)});
  std::set<std::vector<std::byte>> points;
  for (std::size_t run = 0; run < 3; ++run) points.insert(payload_of(sent, "eq.point", run));
  EXPECT_EQ(points.size(), 3u);
}

// Ids, counter and digest are equal; only the party's randomness differs.
TEST(Equality, PointsDependOnThePartysRandomness) {
  std::set<std::vector<std::byte>> points;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    Messages sent;
    run_channels(
        [&](Party me, Channel& channel) {
          PhaseLog log;
          Session session(me, {}, Delta{}, channel,
                          Rng(Seed{{seed, static_cast<std::uint64_t>(me)}}), log);
          compare(session, 1);
        },
        {.wrap_a = recording(sent)});
    points.insert(payload_of(sent, "eq.point"));
  }
  EXPECT_EQ(points.size(), 3u);
}

// Two runs with the same randomness but different digests of A: its scalar does not depend on the
// digest.
TEST(Equality, PointsOfDifferentDigestsDiffer) {
  Messages one, two;
  run_sessions([](Session& session) { compare(session, 1); }, {.wrap_a = recording(one)});
  run_sessions([](Session& session) { compare(session, 1, Party::A); }, {.wrap_a = recording(two)},
               false);
  EXPECT_NE(payload_of(one, "eq.point"), payload_of(two, "eq.point"));
}

// The attack on commit and open: A uses a wrong digest, receives B's answer, closes the connection
// and searches for B's digest among the candidates that its deviation leaves. Here A has every
// message and its own scalar. B's confirmation depends on b.U, which A can compute only if U was
// made from B's digest.
TEST(Equality, MessagesAllowNoOfflineTestOfCandidates) {
  constexpr std::uint64_t kCandidates = 256, kOfB = 77;
  std::vector<std::byte> answer(64);
  SessionId id{};
  Rng rng(Seed{{5, 5}});
  const Scalar scalar = random_scalar(rng);
  const auto base_of = [&](std::uint64_t candidate) {
    const Digest digest = digest_of(candidate);
    const auto password = RandomOracle(id, {"EQ", '*', 0})
                              .absorb_object(std::uint64_t{4})
                              .absorb(std::as_bytes(std::span("item", 4)))
                              .absorb_object(std::uint64_t{32})
                              .absorb_object(digest)
                              .digest();
    std::array<std::uint8_t, 64> uniform;
    for (const std::size_t half : {0u, 1u})
      std::ranges::copy(
          RandomOracle(
              id, {half == 0 ? crypto::Phase("EQ base 0") : crypto::Phase("EQ base 1"), '*', 0})
              .absorb_object(password)
              .digest()
              .bytes,
          uniform.begin() + 32 * half);
    return hash_to_group(uniform);
  };
  const auto attack = [&](std::uint64_t of_a) {
    run_sessions(
        [&](Session& session) {
          if (session.me() == Party::A) {
            id = session.id();
            send_object(session.channel(), {0x0201, "eq.point"}, times(scalar, base_of(of_a)));
            session.channel().flush();
            session.channel().recv({0x0202, "eq.answer"}, answer);
            throw NetworkError("closed by the test");
          }
          EqualityCheck check("test");
          check.add("item", digest_of(kOfB));
          check.run(session);
        },
        {}, false);
  };
  // Whether B's confirmation matches a shared point that A can compute if B's digest is
  // `candidate`.
  const auto fits = [&](std::uint64_t of_a, std::uint64_t candidate) {
    Point v;
    std::memcpy(v.bytes.data(), answer.data(), 32);
    const Point u = times(scalar, base_of(of_a)), g = base_of(candidate);
    return std::ranges::any_of(
        std::array{times(scalar, v), times(scalar, v - g), times(scalar, g), times(scalar, g) + v},
        [&](const Point& shared) {
          const Digest expected = RandomOracle(id, {"EQ confirm", 'B', 0})
                                      .absorb_object(u)
                                      .absorb_object(v)
                                      .absorb_object(shared)
                                      .digest();
          return std::memcmp(expected.bytes.data(), answer.data() + 32, 32) == 0;
        });
  };
  attack(kOfB);
  EXPECT_TRUE(fits(kOfB, kOfB)) << "the test does not follow the protocol";
  attack(kOfB + 1);
  for (std::uint64_t candidate = 0; candidate < kCandidates; ++candidate)
    EXPECT_FALSE(fits(kOfB + 1, candidate)) << candidate;
}

}  // namespace
}  // namespace tinyot
