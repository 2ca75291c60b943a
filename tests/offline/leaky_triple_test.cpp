// Leaky triples driven directly on dealt bits: honest runs, and one wrong message at a time.
#include "offline/leaky_triple.h"

#include "base/parameters.h"
#include "offline/layer_order.h"
#include "offline/steps.h"
#include "tests/offline/dealt.h"
#include "tests/support/repetitions.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr std::size_t kLeakyTriples = 65;
constexpr StringBits kStrings[] = {StringBits::Full, StringBits::Short};

struct Triples {
  BitVector truth[2][2];  // of x and y, by party
  TripleLayer of[2];
  Outcomes outcomes;
};

// One chunk on its way: the strings S_P.
using Strings = std::queue<SecretVector<Block>>;

Triples make_triples(StringBits strings, Party cheater, std::uint64_t seed, const Deviation& deviation = no_deviation,
                     std::size_t count = kLeakyTriples, std::size_t ahead = 1) {
  Triples made;
  const auto body = [&](Session& session) {
    const auto me = static_cast<int>(session.me());
    TripleLayer& layer = made.of[me] = dealt_layer(session.me(), count, seed);
    for (std::size_t i = 0; i < 2; ++i) (made.truth[me][i] = BitVector(count)).copy_from((i == 0 ? layer.x : layer.y).mine.bits, 0, 0, count);
    HalfProducts halves(session, 0, strings);
    ProductBits products(session, strings);
    Strings offered, announced;
    in_steps(
        object_chunks(count), ahead,
        [&](const ObjectChunk& chunk) {
          offered.emplace(chunk.count);
          halves.offer(chunk, layer.x.view().part(chunk), layer.y.view().part(chunk), offered.back());
        },
        [&](const ObjectChunk& chunk) {
          halves.receive(chunk, layer.x.view().part(chunk), offered.front());
          products.announce(offered.front(), layer.z.view().part(chunk));
          announced.push(std::move(offered.front()));
          offered.pop();
        },
        [&](const ObjectChunk& chunk) {
          products.finish(announced.front(), layer.z.view().part(chunk));
          announced.pop();
        });
    compare_digests(session, "LaTriple", products.check_digest(), cheater);
  };
  made.outcomes = run_sessions([&](Session& outer) { with_key_for_triples(outer, seed, body); }, options_with(cheater, seed, deviation), false);
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
  for (const StringBits strings : kStrings) {
    for (const std::size_t count :
         {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{65}, kChunkObjects, kChunkObjects + 1, 3 * kChunkObjects}) {
      const Triples made = make_triples(strings, Party::A, count, no_deviation, count, count % 3);
      ASSERT_TRUE(both_done(made.outcomes));
      expect_good_triples(made, count);
    }
  }
}

TEST(LeakyTriple, SharesOfZAreBalanced) {
  for (const StringBits strings : kStrings) {
    const Triples made = make_triples(strings, Party::A, 1, no_deviation, 4096);
    for (const int party : {0, 1}) {
      for (std::size_t first = 0; first < 4096; first += 512) {
        int ones = 0;
        for (std::size_t j = first; j < first + 512; ++j) ones += made.of[party].z.mine.bits[j];
        EXPECT_LT(std::abs(ones - 256), 6 * 12) << first;
      }
    }
  }
}

// The other party uses G only where its x is 1: a wrong G is a guess at that bit, whichever of its bits is wrong, the lowest too.
TEST(LeakyTriple, AWrongGIsAGuessAtX) {
  for (const StringBits strings : kStrings) {
    const auto bits = static_cast<std::size_t>(strings);
    const std::size_t runs = bits + 64;
    for (const Party cheater : {Party::A, Party::B}) {
      const Party honest = peer_of(cheater);
      std::size_t caught = 0;
      for (std::uint64_t seed = 0; seed < runs; ++seed) {
        const std::size_t object = seed % kLeakyTriples, bit = seed % bits;
        const Triples made = make_triples(strings, cheater, seed, flip_bit("latriple.g", 0, bits * object + bit));
        const bool was_caught = caught_by(of(made.outcomes, honest), "EQ of LaTriple");
        EXPECT_EQ(was_caught, made.truth[static_cast<int>(honest)][0][object]) << seed;
        caught += was_caught;
        if (!was_caught) expect_good_triples(made, seed);
      }
      expect_half(caught, runs);
    }
  }
}

// One wrong G in each of two layers, whose orders are tossed when they are known to be good: the two attacked triples are one bucket if they
// meet.
TEST(LeakyTriple, AWholeBucketLeaksAsOftenAsTheBoundSays) {
  constexpr std::size_t l = kSegmentTriples, kBucket = 2, kAttackedOfLayer[kBucket] = {3, 77}, kRuns = repetitions(16000);
  std::size_t owned = 0;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    std::size_t meets = l;
    bool survived = true;
    for (std::size_t layer = 0; layer < kBucket; ++layer) {
      // What follows a layer that was caught is of no interest.
      if (!survived) break;
      const auto wrong_g = flip_bit("latriple.g", 0, 128 * kAttackedOfLayer[layer]);
      survived = both_done(make_triples(StringBits::Full, Party::A, kBucket * seed + layer, wrong_g, l).outcomes);
    }
    if (!survived) continue;
    run_sessions(
        [&](Session& session) {
          std::vector<LayerOrder> orders = toss_orders(session, kBucket, l, TripleCheck::Each);
          const LayerSegment segment = orders.at(0).next();
          if (session.me() == Party::A) meets = (segment.first + kAttackedOfLayer[0]) % l;
        },
        {.seed = seed});
    owned += meets == kAttackedOfLayer[1];
  }
  expect_as_likely(owned, kRuns, std::exp2(-layers_bound_bits(l, kBucket, TripleCheck::Each)));
}

TEST(LeakyTriple, AWrongDIsAlwaysFound) {
  for (const StringBits strings : kStrings)
    for (const Party cheater : {Party::A, Party::B})
      for (std::uint64_t seed = 0; seed < 20; ++seed)
        EXPECT_TRUE(
            caught_by(of(make_triples(strings, cheater, seed, flip_bit("latriple.d", 0, seed * 3 % kLeakyTriples)).outcomes, peer_of(cheater)),
                      "EQ of LaTriple"));
}

// A cheater that knows both global keys makes wrong triples: an error of Delta_A ^ Delta_B is what the check takes for a product.
TEST(LeakyTriple, AWrongProductCostsTheGlobalKey) {
  for (const StringBits strings : kStrings) {
    const auto bits = static_cast<std::size_t>(strings);
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      const Block delta = key_for_triples(Party::A, seed).value ^ key_for_triples(Party::B, seed).value;
      const auto add_delta = [&](std::string_view tag, std::size_t, std::vector<std::byte>& payload) {
        for (std::size_t bit = 0; tag == "latriple.g" && bit < bits; ++bit)
          if (bit_of(delta, bit)) payload.at(bit / 8) ^= std::byte{1} << (bit % 8);
      };
      const Triples made = make_triples(strings, Party::A, seed, add_delta);
      ASSERT_TRUE(both_done(made.outcomes));
      const auto z = [&](int party) { return made.of[party].z.mine.bits[0]; };
      const auto share = [&](int party, int i) { return made.truth[party][i][0]; };
      const bool product = (share(0, 0) ^ share(1, 0)) && (share(0, 1) ^ share(1, 1));
      EXPECT_EQ(z(0) ^ z(1) ^ product, share(1, 0)) << seed;
    }
  }
}

// Layers of a session hash apart: the same bits in another layer give other strings.
TEST(LeakyTriple, LayersHashApart) {
  SecretVector<Block> s[2];
  run_sessions([&](Session& outer) {
    with_key_for_triples(outer, 1, [&](Session& session) {
      TripleLayer layer = dealt_layer(session.me(), 64, 1);
      for (const std::uint64_t number : {0u, 1u}) {
        SecretVector<Block> strings(64);
        HalfProducts(session, number, StringBits::Full).offer({0, 64}, layer.x.view(), layer.y.view(), strings);
        HalfProducts(session, number, StringBits::Full).receive({0, 64}, layer.x.view(), strings);
        if (session.me() == Party::A) s[number] = std::move(strings);
      }
    });
  });
  for (std::size_t i = 0; i < 64; ++i) EXPECT_FALSE(same(s[0][i], s[1][i])) << i;
}

TEST(LeakyTriple, KeysThatDoNotFitAreOurBug) {
  const Outcomes outcomes = run_sessions(
      [&](Session& session) {
        PhaseLog log;
        Delta wrong = key_for_triples(session.me(), 1);
        wrong.value.lo ^= 1;
        Session other(session.me(), {session.id(), session.id()}, wrong, session.channel(), session.rng().fork(), log);
        HalfProducts(other, 0, StringBits::Full);
      },
      {}, false);
  EXPECT_EQ(outcomes.a.kind, Outcome::Kind::Other) << outcomes.a.message;
  EXPECT_EQ(outcomes.b.kind, Outcome::Kind::Other) << outcomes.b.message;
}

TEST(LeakyTriple, CostsWhatTheHeaderSays) {
  for (const StringBits strings : kStrings) {
    std::uint64_t sent[2] = {};
    make_triples(strings, Party::A, 1, [&](std::string_view tag, std::size_t, std::vector<std::byte>& payload) {
      if (tag == "latriple.g") sent[0] += payload.size();
      if (tag == "latriple.d") sent[1] += payload.size();
    });
    EXPECT_EQ(sent[0], (strings == StringBits::Full ? 16 : 8) * kLeakyTriples);
    EXPECT_EQ(sent[1], (kLeakyTriples + 7) / 8);
  }
}

}  // namespace
}  // namespace tinyot
