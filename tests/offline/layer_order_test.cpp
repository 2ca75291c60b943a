// Orders of layers: every triple once, uniformly, as the two kinds of order are defined.
#include "offline/layer_order.h"

#include <algorithm>
#include <set>

#include "tests/crypto/statistics.h"
#include "tests/offline/dealt.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr std::size_t kSizes[] = {128, 256, 640, 4096 + 128};
constexpr TripleCheck kOrderChecks[] = {TripleCheck::Each, TripleCheck::Deferred};

LayerOrder order_of(std::size_t size, TripleCheck check, std::uint64_t seed) { return LayerOrder(size, check, Rng(Seed{{seed, size}})); }

// Where in its layer a segment's triple i is, by the definition.
std::size_t place(const LayerSegment& segment, std::size_t size, std::size_t i) {
  return segment.permuted ? segment.first + segment.order[i] : (segment.first + i) % size;
}

// The whole order: the triple of layer k that meets each one of layer 0.
std::vector<std::size_t> walk(LayerOrder& order, std::size_t size) {
  std::vector<std::size_t> places;
  for (std::size_t at = 0; at < size; at += kSegmentTriples) {
    const LayerSegment segment = order.next();
    for (std::size_t i = 0; i < kSegmentTriples; ++i) places.push_back(place(segment, size, i));
  }
  return places;
}

void expect_all_once(std::vector<std::size_t> places) {
  std::sort(places.begin(), places.end());
  for (std::size_t i = 0; i < places.size(); ++i) ASSERT_EQ(places[i], i);
}

TEST(LayerOrder, VisitsEveryTripleOnce) {
  for (const TripleCheck check : kOrderChecks)
    for (const std::size_t size : kSizes)
      for (std::uint64_t seed = 0; seed < 50; ++seed) {
        LayerOrder order = order_of(size, check, seed);
        expect_all_once(walk(order, size));
      }
}

TEST(LayerOrder, WhereEachTripleIsCheckedItIsACyclicShift) {
  for (const std::size_t size : kSizes) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      LayerOrder order = order_of(size, TripleCheck::Each, seed);
      const auto places = walk(order, size);
      for (std::size_t j = 0; j < size; ++j) ASSERT_EQ(places[j], (places[0] + j) % size);
    }
  }
}

TEST(LayerOrder, EveryCyclicShiftIsAsLikely) {
  for (const std::size_t size : {128u, 384u}) {
    std::vector<double> seen(size);
    for (std::uint64_t seed = 0; seed < 400 * size; ++seed) ++seen[order_of(size, TripleCheck::Each, seed).next().first];
    EXPECT_LT(chi_square(seen), chi_square_bound(size));
  }
}

TEST(LayerOrder, WhereTheCheckIsDeferredWholeSegmentsAreShifted) {
  for (const std::size_t size : kSizes) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      LayerOrder order = order_of(size, TripleCheck::Deferred, seed);
      const auto places = walk(order, size);
      for (std::size_t j = 0; j < size; ++j)
        ASSERT_EQ(places[j] / kSegmentTriples, (places[0] / kSegmentTriples + j / kSegmentTriples) % (size / kSegmentTriples));
    }
  }
}

TEST(LayerOrder, EveryShiftOfSegmentsIsAsLikely) {
  for (const std::size_t segments : {2u, 3u, 33u}) {
    std::vector<double> seen(segments);
    for (std::uint64_t seed = 0; seed < 200 * segments; ++seed) {
      const std::size_t first = order_of(segments * kSegmentTriples, TripleCheck::Deferred, seed).next().first;
      ASSERT_EQ(first % kSegmentTriples, 0u);
      ++seen[first / kSegmentTriples];
    }
    EXPECT_LT(chi_square(seen), chi_square_bound(segments)) << segments;
  }
}

// The segments of one order, one after the other, so that bytes left over from one shuffle would show in the next.
TEST(LayerOrder, EveryTripleOfASegmentIsAsLikelyToBeAnywhereInIt) {
  constexpr std::size_t kShuffles = 25600;
  LayerOrder order = order_of(640, TripleCheck::Deferred, 1);
  std::vector<std::vector<double>> seen(kSegmentTriples, std::vector<double>(kSegmentTriples));
  for (std::size_t i = 0; i < kShuffles; ++i) {
    const LayerSegment segment = order.next();
    for (std::size_t at = 0; at < kSegmentTriples; ++at) ++seen[segment.order[at]][at];
  }
  for (std::size_t triple = 0; triple < kSegmentTriples; ++triple) EXPECT_LT(chi_square(seen[triple]), chi_square_bound(kSegmentTriples)) << triple;
}

// What the deferred check needs beyond that: two triples of a segment are as likely to have any distance, wherever they were.
TEST(LayerOrder, TwoTriplesOfASegmentAreAsLikelyToBeAnyDistanceApart) {
  LayerOrder order = order_of(128, TripleCheck::Deferred, 2);
  for (const std::size_t other : {1u, 64u, 127u}) {
    std::vector<double> seen(kSegmentTriples - 1);
    for (std::size_t i = 0; i < 100 * kSegmentTriples; ++i) {
      const LayerSegment segment = order.next();
      std::size_t at[2] = {};
      for (std::size_t j = 0; j < kSegmentTriples; ++j)
        if (segment.order[j] == 0 || segment.order[j] == other) at[segment.order[j] == 0 ? 0 : 1] = j;
      ++seen[(at[1] + kSegmentTriples - at[0]) % kSegmentTriples - 1];
    }
    EXPECT_LT(chi_square(seen), chi_square_bound(seen.size())) << other;
  }
}

TEST(LayerOrder, SegmentsArePermutedIndependently) {
  LayerOrder order = order_of(256, TripleCheck::Deferred, 3);
  std::vector<double> same_place(2);
  for (std::size_t i = 0; i < 2000; ++i) {
    const LayerSegment first = order.next(), second = order.next();
    EXPECT_NE(first.order, second.order);
    for (std::size_t j = 0; j < kSegmentTriples; ++j) ++same_place[first.order[j] == second.order[j] ? 0 : 1];
  }
  // One fixed place in two permutations in expectation.
  EXPECT_LT(std::abs(same_place[0] - 2000), 6 * std::sqrt(2000));
}

TEST(LayerOrder, WordsAndBitsOfAColumnAreWhatTheDefinitionSays) {
  for (const TripleCheck check : kOrderChecks) {
    for (const std::size_t size : kSizes) {
      Rng rng(Seed{{size, 7}});
      SecretVector<Block> column(size);
      rng.fill_blocks(std::span(column));
      const BitVector bits = rng.bits(size);
      bool wraps = false;
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        LayerOrder order = order_of(size, check, seed);
        for (std::size_t at = 0; at < size; at += kSegmentTriples) {
          const LayerSegment segment = order.next();
          wraps |= segment.first + kSegmentTriples > size;
          std::array<Block, kSegmentTriples> buffer;
          const Block* words = segment.words_of<Block>(column, buffer);
          std::array<std::uint64_t, kSegmentTriples / 64> some{~std::uint64_t{0}, 0};
          segment.bits_of(bits, some);
          for (std::size_t i = 0; i < kSegmentTriples; ++i) {
            ASSERT_TRUE(same(words[i], column[place(segment, size, i)])) << i;
            ASSERT_EQ(get_bit(some, i), bits[place(segment, size, i)]) << i;
          }
        }
      }
      EXPECT_EQ(wraps, check == TripleCheck::Each) << "the walk around the end is what a shift has and whole segments have not";
    }
  }
}

// Every shift of one size, so every split of a word at the end of the column.
TEST(LayerOrder, EveryShiftWrapsAroundAtTheRightBit) {
  constexpr std::size_t kSize = 256;
  Rng rng(Seed{{1, 7}});
  const BitVector bits = rng.bits(kSize);
  for (std::size_t first = 0; first < kSize; ++first) {
    const LayerSegment segment{first, false, {}};
    std::array<std::uint64_t, kSegmentTriples / 64> some{};
    segment.bits_of(bits, some);
    for (std::size_t i = 0; i < kSegmentTriples; ++i) ASSERT_EQ(get_bit(some, i), bits[(first + i) % kSize]) << first << ", " << i;
  }
}

TEST(LayerOrder, ASizeThatIsNoWholeNumberOfSegmentsIsOurBug) {
  for (const std::size_t size : {0u, 1u, 127u, 129u, 192u}) EXPECT_THROW(order_of(size, TripleCheck::Each, 1), std::logic_error) << size;
}

using Walks = std::vector<std::vector<std::size_t>>;

Walks toss(Session& session, std::size_t layers, std::size_t size, TripleCheck check) {
  Walks walks;
  for (LayerOrder& order : toss_orders(session, layers, size, check)) walks.push_back(walk(order, size));
  return walks;
}

TEST(TossedOrders, AreTheSameForBothAndOthersForEachLayerAndToss) {
  constexpr std::size_t kLayers = 4, kTosses = 5, kSize = 4096 + 128;
  for (const TripleCheck check : kOrderChecks) {
    Walks of[2];
    run_sessions([&](Session& session) {
      for (std::size_t i = 0; i < kTosses; ++i)
        for (auto& places : toss(session, kLayers, kSize, check)) of[static_cast<int>(session.me())].push_back(std::move(places));
    });
    EXPECT_EQ(of[0].size(), kTosses * (kLayers - 1));
    EXPECT_EQ(of[0], of[1]);
    EXPECT_EQ(std::set(of[0].begin(), of[0].end()).size(), of[0].size());
  }
}

TEST(TossedOrders, EveryShiftIsAsLikelyForEachLayer) {
  constexpr std::size_t kTosses = 2000;
  std::vector<double> seen[2] = {std::vector<double>(128), std::vector<double>(128)}, apart(128);
  run_sessions([&](Session& session) {
    for (std::size_t i = 0; i < kTosses; ++i) {
      auto orders = toss_orders(session, 3, 128, TripleCheck::Each);
      const std::size_t first = orders[0].next().first, second = orders[1].next().first;
      if (session.me() == Party::B) continue;
      ++seen[0][first], ++seen[1][second], ++apart[(second + 128 - first) % 128];
    }
  });
  for (const auto& shifts : {seen[0], seen[1], apart}) EXPECT_LT(chi_square(shifts), chi_square_bound(128));
}

TEST(TossedOrders, ATossThatIsAlteredIsFound) {
  for (const char* tag : {"coin_toss.commitment", "coin_toss.opening"}) {
    const Outcomes outcomes = run_sessions([&](Session& session) { toss_orders(session, 3, 256, TripleCheck::Deferred); },
                                           options_with(Party::A, 1, flip_bit(tag, 0, 7)), false);
    EXPECT_TRUE(caught_by(outcomes.b, "coin toss")) << tag;
  }
}

}  // namespace
}  // namespace tinyot
