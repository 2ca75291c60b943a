// Folding layers of triples, on dealt ones.
#include "offline/auth_triple.h"

#include "offline/steps.h"
#include "tests/offline/dealt.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr std::uint64_t kSeed = 1;
constexpr TripleCheck kChecks[] = {TripleCheck::Each, TripleCheck::Deferred};

// A layer of good triples: A's share of z makes z the product, A's S_P makes S_A ^ S_B = z.(Delta_A ^ Delta_B).
TripleLayer good_layer(Party me, std::size_t count, std::uint64_t number) {
  TripleLayer layer = dealt_layer(me, count, kSeed, number);
  Rng rng(Seed{{kSeed, number}});
  layer.s.resize(count);
  rng.fill_blocks(std::span(layer.s));
  if (me == Party::B) return layer;
  const TripleLayer peers = dealt_layer(Party::B, count, kSeed, number);
  const Block delta_a = key_for_triples(Party::A).value, delta_b = key_for_triples(Party::B).value;
  for (std::size_t j = 0; j < count; ++j) {
    const auto opened = [&](SharedBits TripleLayer::* column) { return (layer.*column).mine.bits[j] != (peers.*column).mine.bits[j]; };
    const bool product = opened(&TripleLayer::x) && opened(&TripleLayer::y);
    layer.s[j] ^= times(delta_a ^ delta_b, product);
    if (opened(&TripleLayer::z) == product) continue;
    layer.z.mine.bits.put(j, !layer.z.mine.bits[j]);
    layer.z.mine.macs[j].value ^= delta_b;
  }
  return layer;
}

enum class Fold { Bits, Strings };

struct Folded {
  TripleLayer of[2];
  Outcomes outcomes;
};

Folded fold(std::size_t count, std::size_t layers, TripleCheck check, Fold what, std::size_t chunk_size, Party cheater = Party::A,
            const Deviation& deviation = no_deviation) {
  Folded folded;
  const auto body = [&](Session& session) {
    std::vector<TripleLayer> own;
    for (std::size_t k = 0; k < layers; ++k) own.push_back(good_layer(session.me(), count, k));
    LayerFold fold(session, own, toss_orders(session, layers, count, check));
    in_steps(
        object_chunks(count, chunk_size), count / chunk_size % 3, [&](const ObjectChunk& chunk) { fold.reveal(chunk); },
        [&](const ObjectChunk& chunk) { what == Fold::Bits ? fold.fold(chunk) : fold.fold_strings(chunk); });
    settle_transcripts(session);
    folded.of[static_cast<int>(session.me())] = std::move(own[0]);
  };
  folded.outcomes = run_sessions([&](Session& outer) { with_key_for_triples(outer, kSeed, body); }, options_with(cheater, kSeed, deviation), false);
  return folded;
}

void expect_strings(const TripleLayer& of_a, const TripleLayer& of_b) {
  const Delta delta_a = key_for_triples(Party::A), delta_b = key_for_triples(Party::B);
  const auto x_a = checked_bits(of_a.x.mine, of_b.x.peers, delta_b), x_b = checked_bits(of_b.x.mine, of_a.x.peers, delta_a);
  const auto y_a = checked_bits(of_a.y.mine, of_b.y.peers, delta_b), y_b = checked_bits(of_b.y.mine, of_a.y.peers, delta_a);
  for (std::size_t j = 0; j < x_a.size(); ++j)
    ASSERT_TRUE(same(of_a.s[j] ^ of_b.s[j], times(delta_a.value ^ delta_b.value, (x_a[j] ^ x_b[j]) && (y_a[j] ^ y_b[j])))) << j;
}

TEST(AuthTriple, FoldedLayersAreProducts) {
  for (const TripleCheck check : kChecks) {
    for (const std::size_t count : {128u, 256u, 640u, 4096u + 128u}) {
      for (const std::size_t layers : {2u, 3u, 4u}) {
        for (const std::size_t chunk_size : {128u, 256u, 4096u}) {
          const Folded folded = fold(count, layers, check, Fold::Bits, chunk_size);
          ASSERT_TRUE(both_done(folded.outcomes));
          expect_products(folded.of[0], folded.of[1], kSeed);
        }
      }
    }
  }
}

TEST(AuthTriple, FoldedStringsAreSharesOfProducts) {
  for (const TripleCheck check : kChecks) {
    for (const std::size_t count : {128u, 640u, 4096u + 128u}) {
      for (const std::size_t layers : {2u, 4u}) {
        const Folded folded = fold(count, layers, check, Fold::Strings, 512);
        ASSERT_TRUE(both_done(folded.outcomes));
        expect_strings(folded.of[0], folded.of[1]);
      }
    }
  }
}

// So the MACs of all folded x sum up to those of all layers.
TEST(AuthTriple, EveryTripleOfEveryLayerIsFoldedInOnce) {
  const auto add = [](Block& sum, const TripleLayer& layer) {
    for (const Mac& mac : layer.x.mine.macs) sum ^= mac.value;
  };
  for (const TripleCheck check : kChecks) {
    for (const Fold what : {Fold::Bits, Fold::Strings}) {
      const Folded folded = fold(640, 3, check, what, 256);
      ASSERT_TRUE(both_done(folded.outcomes));
      for (const Party party : {Party::A, Party::B}) {
        Block sum{0, 0}, expected{0, 0};
        add(sum, folded.of[static_cast<int>(party)]);
        for (std::size_t k = 0; k < 3; ++k) add(expected, good_layer(party, 640, k));
        EXPECT_TRUE(same(sum, expected));
      }
    }
  }
}

TEST(AuthTriple, AWrongCombinerBitIsFound) {
  constexpr std::size_t kChunk = 128, kLayers = 3, kBits = (kLayers - 1) * kChunk;
  for (const TripleCheck check : kChecks)
    for (const Fold what : {Fold::Bits, Fold::Strings})
      for (const Party cheater : {Party::A, Party::B})
        for (const std::size_t chunk : {0u, 1u})
          for (const std::size_t bit : {std::size_t{0}, kChunk - 1, kChunk, kBits - 1})
            EXPECT_TRUE(caught_by(of(fold(256, kLayers, check, what, kChunk, cheater, flip_bit("triple.d", chunk, bit)).outcomes, peer_of(cheater)),
                                  "MAC transcript"))
                << chunk << ", " << bit;
}

TEST(AuthTriple, LayersOfDifferentSizesOrMissingOrdersAreOurBug) {
  const auto refused = [](std::size_t of_second, std::size_t orders) {
    const Outcomes outcomes = run_sessions(
        [&](Session& session) {
          std::vector<TripleLayer> layers;
          layers.push_back(dealt_layer(session.me(), 256, kSeed));
          layers.push_back(dealt_layer(session.me(), of_second, kSeed, 1));
          std::vector<LayerOrder> some;
          for (std::size_t k = 0; k < orders; ++k) some.emplace_back(256, TripleCheck::Each, Rng(Seed{{k, 0}}));
          LayerFold(session, layers, std::move(some));
        },
        {}, false);
    return outcomes.a.kind == Outcome::Kind::Other && outcomes.b.kind == Outcome::Kind::Other;
  };
  EXPECT_FALSE(refused(256, 1));
  EXPECT_TRUE(refused(128, 1));
  EXPECT_TRUE(refused(256, 0));
  EXPECT_TRUE(refused(256, 2));
}

TEST(AuthTriple, CostsWhatTheHeaderSays) {
  std::uint64_t sent = 0, messages = 0;
  fold(640, 3, TripleCheck::Each, Fold::Bits, 256, Party::A, [&](std::string_view tag, std::size_t, std::vector<std::byte>& payload) {
    if (tag != "triple.d") return;
    sent += payload.size();
    ++messages;
  });
  EXPECT_EQ(sent, 2 * 640 / 8);
  EXPECT_EQ(messages, 3u);
}

}  // namespace
}  // namespace tinyot
