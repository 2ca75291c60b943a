// Fixtures for tests of single offline protocols: bits and layers of triples dealt without a
// protocol, a cheater that ignores its own checks, and comparisons of the frequency of successful
// guesses with their probability.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "base/auth_bits.h"
#include "base/error.h"
#include "checks/equality.h"
#include "offline/nnob12/buckets.h"
#include "offline/triples/auth_triple.h"
#include "tests/support/cheating_channel.h"
#include "tests/support/layers.h"
#include "tests/support/oracle.h"
#include "tests/support/two_parties.h"

namespace tinyot::test {

// `count` authenticated bits of `owner`, the same on both sides for the same seed and number.
// `truth`: the values of the bits.
struct Dealt {
  Dealt(Party me, Party owner, std::size_t count, std::uint64_t seed, std::uint64_t number)
      : Dealt(me, owner, count, seed, number, global_key_of(peer_of(owner), seed)) {}
  Dealt(Party me, Party owner, std::size_t count, std::uint64_t seed, std::uint64_t number,
        Delta delta) {
    Rng rng(Seed{{seed, 500 + number}});
    truth = rng.bits(count);
    KeyColumn keys(count);
    rng.fill_blocks(std::span(keys.keys));
    if (me != owner) {
      peers = std::move(keys);
      return;
    }
    mine = MacColumn(count);
    mine.bits = truth;
    for (std::size_t i = 0; i < count; ++i) mine.macs[i] = keys.keys[i] ^ delta * truth[i];
  }

  BitVector truth;
  MacColumn mine;
  KeyColumn peers;
};

// The global keys of test sessions with the low bits required for triples.
inline Delta key_for_triples(Party holder, std::uint64_t seed = 1) {
  return fitted_to_triples(global_key_of(holder, seed), holder);
}

// Runs `body` in a session under another global key.
inline void with_key(Session& outer, const Delta& key, const std::function<void(Session&)>& body) {
  PhaseLog log;
  Session session(outer.me(), {outer.id(), outer.id()}, key, outer.channel(), outer.rng().fork(),
                  log);
  body(session);
}
// The same under these keys.
inline void with_key_for_triples(Session& outer, std::uint64_t seed,
                                 const std::function<void(Session&)>& body) {
  with_key(outer, key_for_triples(outer.me(), seed), body);
}

// In a session under a key whose lowest bit is wrong for triples, `body` fails by ENSURE.
inline void expect_ensure_under_wrong_low_bits(const std::function<void(Session&)>& body) {
  const Outcomes outcomes = run_sessions(
      [&](Session& session) {
        Delta wrong = key_for_triples(session.me(), 1);
        wrong.value.lo ^= 1;
        with_key(session, wrong, body);
      },
      {}, false);
  EXPECT_EQ(outcomes.a.kind, Outcome::Kind::Other) << outcomes.a.message;
  EXPECT_EQ(outcomes.b.kind, Outcome::Kind::Other) << outcomes.b.message;
}

// `count` shared bits under these keys.
inline SharedColumn dealt_shared(Party me, std::size_t count, std::uint64_t seed,
                                 std::uint64_t number) {
  const auto halves = [&](Party owner) {
    return Dealt(me, owner, count, seed, 2 * number + static_cast<std::uint64_t>(owner),
                 key_for_triples(peer_of(owner), seed));
  };
  SharedColumn bits;
  bits.mine = halves(me).mine;
  bits.peers = halves(peer_of(me)).peers;
  return bits;
}

// Shared bits x, y and r, the inputs of leaky triples. Layers of a session have different numbers.
inline TripleLayer dealt_layer(Party me, std::size_t count, std::uint64_t seed,
                               std::uint64_t number = 0) {
  return {dealt_shared(me, count, seed, 3 * number), dealt_shared(me, count, seed, 3 * number + 1),
          dealt_shared(me, count, seed, 3 * number + 2)};
}

// Checks all MACs under these keys, and that z = xy.
inline void expect_products(const TripleLayer& of_a, const TripleLayer& of_b, std::uint64_t seed) {
  for (const auto column : {&TripleLayer::x, &TripleLayer::y, &TripleLayer::z})
    for (const TripleLayer* layer : {&of_a, &of_b})
      ASSERT_EQ((layer->*column).size(), of_a.x.size()) << "incomplete column";
  const auto opened = [&](SharedColumn TripleLayer::*column) {
    const auto a =
        checked_bits((of_a.*column).mine, (of_b.*column).peers, key_for_triples(Party::B, seed));
    auto b =
        checked_bits((of_b.*column).mine, (of_a.*column).peers, key_for_triples(Party::A, seed));
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = a[i] ^ b[i];
    return b;
  };
  const auto x = opened(&TripleLayer::x), y = opened(&TripleLayer::y), z = opened(&TripleLayer::z);
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(z[i], x[i] && y[i]) << i;
}

// EQ of one digest. A cheating A ignores a wrong confirmation by B, so that B can detect the
// deviation.
inline void compare_digests(Session& session, const std::string& name, const Digest& digest,
                            Party cheater) {
  EqualityCheck equality(name);
  equality.add(name, digest);
  try {
    equality.run(session);
  } catch (const PeerCheated&) {
    if (session.me() != Party::A || cheater != Party::A) throw;
    send_object(session.channel(), {0x0203, "eq.confirmation"}, digest);
  }
}

inline PartyOptions options_with(Party cheater, std::uint64_t seed, const Deviation& deviation) {
  PartyOptions options{.seed = seed};
  (cheater == Party::A ? options.wrap_a : options.wrap_b) = cheating(deviation);
  return options;
}

inline void no_deviation(std::string_view, std::size_t, std::vector<std::byte>&) {}

inline const Outcome& of(const Outcomes& outcomes, Party party) {
  return party == Party::A ? outcomes.a : outcomes.b;
}

inline testing::AssertionResult both_done(const Outcomes& outcomes) {
  if (outcomes.a.kind == Outcome::Kind::Done && outcomes.b.kind == Outcome::Kind::Done)
    return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "A: " << outcomes.a.message << "; B: " << outcomes.b.message;
}

// True if the party ended with PeerCheated from `check`, false if it was done; any other end is an
// error.
inline bool caught_by(const Outcome& outcome, const std::string& check) {
  if (outcome.kind == Outcome::Kind::Done) return false;
  EXPECT_EQ(outcome.kind, Outcome::Kind::PeerCheated) << outcome.message;
  EXPECT_EQ(outcome.check, check);
  return true;
}

// Expects the frequency of a fair coin, within five standard deviations.
inline void expect_half(std::size_t caught, std::size_t runs) {
  const double n = static_cast<double>(runs);
  EXPECT_LT(std::abs(static_cast<double>(caught) - n / 2), 2.5 * std::sqrt(n))
      << caught << " of " << runs;
}

// Expects the number of sessions in which a cheater has passed the check and controls a whole
// bucket to match the bound within five standard deviations.
inline void expect_as_likely(std::size_t owned, std::size_t runs, double probability) {
  const double n = static_cast<double>(runs), expected = n * probability;
  EXPECT_GT(expected, 5) << "too few sessions";
  EXPECT_LT(std::abs(static_cast<double>(owned) - expected),
            5 * std::sqrt(expected * (1 - probability)))
      << owned << " of " << runs << ", expected " << expected;
}

// The number of attacked objects in the best attack on buckets of B objects: 2B - 1.
constexpr std::size_t best_attack(std::size_t bucket) { return 2 * bucket - 1; }

// Whether all objects of one bucket are among the first `attacked` ones.
inline bool owns_a_bucket(const Buckets& buckets, std::size_t attacked) {
  for (std::size_t j = 0; j < buckets.count(); ++j) {
    std::size_t owned = 0;
    for (std::size_t k = 0; k < buckets.bucket(); ++k) owned += buckets.object(j, k) < attacked;
    if (owned == buckets.bucket()) return true;
  }
  return false;
}

}  // namespace tinyot::test
