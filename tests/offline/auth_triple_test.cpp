// The fold of layers of triples, on dealt layers.
#include "offline/triples/auth_triple.h"

#include "offline/unit/steps.h"
#include "tests/offline/dealt.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr std::uint64_t kSeed = 1;
using Shifts = std::vector<std::size_t>;

// A layer of correct triples: A's share of z makes z the product.
TripleLayer correct_layer(Party me, std::size_t count, std::uint64_t number) {
  TripleLayer layer = dealt_layer(me, count, kSeed, number);
  if (me == Party::B) return layer;
  const TripleLayer peers = dealt_layer(Party::B, count, kSeed, number);
  const Block delta_b = key_for_triples(Party::B).value;
  for (std::size_t j = 0; j < count; ++j) {
    const auto opened = [&](SharedColumn TripleLayer::*column) {
      return (layer.*column).mine.bits[j] != (peers.*column).mine.bits[j];
    };
    if (opened(&TripleLayer::z) == (opened(&TripleLayer::x) && opened(&TripleLayer::y))) continue;
    layer.z.mine.bits.put(j, !layer.z.mine.bits[j]);
    layer.z.mine.macs[j].value ^= delta_b;
  }
  return layer;
}

struct Folded {
  TripleLayer of[2];
  Outcomes outcomes;
};

// Layer k is shifted by shifts[k - 1].
Folded fold(std::size_t count, const Shifts& shifts, std::size_t chunk_size,
            Party cheater = Party::A, const Deviation& deviation = no_deviation) {
  Folded folded;
  const auto body = [&](Session& session) {
    std::vector<TripleLayer> own;
    for (std::size_t k = 0; k <= shifts.size(); ++k)
      own.push_back(correct_layer(session.me(), count, k));
    LayerFold fold(session, own, shifts);
    run_pipeline(
        object_chunks(count, chunk_size), count / chunk_size % 3,
        [&](const ObjectChunk& chunk) { fold.reveal(chunk); },
        [&](const ObjectChunk& chunk) { fold.fold(chunk); });
    settle_transcripts(session);
    folded.of[static_cast<int>(session.me())] = std::move(own[0]);
  };
  folded.outcomes = run_sessions([&](Session& outer) { with_key_for_triples(outer, kSeed, body); },
                                 options_with(cheater, kSeed, deviation), false);
  return folded;
}

// With shifts at the edges of words, chunks and layers.
TEST(AuthTriple, FoldedLayersAreProducts) {
  for (const std::size_t count : {128u, 256u, 640u, 4096u + 128u})
    for (const Shifts& shifts :
         {Shifts{0}, {1}, {63, 64}, {count - 1, 65, 127}, {count - 64, count / 2, count - 65}})
      for (const std::size_t chunk_size : {128u, 256u, 4096u}) {
        const Folded folded = fold(count, shifts, chunk_size);
        ASSERT_TRUE(both_done(folded.outcomes));
        expect_products(folded.of[0], folded.of[1], kSeed);
      }
}

TEST(AuthTriple, CombinesTripleJWithTheTripleAtTheShift) {
  constexpr std::size_t kCount = 640;
  const Shifts shifts = {5, 600};
  const Folded folded = fold(kCount, shifts, 256);
  ASSERT_TRUE(both_done(folded.outcomes));
  for (const Party party : {Party::A, Party::B}) {
    const TripleLayer layers[] = {correct_layer(party, kCount, 0), correct_layer(party, kCount, 1),
                                  correct_layer(party, kCount, 2)};
    const TripleLayer& made = folded.of[static_cast<int>(party)];
    for (std::size_t j = 0; j < kCount; ++j) {
      const std::size_t first = (j + shifts[0]) % kCount, second = (j + shifts[1]) % kCount;
      ASSERT_EQ(made.x.mine.bits[j], layers[0].x.mine.bits[j] ^ layers[1].x.mine.bits[first] ^
                                         layers[2].x.mine.bits[second])
          << j;
      ASSERT_TRUE(same(made.x.mine.macs[j].value, layers[0].x.mine.macs[j].value ^
                                                      layers[1].x.mine.macs[first].value ^
                                                      layers[2].x.mine.macs[second].value))
          << j;
      ASSERT_EQ(made.y.mine.bits[j], layers[0].y.mine.bits[j]) << j;
    }
  }
}

// Then the sum of the MACs of all folded x equals that of all layers.
TEST(AuthTriple, FoldsEveryTripleOfEveryLayerOnce) {
  const auto add = [](Block& sum, const TripleLayer& layer) {
    for (const Mac& mac : layer.x.mine.macs) sum ^= mac.value;
  };
  for (const Shifts& shifts : {Shifts{0, 639}, {130, 511}}) {
    const Folded folded = fold(640, shifts, 256);
    ASSERT_TRUE(both_done(folded.outcomes));
    for (const Party party : {Party::A, Party::B}) {
      Block sum{0, 0}, expected{0, 0};
      add(sum, folded.of[static_cast<int>(party)]);
      for (std::size_t k = 0; k < 3; ++k) add(expected, correct_layer(party, 640, k));
      EXPECT_TRUE(same(sum, expected));
    }
  }
}

TEST(AuthTriple, DetectsWrongCombinerBit) {
  constexpr std::size_t kChunk = 128;
  const Shifts shifts = {77, 200};
  const std::size_t bits = shifts.size() * kChunk;
  for (const Party cheater : {Party::A, Party::B})
    for (const std::size_t chunk : {0u, 1u})
      for (const std::size_t bit : {std::size_t{0}, kChunk - 1, kChunk, bits - 1})
        EXPECT_TRUE(caught_by(
            of(fold(256, shifts, kChunk, cheater, flip_bit("triple.d", chunk, bit)).outcomes,
               peer_of(cheater)),
            "MAC transcript"))
            << chunk << ", " << bit;
}

TEST(AuthTriple, LayersOfDifferentSizesOrMissingShiftsFailEnsure) {
  const auto refused = [](std::size_t of_second, const Shifts& shifts) {
    const Outcomes outcomes = run_sessions(
        [&](Session& session) {
          std::vector<TripleLayer> layers;
          layers.push_back(dealt_layer(session.me(), 256, kSeed));
          layers.push_back(dealt_layer(session.me(), of_second, kSeed, 1));
          LayerFold(session, layers, shifts);
        },
        {}, false);
    return outcomes.a.kind == Outcome::Kind::Other && outcomes.b.kind == Outcome::Kind::Other;
  };
  EXPECT_FALSE(refused(256, {255}));
  EXPECT_TRUE(refused(128, {0}));
  EXPECT_TRUE(refused(256, {}));
  EXPECT_TRUE(refused(256, {0, 0}));
  EXPECT_TRUE(refused(256, {256}));
}

TEST(AuthTriple, MatchesTheDocumentedCost) {
  std::uint64_t sent = 0, messages = 0;
  fold(640, {9, 99}, 256, Party::A,
       [&](std::string_view tag, std::size_t, std::vector<std::byte>& payload) {
         if (tag != "triple.d") return;
         sent += payload.size();
         ++messages;
       });
  EXPECT_EQ(sent, 2 * 640 / 8);
  EXPECT_EQ(messages, 3u);
}

}  // namespace
}  // namespace tinyot
