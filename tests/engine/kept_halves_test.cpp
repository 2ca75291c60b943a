#include "engine/kept_halves.h"

#include <gtest/gtest.h>

namespace tinyot::test {
namespace {

using engine::KeptHalves;
using storage::Half;
using storage::Halves;

constexpr auto kKind = static_cast<std::uint32_t>(MaterialKind::Triples);

Halves listed(std::uint64_t first_batch, std::uint64_t end_batch, std::uint64_t unlocked) {
  Halves halves;
  halves.unlocked[MaterialKind::Triples] = unlocked;
  for (std::uint64_t batch = first_batch; batch < end_batch; ++batch)
    halves.of.push_back({.first = 100 * batch, .count = 100, .kind = kKind, .tag = {}});
  return halves;
}

std::vector<std::uint64_t> kept_of(const Halves& mine, const Halves& peers) {
  Halves kept{peers.unlocked, {}};
  KeptHalves halves(mine, kept);
  for (const Half& half : peers.of) halves.add(half);
  std::vector<std::uint64_t> firsts;
  for (const Half& half : kept.of) firsts.push_back(half.first);
  return firsts;
}

TEST(KeptHalves, AreThoseOfThisPartysBatches) {
  EXPECT_EQ(kept_of(listed(2, 5, 200), listed(2, 5, 200)),
            (std::vector<std::uint64_t>{200, 300, 400}));
}

TEST(KeptHalves, OfBatchesThatAPartyHasCutOrDroppedAreNotNeeded) {
  EXPECT_EQ(kept_of(listed(3, 5, 300), listed(2, 5, 200)), (std::vector<std::uint64_t>{300, 400}));
  EXPECT_EQ(kept_of(listed(2, 5, 200), listed(3, 5, 300)), (std::vector<std::uint64_t>{300, 400}));
}

TEST(KeptHalves, FirstForeignOneIsKeptToBeRefused) {
  EXPECT_EQ(kept_of(listed(2, 4, 200), listed(2, 6, 200)),
            (std::vector<std::uint64_t>{200, 300, 400}));
  Halves cut = listed(2, 4, 200);
  cut.of[1].count = 99;
  EXPECT_EQ(kept_of(listed(2, 4, 200), cut), (std::vector<std::uint64_t>{200, 300}));
  Halves of_no_kind = listed(2, 3, 200);
  of_no_kind.of[0].kind = kMaterialKinds;
  EXPECT_EQ(kept_of(listed(2, 3, 200), of_no_kind), (std::vector<std::uint64_t>{200}));
}

// As many as a peer may send: nothing grows with them.
TEST(KeptHalves, AreAtMostThisPartysAndOne) {
  const Halves mine = listed(2, 4, 200);
  Halves kept{mine.unlocked, {}};
  KeptHalves halves(mine, kept);
  for (std::uint64_t i = 0; i < 1'000'000; ++i) {
    halves.add(mine.of[i % 2]);
    halves.add({.first = i, .count = 1, .kind = static_cast<std::uint32_t>(i % 9), .tag = {}});
  }
  EXPECT_LE(kept.of.size(), mine.of.size() + 1);
}

}  // namespace
}  // namespace tinyot::test
