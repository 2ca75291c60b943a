// The deferred check, on dealt bits: one product bit and one comparison a bucket, what a wrong message costs there, and the algebra
// behind it.
#include <random>

#include "offline/auth_triple.h"
#include "tests/offline/dealt.h"
#include "tests/support/repetitions.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr std::size_t kTriples = 256, kTripleLayers = 3;
constexpr StringBits kDeferredStrings[] = {StringBits::Full, StringBits::Short};

// The orders that the tests fix beforehand, so that a cheater knows who will meet.
std::vector<LayerOrder> orders_of(std::uint64_t seed) {
  std::vector<LayerOrder> orders;
  for (std::size_t k = 1; k < kTripleLayers; ++k) orders.emplace_back(kTriples, TripleCheck::Deferred, Rng(Seed{{seed, k}}));
  return orders;
}

// For each bucket the triple of each layer that is in it.
std::vector<std::array<std::size_t, kTripleLayers>> buckets_of(std::uint64_t seed) {
  std::vector<std::array<std::size_t, kTripleLayers>> buckets(kTriples);
  for (std::size_t j = 0; j < kTriples; ++j) buckets[j][0] = j;
  auto orders = orders_of(seed);
  for (std::size_t k = 1; k < kTripleLayers; ++k) {
    for (std::size_t at = 0; at < kTriples; at += kSegmentTriples) {
      const LayerSegment segment = orders[k - 1].next();
      for (std::size_t i = 0; i < kSegmentTriples; ++i) buckets[at + i][k] = segment.first + segment.order[i];
    }
  }
  return buckets;
}

// What a cheater does: to its messages, and to its own layers before they are folded.
struct Cheat {
  Party cheater = Party::A;
  Deviation deviation = no_deviation;
  std::function<void(std::vector<TripleLayer>&)> alter_layers = [](std::vector<TripleLayer>&) {};
};

struct DeferredMade {
  TripleLayer of[2];
  std::vector<BitVector> x[2];  // of each layer, before it was folded
  Outcomes outcomes;
};

DeferredMade make(StringBits strings, std::uint64_t seed, const Cheat& cheat = {}) {
  DeferredMade made;
  const auto body = [&](Session& session) {
    const auto me = static_cast<int>(session.me());
    std::vector<TripleLayer> layers;
    const ObjectChunk all{0, kTriples};
    for (std::size_t k = 0; k < kTripleLayers; ++k) {
      TripleLayer& layer = layers.emplace_back(dealt_layer(session.me(), kTriples, seed, k));
      made.x[me].emplace_back(kTriples).copy_from(layer.x.mine.bits, 0, 0, kTriples);
      if (k > 0) layer.z = SharedBits();
      layer.s.resize(kTriples);
      HalfProducts(session, k, strings).offer(all, layer.x.view(), layer.y.view(), layer.s);
    }
    for (std::size_t k = 0; k < kTripleLayers; ++k) HalfProducts(session, k, strings).receive(all, layers[k].x.view(), layers[k].s);
    if (session.me() == cheat.cheater) cheat.alter_layers(layers);
    LayerFold fold(session, layers, orders_of(seed));
    fold.reveal(all);
    fold.fold_strings(all);
    ProductBits products(session, strings);
    products.announce(layers[0].s, layers[0].z.view());
    products.finish(layers[0].s, layers[0].z.view());
    compare_digests(session, "buckets", products.check_digest(), cheat.cheater);
    settle_transcripts(session);
    made.of[me] = std::move(layers[0]);
  };
  made.outcomes =
      run_sessions([&](Session& outer) { with_key_for_triples(outer, seed, body); }, options_with(cheat.cheater, seed, cheat.deviation), false);
  return made;
}

// Error e, of which as many bits count as the strings have, on triple `at` of a layer.
struct Error {
  std::size_t layer, at;
  Block e;
};

Deviation with_errors(StringBits strings, const std::vector<Error>& errors) {
  const auto bits = static_cast<std::size_t>(strings);
  return [=](std::string_view tag, std::size_t layer, std::vector<std::byte>& payload) {
    for (const Error& error : errors) {
      if (tag != "latriple.g" || layer != error.layer) continue;
      for (std::size_t bit = 0; bit < bits; ++bit)
        if (bit_of(error.e, bit)) payload.at((bits * error.at + bit) / 8) ^= std::byte{1} << (bit % 8);
    }
  };
}

TEST(DeferredCheck, HonestRunsGiveProducts) {
  for (const StringBits strings : kDeferredStrings) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const DeferredMade made = make(strings, seed);
      ASSERT_TRUE(both_done(made.outcomes));
      expect_products(made.of[0], made.of[1], seed);
      const auto buckets = buckets_of(seed);
      for (const int party : {0, 1}) {
        std::size_t ones = 0;
        for (std::size_t j = 0; j < kTriples; ++j) {
          bool x = false;
          for (std::size_t k = 0; k < kTripleLayers; ++k) x ^= made.x[party][k][buckets[j][k]];
          ASSERT_EQ(made.of[party].x.mine.bits[j], x) << j;
          ones += made.of[party].z.mine.bits[j];
        }
        EXPECT_LT(std::abs(static_cast<double>(ones) - kTriples / 2), 6 * 8);
      }
    }
  }
}

// Attacks on one bucket with wrong G: triples of some layers of it, under errors of the cheater's choice. `is_caught` foretells the
// outcome from the honest party's x of what was attacked, and `share` how often that is.
using Foretold = std::function<bool(const std::vector<bool>&)>;
void expect_caught(const std::vector<std::size_t>& layers, const std::vector<Block>& errors, const Foretold& is_caught, double share) {
  constexpr std::size_t kRuns = repetitions(64);
  for (const StringBits strings : kDeferredStrings) {
    for (const Party cheater : {Party::A, Party::B}) {
      const Party honest = peer_of(cheater);
      std::size_t caught = 0;
      for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
        const auto bucket = buckets_of(seed)[seed * 37 % kTriples];
        std::vector<Error> attack;
        for (std::size_t i = 0; i < layers.size(); ++i) attack.push_back({layers[i], bucket[layers[i]], errors[i]});
        const DeferredMade made = make(strings, seed, {.cheater = cheater, .deviation = with_errors(strings, attack)});
        std::vector<bool> x;
        for (const std::size_t layer : layers) x.push_back(made.x[static_cast<int>(honest)][layer][bucket[layer]]);
        const bool was_caught = caught_by(of(made.outcomes, honest), "EQ of buckets");
        EXPECT_EQ(was_caught, is_caught(x)) << seed;
        caught += was_caught;
        if (!was_caught) expect_products(made.of[0], made.of[1], seed);
      }
      EXPECT_LT(std::abs(static_cast<double>(caught) - kRuns * share), 5 * std::sqrt(kRuns * share * (1 - share))) << caught;
    }
  }
}

bool any(const std::vector<bool>& bits) { return std::find(bits.begin(), bits.end(), true) != bits.end(); }
bool parity(const std::vector<bool>& bits) { return std::count(bits.begin(), bits.end(), true) % 2 == 1; }

TEST(DeferredCheck, OneWrongGIsAGuessAtX) {
  for (std::size_t layer = 0; layer < kTripleLayers; ++layer)
    for (const Block e : {Block{1, 0}, Block{std::uint64_t{1} << 63, 0}}) expect_caught({layer}, {e}, any, 0.5);
}

TEST(DeferredCheck, EqualErrorsInABucketAreOneGuessAtTheParity) {
  const Block e{0x8000000000000003, 1};
  expect_caught({0, 1, 2}, {e, e, e}, parity, 0.5);
  expect_caught({0, 2}, {e, e}, parity, 0.5);
  expect_caught({1, 2}, {e, e}, parity, 0.5);
}

TEST(DeferredCheck, UnequalErrorsInABucketAreAGuessEach) {
  expect_caught({0, 1, 2}, {{1, 0}, {2, 0}, {4, 0}}, any, 7.0 / 8);
  expect_caught({0, 1}, {{1, 0}, {3, 0}}, any, 3.0 / 4);
}

// The third error is the sum of the others: they cancel where all three x are 1 too, so one coin fewer than errors.
TEST(DeferredCheck, DependentErrorsInABucketCostAsManyGuessesAsTheirRank) {
  expect_caught({0, 1, 2}, {{1, 0}, {2, 0}, {3, 0}}, [](const std::vector<bool>& x) { return !(x[0] == x[1] && x[1] == x[2]); }, 3.0 / 4);
}

// Equal errors in two buckets: a coin for each of them.
TEST(DeferredCheck, EqualErrorsInTwoBucketsAreTwoGuesses) {
  constexpr std::size_t kRuns = repetitions(96);
  std::size_t caught = 0;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    const auto buckets = buckets_of(seed);
    std::vector<Error> attack;
    for (const std::size_t j : {std::size_t{3}, std::size_t{200}})
      for (std::size_t k = 0; k < kTripleLayers; ++k) attack.push_back({k, buckets[j][k], {1, 0}});
    const DeferredMade made = make(StringBits::Full, seed, {.cheater = Party::A, .deviation = with_errors(StringBits::Full, attack)});
    bool odd = false;
    for (const std::size_t j : {std::size_t{3}, std::size_t{200}}) {
      bool x = false;
      for (std::size_t k = 0; k < kTripleLayers; ++k) x ^= made.x[1][k][buckets[j][k]];
      odd |= x;
    }
    const bool was_caught = caught_by(made.outcomes.b, "EQ of buckets");
    EXPECT_EQ(was_caught, odd) << seed;
    caught += was_caught;
  }
  EXPECT_LT(std::abs(static_cast<double>(caught) - 0.75 * kRuns), 5 * std::sqrt(kRuns * 3.0 / 16));
}

// An error of Delta_A ^ Delta_B is what the check takes for a product: a wrong z costs a guess of the honest party's key, as many bits of it
// as the strings have.
TEST(DeferredCheck, AWrongProductCostsTheGlobalKey) {
  for (const StringBits strings : kDeferredStrings) {
    std::size_t wrong = 0;
    for (std::uint64_t seed = 0; seed < 16; ++seed) {
      const std::size_t at = buckets_of(seed)[9][2];
      Block e = key_for_triples(Party::A, seed).value ^ key_for_triples(Party::B, seed).value;
      const DeferredMade made = make(strings, seed, {.cheater = Party::A, .deviation = with_errors(strings, {{2, at, e}})});
      ASSERT_TRUE(both_done(made.outcomes));
      const auto opened = [&](SharedBits TripleLayer::* column) { return (made.of[0].*column).mine.bits[9] != (made.of[1].*column).mine.bits[9]; };
      const bool is_wrong = opened(&TripleLayer::z) != (opened(&TripleLayer::x) && opened(&TripleLayer::y));
      EXPECT_EQ(is_wrong, made.x[1][2][at]) << seed;
      wrong += is_wrong;
      // One bit of the key guessed wrongly: found where x is 1.
      e.lo ^= std::uint64_t{1} << (1 + seed);
      EXPECT_EQ(caught_by(make(strings, seed, {.cheater = Party::A, .deviation = with_errors(strings, {{2, at, e}})}).outcomes.b, "EQ of buckets"),
                made.x[1][2][at]);
    }
    EXPECT_GT(wrong, 0u);
  }
}

TEST(DeferredCheck, AWrongProductBitIsAlwaysFound) {
  for (const StringBits strings : kDeferredStrings)
    for (const Party cheater : {Party::A, Party::B})
      for (std::uint64_t seed = 0; seed < 10; ++seed)
        EXPECT_TRUE(caught_by(
            of(make(strings, seed, {.cheater = cheater, .deviation = flip_bit("latriple.d", 0, seed * 29 % kTriples)}).outcomes, peer_of(cheater)),
            "EQ of buckets"));
}

// The comparison comes before the transcript, and a bit that was wrong on the wire only makes the strings differ.
TEST(DeferredCheck, ACombinerBitThatOnlyThePeerSeesIsFoundByTheComparison) {
  for (const Party cheater : {Party::A, Party::B})
    for (const std::size_t bit : {std::size_t{0}, kTriples - 1, kTriples, 2 * kTriples - 1})
      EXPECT_TRUE(caught_by(of(make(StringBits::Full, 1, {.cheater = cheater, .deviation = flip_bit("triple.d", 0, bit)}).outcomes, peer_of(cheater)),
                            "EQ of buckets"));
}

// A cheater that folds by its own wrong bit gets through the comparison, with a wrong product wherever the folded x is 1.
TEST(DeferredCheck, ACombinerBitThatBothFoldByIsFoundByTheMacTranscript) {
  for (const StringBits strings : kDeferredStrings)
    for (const Party cheater : {Party::A, Party::B})
      for (const std::size_t layer : {1u, 2u})
        for (std::uint64_t seed = 0; seed < 10; ++seed) {
          const auto alter = [&](std::vector<TripleLayer>& layers) {
            BitVector& y = layers[layer].y.mine.bits;
            const std::size_t at = seed * 25 % kTriples;
            y.put(at, !y[at]);
          };
          EXPECT_TRUE(caught_by(of(make(strings, seed, {.cheater = cheater, .alter_layers = alter}).outcomes, peer_of(cheater)), "MAC transcript"))
              << seed;
        }
}

TEST(DeferredCheck, CostsOneProductBitABucket) {
  std::uint64_t g = 0, product_bits = 0, combiner_bits = 0;
  const auto count = [&](std::string_view tag, std::size_t, std::vector<std::byte>& payload) {
    if (tag == "latriple.g") g += payload.size();
    if (tag == "latriple.d") product_bits += payload.size();
    if (tag == "triple.d") combiner_bits += payload.size();
  };
  make(StringBits::Short, 1, {.deviation = count});
  EXPECT_EQ(g, 8 * kTripleLayers * kTriples);
  EXPECT_EQ(product_bits, kTriples / 8);
  EXPECT_EQ(combiner_bits, (kTripleLayers - 1) * kTriples / 8);
}

// The same formulas on plain blocks, party by party, apart from the engine.
class Algebra : public testing::Test {
 protected:
  struct PlainBit {
    bool x;
    Block mac, key;  // the peer's key
  };
  // [x] = [x_A | x_B].
  struct PlainShare {
    PlainBit of[2];
    bool x() const { return of[0].x != of[1].x; }
    friend PlainShare operator^(const PlainShare& s, const PlainShare& t) {
      PlainShare sum;
      for (const int p : {0, 1}) sum.of[p] = {s.of[p].x != t.of[p].x, s.of[p].mac ^ t.of[p].mac, s.of[p].key ^ t.of[p].key};
      return sum;
    }
  };

  Block random_block() { return {engine_(), engine_()}; }
  bool random_bit() { return engine_() & 1; }
  // delta_[p] is what p checks its peer by.
  PlainShare random_share() {
    PlainShare share;
    for (const int p : {0, 1}) {
      const Block key = random_block();
      const bool x = random_bit();
      share.of[p] = {x, key ^ times(delta_[1 - p], x), key};
    }
    return share;
  }
  // m_P(x) = x_P.Delta^P ^ M[x_P] ^ K[x'].
  Block m(int p, const PlainShare& s) const { return times(delta_[p], s.of[p].x) ^ s.of[p].mac ^ s.of[1 - p].key; }
  // Any function will do for H.
  static Block h(Block in) {
    std::mt19937_64 engine(in.lo * 0x9E3779B97F4A7C15 ^ in.hi);
    return {engine(), engine()};
  }
  Block cut(Block s) const { return strings_ == StringBits::Short ? Block{s.lo, 0} : s; }
  Block delta() const { return cut(delta_[0] ^ delta_[1]); }

  struct Half {
    PlainShare x, y;
    Block s[2];
  };
  // Steps 1 to 3, errors[p] being added to p's G.
  Half half_product(const std::array<Block, 2>& errors = {}) {
    Half half{random_share(), random_share(), {}};
    Block g[2];
    for (const int p : {0, 1})
      g[p] = cut(h(half.x.of[1 - p].key) ^ h(half.x.of[1 - p].key ^ delta_[p]) ^ m(p, half.y)) ^ errors[static_cast<std::size_t>(p)];
    for (const int p : {0, 1})
      half.s[p] = cut(h(half.x.of[p].mac) ^ h(half.x.of[1 - p].key) ^ times(m(p, half.y), half.x.of[p].x)) ^ times(g[1 - p], half.x.of[p].x);
    return half;
  }
  Half folded(const std::vector<Half>& bucket) const {
    Half sum = bucket[0];
    for (std::size_t k = 1; k < bucket.size(); ++k) {
      const bool d = bucket[0].y.x() != bucket[k].y.x();
      for (const int p : {0, 1}) sum.s[p] ^= bucket[k].s[p] ^ cut(times(m(p, bucket[k].x), d));
      sum.x = sum.x ^ bucket[k].x;
    }
    return sum;
  }

  void for_each_setting(const std::function<void()>& body) {
    for (strings_ = StringBits::Full;; strings_ = StringBits::Short) {
      for (int i = 0; i < 500; ++i) {
        delta_[0] = random_block(), delta_[1] = random_block();
        delta_[0].lo &= ~std::uint64_t{1}, delta_[1].lo |= 1;
        body();
      }
      if (strings_ == StringBits::Short) return;
    }
  }

  std::mt19937_64 engine_{1};
  Block delta_[2];
  StringBits strings_ = StringBits::Full;
};

TEST_F(Algebra, TheMsOfABitAreSharesOfItsMultipleOfDelta) {
  for_each_setting([&] {
    const PlainShare x = random_share();
    EXPECT_TRUE(same(cut(m(0, x) ^ m(1, x)), times(delta(), x.x())));
  });
}

TEST_F(Algebra, FoldedStringsAreSharesOfTheProductOfTheFolded) {
  for_each_setting([&] {
    for (const std::size_t size : {1u, 2u, 3u, 6u}) {
      std::vector<Half> bucket;
      for (std::size_t k = 0; k < size; ++k) bucket.push_back(half_product());
      const Half sum = folded(bucket);
      ASSERT_TRUE(same(sum.s[0] ^ sum.s[1], times(delta(), sum.x.x() && sum.y.x())));
    }
  });
}

TEST_F(Algebra, OneProductBitABucketIsTheProductAndTheLsAreEqual) {
  for_each_setting([&] {
    const Half sum = folded({half_product(), half_product(), half_product()});
    PlainShare z = random_share();
    bool d[2];
    for (const int p : {0, 1}) d[p] = (sum.s[p].lo & 1) != z.of[p].x;
    for (const int p : {0, 1}) {
      z.of[p].x ^= d[p];
      z.of[p].key ^= times(delta_[1 - p], d[p]);
    }
    ASSERT_EQ(z.x(), sum.x.x() && sum.y.x());
    ASSERT_TRUE(same(sum.s[0] ^ cut(m(0, z)), sum.s[1] ^ cut(m(1, z))));
  });
}

TEST_F(Algebra, WrongGsAddUpByTheXOfTheirTriples) {
  for_each_setting([&] {
    std::vector<Half> bucket;
    Block expected{0, 0};
    for (std::size_t k = 0; k < 3; ++k) {
      const std::array<Block, 2> errors = {cut(random_block()), cut(random_block())};
      bucket.push_back(half_product(errors));
      for (const int p : {0, 1}) expected ^= times(errors[static_cast<std::size_t>(1 - p)], bucket[k].x.of[p].x);
    }
    const Half sum = folded(bucket);
    ASSERT_TRUE(same(sum.s[0] ^ sum.s[1], times(delta(), sum.x.x() && sum.y.x()) ^ expected));
  });
}

}  // namespace
}  // namespace tinyot
