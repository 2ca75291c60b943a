// Sets of bit triples on dealt bits, compared and combined: honest runs, lies in each opening,
// wrong triples and guesses.
#include "offline/wan/sacrifice.h"

#include <algorithm>

#include "base/risk.h"
#include "checks/coin_toss.h"
#include "offline/triples/layer_shifts.h"
#include "offline/unit/steps.h"
#include "offline/wan/bit_triple.h"
#include "offline/wan/share_fold.h"
#include "tests/offline/dealt.h"
#include "tests/support/layers.h"
#include "tests/support/repetitions.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

struct SetSizes {
  std::size_t l, sets, opened;
  std::size_t of(std::size_t set) const { return sets * l + (set == 0 ? 0 : opened); }
  // The number of the message with an object's G or d.
  std::size_t message_of(std::size_t set, std::size_t object) const {
    std::size_t number = object / kChunkObjects;
    for (std::size_t before = 0; before < set; ++before) number += object_chunks(of(before)).size();
    return number;
  }
};

// The cheater adds e to G and e' to d of an object, and computes with the d that it has sent.
struct AttackedTriple {
  std::size_t set, object;
  bool e, e2;
};

struct Combined {
  std::vector<BitVector> x[2], y[2];  // of the sets, by party
  TripleSet of[2];
  Outcomes outcomes;
};

Combined combine(
    const SetSizes& sizes, std::uint64_t seed, Party cheater = Party::A,
    const std::vector<AttackedTriple>& attacks = {}, const Deviation& lie = no_deviation,
    const std::function<void(std::vector<TripleSet>&)>& alter = [](auto&) {}) {
  Combined made;
  const auto deviation = [&](std::string_view tag, std::size_t occurrence,
                             std::vector<std::byte>& payload) {
    for (const AttackedTriple& at : attacks)
      if (sizes.message_of(at.set, at.object) == occurrence &&
          ((tag == "bit_triple.g" && at.e) || (tag == "bit_triple.d" && at.e2)))
        payload.at(at.object % kChunkObjects / 8) ^= std::byte{1} << (at.object % 8);
    lie(tag, occurrence, payload);
  };
  const auto body = [&](Session& session) {
    const auto me = static_cast<int>(session.me());
    BitProducts products(session);
    std::vector<TripleSet> sets;
    for (std::size_t set = 0; set < sizes.sets; ++set) {
      const std::size_t count = sizes.of(set);
      TripleLayer of_set = dealt_layer(session.me(), count, seed, set);
      const SharedView x = of_set.x.view(), y = of_set.y.view(), z = of_set.z.view();
      made.x[me].emplace_back(count).copy_from(of_set.x.mine.bits, 0, 0, count);
      made.y[me].emplace_back(count).copy_from(of_set.y.mine.bits, 0, 0, count);
      TripleSet& shares = sets.emplace_back(count);
      share_triples(x, y, z, session.global_key(), shares);
      run_pipeline(
          object_chunks(count), 1,
          [&](const ObjectChunk& chunk) {
            products.offer(set, chunk, x.part(chunk), y.part(chunk), z.part(chunk));
          },
          [&](const ObjectChunk&) { products.announce(); },
          [&](const ObjectChunk& chunk) {
            become_products(std::span(shares).subspan(chunk.first, chunk.count), products.finish(),
                            session.global_key());
          });
    }
    if (session.me() == cheater)
      for (const AttackedTriple& at : attacks)
        sets[at.set][at.object].z.value ^= times(session.global_key().value, at.e2);
    if (session.me() == cheater) alter(sets);
    const PublicSeed coins = toss_coins(session, "bit triple orders");
    combine_sets(session, sets, coins, PipelineDepth(std::chrono::milliseconds(sizes.l % 3)));
    settle_transcripts(session);
    sets[0].resize(sizes.l);
    made.of[me] = std::move(sets[0]);
  };
  made.outcomes = run_sessions([&](Session& outer) { with_key_for_triples(outer, seed, body); },
                               options_with(cheater, seed, deviation), false);
  return made;
}

// Of combined triples: how many have z != xy. Checks all MAC shares.
std::size_t wrong_triples(const Combined& made, std::uint64_t seed) {
  const Block both = key_for_triples(Party::A, seed).value ^ key_for_triples(Party::B, seed).value;
  const auto opened = [&](MacShare a, MacShare b) {
    const bool bit = share_of_bit(a) != share_of_bit(b);
    EXPECT_TRUE(same(a.value ^ b.value, times(both, bit)));
    return bit;
  };
  std::size_t wrong = 0;
  EXPECT_EQ(made.of[0].size(), made.of[1].size());
  for (std::size_t i = 0; i < made.of[0].size(); ++i) {
    const TripleShares &a = made.of[0][i], &b = made.of[1][i];
    wrong += (opened(a.x, b.x) && opened(a.y, b.y)) != opened(a.z, b.z);
  }
  return wrong;
}

bool caught_by_one_of(const Outcome& outcome, std::string_view check, std::string_view other) {
  if (outcome.kind == Outcome::Kind::Done) return false;
  EXPECT_TRUE(outcome.check == check || outcome.check == other) << outcome.message;
  return true;
}

constexpr SetSizes kSmall{12, 3, 2};

TEST(Sacrifice, HonestRunsGiveTriples) {
  for (const SetSizes& sizes : {SetSizes{128, 3, 128},
                                {40, 3, 4},
                                {12, 2, 1},
                                {13, 4, 2},
                                {12, 5, 2},
                                {kChunkObjects / 3 + 100, 3, 128}}) {
    const Combined made = combine(sizes, sizes.l);
    ASSERT_TRUE(both_done(made.outcomes));
    ASSERT_EQ(made.of[0].size(), sizes.l);
    EXPECT_EQ(wrong_triples(made, sizes.l), 0u);
    for (std::size_t i = 0; i < sizes.l; ++i)
      ASSERT_EQ(share_of_bit(made.of[0][i].y) ^ share_of_bit(made.of[1][i].y),
                made.y[0][0][i] ^ made.y[1][0][i])
          << i;
  }
}

TEST(Sacrifice, SharesAreBalanced) {
  const Combined made = combine({4096, 3, 128}, 1);
  for (const TripleSet& triples : made.of)
    for (const auto column : {&TripleShares::x, &TripleShares::y, &TripleShares::z}) {
      int ones = 0;
      for (const TripleShares& triple : triples) ones += share_of_bit(triple.*column);
      EXPECT_LT(std::abs(ones - 2048), 6 * 32);
    }
}

TEST(Sacrifice, DetectsWrongD) {
  for (const Party cheater : {Party::A, Party::B})
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      const Combined in_first = combine(kSmall, seed, cheater, {{0, 3 * seed, false, true}});
      EXPECT_TRUE(caught_by(of(in_first.outcomes, peer_of(cheater)), "MAC transcript"));
      const std::size_t set = 1 + seed % 2;
      const Combined in_other = combine(kSmall, seed, cheater, {{set, 3 * seed, false, true}});
      EXPECT_TRUE(caught_by_one_of(of(in_other.outcomes, peer_of(cheater)), "MAC transcript",
                                   "opened triple"));
    }
}

// Then no comparison fails.
TEST(Sacrifice, DetectsAllTriplesWrong) {
  std::vector<AttackedTriple> attacks;
  for (std::size_t set = 0; set < kSmall.sets; ++set)
    for (std::size_t i = 0; i < kSmall.of(set); ++i) attacks.push_back({set, i, false, true});
  for (const Party cheater : {Party::A, Party::B})
    EXPECT_TRUE(caught_by(of(combine(kSmall, 1, cheater, attacks).outcomes, peer_of(cheater)),
                          "opened triple"));
}

TEST(Sacrifice, DetectsLieInEachOpening) {
  const std::size_t n = kSmall.of(0);
  for (const Party cheater : {Party::A, Party::B}) {
    const auto outcome = [&](const char* tag, std::size_t occurrence, std::size_t bit) {
      return of(combine(kSmall, 1, cheater, {}, flip_bit(tag, occurrence, bit)).outcomes,
                peer_of(cheater));
    };
    for (const std::size_t set : {0u, 1u})
      for (std::size_t bit = 0; bit < 3 * kSmall.opened; ++bit) {
        const bool is_z = bit >= 2 * kSmall.opened;
        EXPECT_TRUE(caught_by_one_of(outcome("bit_triple.opened", set, bit), "opened triple",
                                     is_z ? "opened triple" : "MAC transcript"))
            << set << ", " << bit;
      }
    for (const std::size_t bit : {std::size_t{0}, n - 1, n, 2 * n, 3 * n + 5, 4 * n - 1})
      EXPECT_TRUE(caught_by(outcome("bit_triple.sacrifice", 0, bit), "MAC transcript")) << bit;
    for (const std::size_t bit : {std::size_t{0}, kSmall.l - 1, kSmall.l, 2 * kSmall.l - 1})
      EXPECT_TRUE(caught_by(outcome("bit_triple.layers", 0, bit), "MAC transcript")) << bit;
  }
}

// Where y is 0, a lie about x leaves z = xy.
TEST(Sacrifice, DetectsLieThatKeepsAnOpenedProduct) {
  std::size_t by_transcript = 0;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    const Outcome outcome =
        combine(kSmall, seed, Party::A, {}, flip_bit("bit_triple.opened", 0, 0)).outcomes.b;
    EXPECT_TRUE(caught_by_one_of(outcome, "opened triple", "MAC transcript"));
    by_transcript += outcome.check == "MAC transcript";
  }
  EXPECT_GT(by_transcript, 0u);
}

// The cheater computes tau with the wrong difference, as the other party does. It is 0 if the other
// factor is.
TEST(Sacrifice, DetectsLieThatTauMatches) {
  for (const Party cheater : {Party::A, Party::B})
    for (const auto column : {&TripleShares::x, &TripleShares::y})
      for (std::uint64_t seed = 0; seed < 24; ++seed) {
        const Combined made =
            combine(kSmall, seed, cheater, {}, no_deviation, [&](std::vector<TripleSet>& sets) {
              (sets[1][seed % kSmall.of(1)].*column).value.lo ^= 1;
            });
        EXPECT_TRUE(caught_by_one_of(of(made.outcomes, peer_of(cheater)), "MAC transcript",
                                     "opened triple"))
            << seed;
      }
}

// What is opened of every object is on the transcripts, also behind the first word and the first
// chunk.
constexpr SetSizes kLarge{kChunkObjects + 300, 2, 128};
static_assert(kLarge.l / kChunkObjects == 1);

TEST(Sacrifice, DetectsWrongDOfEveryWordAndChunk) {
  for (const std::size_t object : {std::size_t{70}, kChunkObjects - 1, kChunkObjects,
                                   kChunkObjects + 70, 2 * kChunkObjects + 500}) {
    const Combined wrong_d = combine(kLarge, 1, Party::A, {{0, object, false, true}});
    EXPECT_TRUE(caught_by(wrong_d.outcomes.b, "MAC transcript")) << object;
    const Combined wrong_g = combine(kLarge, 1, Party::A, {{0, object, true, false}});
    EXPECT_EQ(caught_by(wrong_g.outcomes.b, "MAC transcript"), wrong_g.x[1][0][object]) << object;
  }
}

TEST(Sacrifice, DetectsLieAboutLayersOfEveryWordAndChunk) {
  for (const Party cheater : {Party::A, Party::B}) {
    const auto is_caught = [&](const SetSizes& sizes, std::size_t message, std::size_t bit) {
      const Combined made =
          combine(sizes, 1, cheater, {}, flip_bit("bit_triple.layers", message, bit));
      return caught_by(of(made.outcomes, peer_of(cheater)), "MAC transcript");
    };
    for (const std::size_t bit : {64u, 70u, 199u, 264u, 399u})
      EXPECT_TRUE(is_caught({200, 3, 2}, 0, bit)) << bit;
    EXPECT_TRUE(is_caught(kLarge, 0, kChunkObjects - 1));
    for (const std::size_t bit : {0u, 70u, 299u}) EXPECT_TRUE(is_caught(kLarge, 1, bit)) << bit;
  }
}

// As DetectsLieThatTauMatches, in sets of several words, and of two chunks.
TEST(Sacrifice, DetectsLieThatTauMatchesInEveryWordAndChunk) {
  for (const auto column : {&TripleShares::x, &TripleShares::y})
    for (const SetSizes& sizes : {SetSizes{200, 3, 2}, SetSizes{kChunkObjects, 2, 2}})
      for (std::uint64_t seed = 0; seed < 24; ++seed) {
        const Combined made = combine(
            sizes, seed, Party::A, {}, no_deviation,
            [&](std::vector<TripleSet>& sets) { (sets[1][seed * 7].*column).value.lo ^= 1; });
        EXPECT_TRUE(caught_by_one_of(made.outcomes.b, "MAC transcript", "opened triple")) << seed;
      }
}

// A wrong G is a guess that the honest x is 0, with d flipped that it is 1, in any set; a right
// guess leaves right triples.
TEST(Sacrifice, WrongGIsAGuessOfX) {
  constexpr std::size_t kRuns = 96;
  for (const Party cheater : {Party::A, Party::B}) {
    std::size_t caught = 0;
    for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
      const AttackedTriple at{seed % 3, seed % kSmall.of(0), true, seed % 2 == 1};
      const Combined made = combine(kSmall, seed, cheater, {at});
      const bool x = made.x[static_cast<int>(peer_of(cheater))][at.set][at.object];
      const bool was_caught =
          caught_by_one_of(of(made.outcomes, peer_of(cheater)), "MAC transcript", "opened triple");
      EXPECT_EQ(was_caught, x != at.e2) << seed;
      caught += was_caught;
      if (!was_caught) {
        EXPECT_EQ(wrong_triples(made, seed), 0u);
      }
    }
    expect_half(caught, kRuns);
  }
}

// One wrong triple of each set passes if the two meet, and one of the combined ones is wrong.
TEST(Sacrifice, WrongTriplesPassWhereTheyMeet) {
  constexpr SetSizes kToy{2, 2, 1};
  constexpr std::size_t kRuns = repetitions(1500);
  std::size_t passed = 0;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    const Combined made = combine(kToy, seed, Party::A, {{0, 1, false, true}, {1, 3, false, true}});
    if (caught_by_one_of(made.outcomes.b, "MAC transcript", "opened triple")) continue;
    ++passed;
    EXPECT_EQ(wrong_triples(made, seed), 1u);
  }
  expect_as_likely(passed, kRuns, 1.0 / static_cast<double>(kToy.of(1)));
}

// One guess in each layer: that both are right and meet in a triple, whose x is then known, is as
// likely as the risk of a unit.
TEST(Sacrifice, AGuessInEachLayerSucceedsAsOftenAsTheRiskSays) {
  constexpr SetSizes kToy{4, 2, 1};
  constexpr std::size_t kRuns = repetitions(1500), kFirst = 1, kSecond = 4 + 2;
  std::size_t passed = 0, met = 0;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    TripleSet before;
    const Combined made =
        combine(kToy, seed, Party::A, {{0, kFirst, true, false}, {0, kSecond, true, false}},
                no_deviation, [&](std::vector<TripleSet>& sets) { before = sets[0]; });
    if (caught_by_one_of(made.outcomes.b, "MAC transcript", "opened triple")) continue;
    ++passed;
    met += same(made.of[0][kFirst].x.value, before[kFirst].x.value ^ before[kSecond].x.value);
  }
  expect_as_likely(passed, kRuns, 0.25);
  // The risk is that of tries without end, of which one that survives may be repeated.
  expect_as_likely(met, kRuns, as_double(risk_of_layers(kToy.l, 2)) * (1 - 0.25));
}

TEST(Sacrifice, SetsAndTossesHaveTheirOwnOrders) {
  run_sessions([](Session& session) {
    const SetOrders orders = set_orders_from(session, PublicSeed{1}, 3, 1000),
                    others = set_orders_from(session, PublicSeed{2}, 3, 1000);
    ASSERT_EQ(orders.size(), 2u);
    EXPECT_NE(orders[0], orders[1]);
    EXPECT_NE(orders[0], others[0]);
    EXPECT_NE(orders[1], others[1]);
    for (std::vector<std::uint32_t> order : orders) {
      std::ranges::sort(order);
      for (std::uint32_t i = 0; i < 1000; ++i) ASSERT_EQ(order[i], i);
    }
  });
}

// What is opened is compared with nothing.
TEST(Sacrifice, OpensTheLastOfEachOrder) {
  constexpr std::size_t kSize = 300, kOpened = 128;
  BitVector x = Rng(Seed{{1, 2}}).bits(kSize + kOpened), expected(kOpened);
  Messages sent;
  run_sessions(
      [&](Session& outer) {
        with_key_for_triples(outer, 1, [&](Session& session) {
          std::vector<TripleSet> sets;
          sets.emplace_back(kSize, TripleShares{});
          sets.emplace_back(kSize + kOpened, TripleShares{});
          const SetOrders orders = set_orders_from(session, PublicSeed{1}, 2, kSize + kOpened);
          Sacrifice sacrifice(session, sets, orders);
          if (session.me() == Party::A) {
            for (std::size_t i = 0; i < x.size(); ++i) sets[1][i].x.value.lo = x[i];
            for (std::size_t i = 0; i < kOpened; ++i) expected.put(i, x[orders[0][kSize + i]]);
          }
          sacrifice.open();
        });
      },
      {.wrap_a = recording(sent)});
  const std::vector<std::byte> payload = payload_of(sent, "bit_triple.opened");
  EXPECT_EQ(std::memcmp(payload.data(), expected.bytes().data(), kOpened / 8), 0);
}

// In one session, with the same sets: other coins open other triples and combine other layers.
TEST(Sacrifice, OrdersAndShiftsComeFromTheCoins) {
  constexpr SetSizes kSizes{128, 3, 128};
  constexpr PublicSeed kCoins[] = {{1}, {2}};
  std::vector<BitVector> x;  // A's shares of x
  for (std::size_t set = 0; set < kSizes.sets; ++set)
    x.push_back(Rng(Seed{{set, 2}}).bits(kSizes.of(set)));
  std::vector<std::vector<std::byte>> expected;
  Messages sent;
  run_sessions(
      [&](Session& outer) {
        with_key_for_triples(outer, 1, [&](Session& session) {
          for (const PublicSeed& coins : kCoins) {
            std::vector<TripleSet> sets;
            for (std::size_t set = 0; set < kSizes.sets; ++set) {
              sets.emplace_back(kSizes.of(set), TripleShares{});
              if (session.me() == Party::A)
                for (std::size_t i = 0; i < x[set].size(); ++i) sets[set][i].x.value.lo = x[set][i];
            }
            combine_sets(session, sets, coins, {});
            const TripleSet& combined = sets[0];
            if (session.me() != Party::A) continue;
            const SetOrders orders = set_orders_from(session, coins, kSizes.sets, kSizes.of(1));
            for (std::size_t set = 1; set < kSizes.sets; ++set) {
              BitVector opened(3 * kSizes.opened);
              for (std::size_t i = 0; i < kSizes.opened; ++i)
                opened.put(i, x[set][orders[set - 1][kSizes.of(0) + i]]);
              const auto bytes = std::as_bytes(std::span(opened.bytes()));
              expected.emplace_back(bytes.begin(), bytes.end());
            }
            const auto shifts = shifts_from(session, coins, kSizes.sets, kSizes.l);
            for (std::size_t i = 0; i < kSizes.l; ++i) {
              bool sum = x[0][i];
              for (std::size_t k = 1; k < kSizes.sets; ++k)
                sum ^= x[0][k * kSizes.l + (i + shifts[k - 1]) % kSizes.l];
              ASSERT_EQ(share_of_bit(combined[i].x), sum) << i;
            }
          }
        });
      },
      {.wrap_a = recording(sent)});
  ASSERT_EQ(expected.size(), 4u);
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(payload_of(sent, "bit_triple.opened", i), expected[i]) << i;
  EXPECT_NE(expected[0], expected[2]);
  EXPECT_NE(expected[1], expected[3]);
}

TEST(Sacrifice, KeysWithWrongLowBitsFailEnsure) {
  expect_ensure_under_wrong_low_bits([](Session& session) {
    std::vector<TripleSet> sets;
    for (int i = 0; i < 2; ++i) sets.emplace_back(128, TripleShares{});
    Sacrifice(session, sets, set_orders_from(session, PublicSeed{1}, 2, 128));
  });
}

TEST(Sacrifice, FoldsLayersAtTheirShifts) {
  constexpr std::size_t kSize = 100;
  const std::vector<std::size_t> shifts = {1, 60};
  run_sessions([&](Session& session) {
    TripleSet set(3 * kSize, TripleShares{});
    for (std::size_t i = 0; i < set.size(); ++i) set[i].x.value = {i + 1, i * i};
    const TripleSet before = set;
    ShareFold layers(session, set, shifts);
    layers.reveal({0, kSize});
    layers.fold({0, kSize});
    for (std::size_t i = 0; i < kSize; ++i)
      ASSERT_TRUE(same(set[i].x.value, before[i].x.value ^
                                           before[kSize + (i + shifts[0]) % kSize].x.value ^
                                           before[2 * kSize + (i + shifts[1]) % kSize].x.value))
          << i;
  });
}

TEST(Sacrifice, MatchesTheDocumentedCost) {
  constexpr SetSizes kSizes{8192, 3, 128};
  Messages sent;
  combine(kSizes, 1, Party::A, {},
          [&](std::string_view tag, std::size_t i, std::vector<std::byte>& payload) {
            sent.push_back({std::string(tag), i, payload});
          });
  const std::size_t objects = 3 * kSizes.of(0) + 2 * kSizes.opened;
  EXPECT_EQ(bytes_of(sent, "bit_triple.g"), objects / 8);
  EXPECT_EQ(bytes_of(sent, "bit_triple.d"), objects / 8);
  EXPECT_EQ(payload_of(sent, "bit_triple.opened").size(), 3u * 128 / 8);
  EXPECT_EQ(bytes_of(sent, "bit_triple.opened"), 2 * 3 * 128u / 8);
  EXPECT_EQ(payload_of(sent, "bit_triple.sacrifice").size(), 4 * kChunkObjects / 8);
  EXPECT_EQ(bytes_of(sent, "bit_triple.sacrifice"), 4 * kSizes.of(0) / 8);
  EXPECT_EQ(payload_of(sent, "bit_triple.layers").size(), 2 * kSizes.l / 8);
}

}  // namespace
}  // namespace tinyot
