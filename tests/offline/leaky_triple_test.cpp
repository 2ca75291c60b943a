// Leaky triples on dealt bits: honest runs, and one wrong message at a time.
#include "offline/triples/leaky_triple.h"

#include "base/bounds.h"
#include "offline/triples/layer_shifts.h"
#include "offline/unit/steps.h"
#include "tests/offline/dealt.h"
#include "tests/support/layers.h"
#include "tests/support/repetitions.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr std::size_t kLeakyTriples = 65;

struct Triples {
  BitVector truth[2][2];  // of x and y, by party
  TripleLayer of[2];
  Outcomes outcomes;
};

Triples make_triples(Party cheater, std::uint64_t seed, const Deviation& deviation = no_deviation,
                     std::size_t count = kLeakyTriples, std::size_t ahead = 1) {
  Triples made;
  const auto body = [&](Session& session) {
    const auto me = static_cast<int>(session.me());
    TripleLayer& layer = made.of[me] = dealt_layer(session.me(), count, seed);
    for (std::size_t i = 0; i < 2; ++i)
      (made.truth[me][i] = BitVector(count))
          .copy_from((i == 0 ? layer.x : layer.y).mine.bits, 0, 0, count);
    LeakyTriples triples(session);
    run_pipeline(
        object_chunks(count), ahead,
        [&](const ObjectChunk& chunk) {
          triples.offer(0, chunk, layer.x.view().part(chunk), layer.y.view().part(chunk));
        },
        [&](const ObjectChunk& chunk) {
          triples.announce(layer.x.view().part(chunk), layer.z.view().part(chunk));
        },
        [&](const ObjectChunk& chunk) { triples.finish(layer.z.view().part(chunk)); });
    compare_digests(session, "LaTriple", triples.check_digest(), cheater);
  };
  made.outcomes = run_sessions([&](Session& outer) { with_key_for_triples(outer, seed, body); },
                               options_with(cheater, seed, deviation), false);
  return made;
}

void expect_good_triples(const Triples& made, std::uint64_t seed) {
  expect_products(made.of[0], made.of[1], seed);
  for (const int party : {0, 1}) {
    for (std::size_t j = 0; j < made.of[party].x.size(); ++j) {
      ASSERT_EQ(made.of[party].x.mine.bits[j], made.truth[party][0][j]);
      ASSERT_EQ(made.of[party].y.mine.bits[j], made.truth[party][1][j]);
    }
  }
}

TEST(LeakyTriple, HonestRunsGiveProducts) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{65},
                                  kChunkObjects, kChunkObjects + 1, 3 * kChunkObjects}) {
    const Triples made = make_triples(Party::A, count, no_deviation, count, count % 3);
    ASSERT_TRUE(both_done(made.outcomes));
    expect_good_triples(made, count);
  }
}

TEST(LeakyTriple, SharesOfZAreBalanced) {
  const Triples made = make_triples(Party::A, 1, no_deviation, 4096);
  for (const int party : {0, 1}) {
    for (std::size_t first = 0; first < 4096; first += 512) {
      int ones = 0;
      for (std::size_t j = first; j < first + 512; ++j) ones += made.of[party].z.mine.bits[j];
      EXPECT_LT(std::abs(ones - 256), 6 * 12) << first;
    }
  }
}

// The other party uses G only if its x is 1: a wrong G is a guess of that bit, whichever bit of G
// is wrong, including the lowest.
TEST(LeakyTriple, WrongGIsAGuessOfX) {
  constexpr std::size_t kBits = 128, kRuns = kBits + 64;
  for (const Party cheater : {Party::A, Party::B}) {
    const Party honest = peer_of(cheater);
    std::size_t caught = 0;
    for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
      const std::size_t object = seed % kLeakyTriples, bit = seed % kBits;
      const Triples made =
          make_triples(cheater, seed, flip_bit("latriple.g", 0, kBits * object + bit));
      const bool was_caught = caught_by(of(made.outcomes, honest), "EQ of LaTriple");
      EXPECT_EQ(was_caught, made.truth[static_cast<int>(honest)][0][object]) << seed;
      caught += was_caught;
      if (!was_caught) expect_good_triples(made, seed);
    }
    expect_half(caught, kRuns);
  }
}

// One wrong G in each of two layers, whose shifts are tossed after the check: the two attacked
// triples form a bucket if the shift combines them.
TEST(LeakyTriple, WholeBucketLeaksWithTheProbabilityOfTheBound) {
  constexpr std::size_t l = 128, kBucket = 2, kAttackedOfLayer[kBucket] = {3, 77},
                        kRuns = repetitions(16000);
  std::size_t owned = 0;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    std::size_t partner = l;
    bool survived = true;
    for (std::size_t layer = 0; layer < kBucket; ++layer) {
      // After a detected attack the remaining layers are skipped.
      if (!survived) break;
      const auto wrong_g = flip_bit("latriple.g", 0, 128 * kAttackedOfLayer[layer]);
      survived = both_done(make_triples(Party::A, kBucket * seed + layer, wrong_g, l).outcomes);
    }
    if (!survived) continue;
    run_sessions(
        [&](Session& session) {
          const std::vector<std::size_t> shifts = toss_shifts(session, kBucket, l);
          if (session.me() == Party::A) partner = (kAttackedOfLayer[0] + shifts.at(0)) % l;
        },
        {.seed = seed});
    owned += partner == kAttackedOfLayer[1];
  }
  expect_as_likely(owned, kRuns, std::exp2(-layers_bound_bits(l, kBucket)));
}

TEST(LeakyTriple, AlwaysDetectsWrongD) {
  for (const Party cheater : {Party::A, Party::B})
    for (std::uint64_t seed = 0; seed < 20; ++seed)
      EXPECT_TRUE(caught_by(
          of(make_triples(cheater, seed, flip_bit("latriple.d", 0, seed * 3 % kLeakyTriples))
                 .outcomes,
             peer_of(cheater)),
          "EQ of LaTriple"));
}

// A cheater with both global keys can make wrong triples: the check accepts an error of Delta^A ^
// Delta^B. If one bit of the keys is wrong, the error is detected where x is 1.
TEST(LeakyTriple, WrongProductNeedsBothGlobalKeys) {
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    const Block delta =
        key_for_triples(Party::A, seed).value ^ key_for_triples(Party::B, seed).value;
    const auto adding = [](Block error) {
      return [error](std::string_view tag, std::size_t, std::vector<std::byte>& payload) {
        for (std::size_t bit = 0; tag == "latriple.g" && bit < 128; ++bit)
          if (bit_of(error, bit)) payload.at(bit / 8) ^= std::byte{1} << (bit % 8);
      };
    };
    const Triples made = make_triples(Party::A, seed, adding(delta));
    ASSERT_TRUE(both_done(made.outcomes));
    const auto z = [&](int party) { return made.of[party].z.mine.bits[0]; };
    const auto share = [&](int party, int i) { return made.truth[party][i][0]; };
    const bool product = (share(0, 0) ^ share(1, 0)) && (share(0, 1) ^ share(1, 1));
    EXPECT_EQ(z(0) ^ z(1) ^ product, share(1, 0)) << seed;
    const Block wrong = delta ^ (seed % 2 == 0 ? Block{std::uint64_t{2} << (4 * seed / 2), 0}
                                               : Block{0, std::uint64_t{1} << (4 * seed / 2)});
    EXPECT_EQ(caught_by(make_triples(Party::A, seed, adding(wrong)).outcomes.b, "EQ of LaTriple"),
              share(1, 0))
        << seed;
  }
}

// The same bits in another layer of a session give other G.
TEST(LeakyTriple, LayersHaveSeparateHashKeys) {
  std::vector<std::vector<std::byte>> g;
  const auto keep = [&](std::string_view tag, std::size_t, std::vector<std::byte>& payload) {
    if (tag == "latriple.g") g.push_back(payload);
  };
  run_sessions(
      [&](Session& outer) {
        with_key_for_triples(outer, 1, [&](Session& session) {
          TripleLayer layer = dealt_layer(session.me(), 64, 1);
          LeakyTriples triples(session);
          for (const std::uint64_t number : {0u, 0u, 1u})
            triples.offer(number, {0, 64}, layer.x.view(), layer.y.view());
          for (int i = 0; i < 3; ++i) triples.announce(layer.x.view(), layer.z.view());
        });
      },
      options_with(Party::A, 1, keep));
  ASSERT_EQ(g.size(), 3u);
  EXPECT_EQ(g[0], g[1]);
  for (std::size_t i = 0; i < 64 * sizeof(Block); i += sizeof(Block))
    EXPECT_NE(std::memcmp(g[0].data() + i, g[2].data() + i, sizeof(Block)), 0) << i / sizeof(Block);
}

TEST(LeakyTriple, KeysWithWrongLowBitsFailEnsure) {
  expect_ensure_under_wrong_low_bits([](Session& session) { LeakyTriples triples(session); });
}

TEST(LeakyTriple, MatchesTheDocumentedCost) {
  std::uint64_t sent[2] = {};
  make_triples(Party::A, 1,
               [&](std::string_view tag, std::size_t, std::vector<std::byte>& payload) {
                 if (tag == "latriple.g") sent[0] += payload.size();
                 if (tag == "latriple.d") sent[1] += payload.size();
               });
  EXPECT_EQ(sent[0], 16 * kLeakyTriples);
  EXPECT_EQ(sent[1], (kLeakyTriples + 7) / 8);
}

}  // namespace
}  // namespace tinyot
