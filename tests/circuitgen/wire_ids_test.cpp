#include "circuitgen/wire_ids.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "tests/support/layers.h"

namespace tinyot {
namespace {

TEST(WireIds, LiveIdsAreDistinctAndSmall) {
  std::mt19937_64 rng(1);
  WireIds ids;
  std::set<WireId> live;
  std::size_t most = 0;
  for (int i = 0; i < 200000; ++i) {
    if (live.size() < 3000 && (live.empty() || rng() % 2 == 0)) {
      const WireId id = ids.take();
      ASSERT_TRUE(live.insert(id).second) << id;
      ASSERT_LT(id, ids.limit());
      most = std::max(most, live.size());
    } else {
      auto victim = live.lower_bound(rng() % ids.limit());
      if (victim == live.end()) victim = live.begin();
      ids.release(*victim);
      live.erase(victim);
    }
  }
  EXPECT_LE(ids.limit(), most + most / 2 + 128);
}

TEST(WireIds, ConsecutiveIdsAreAdjacent) {
  WireIds ids;
  std::vector<WireId> made;
  for (int i = 0; i < 1000; ++i) made.push_back(ids.take());
  EXPECT_TRUE(std::ranges::is_sorted(made));
  EXPECT_LE(made.back(), 1250u);
  for (std::size_t i = 0; i < made.size(); i += 2) ids.release(made[i]);
  WireId last = ids.take();
  int descents = 0;
  for (int i = 0; i < 400; ++i) {
    const WireId id = ids.take();
    descents += id < last;
    last = id;
  }
  EXPECT_LE(descents, 1);
}

TEST(WireTable, RejectsWiresThatAreNotLive) {
  struct Record {
    int value = 0;
    bool live = false;

    bool is_live() const { return live; }
    void set_live() { live = true; }
  };
  WireTable<Record> table;
  EXPECT_THROW(table.at(0), std::logic_error);
  table.make(5, {50});
  EXPECT_EQ(table.at(5).value, 50);
  EXPECT_THROW(table.make(5, {}), std::logic_error);
  EXPECT_THROW(table.at(4), std::logic_error);
  EXPECT_EQ(table.free(5).value, 50);
  EXPECT_THROW(table.at(5), std::logic_error);
  EXPECT_THROW(table.free(5), std::logic_error);
  table.make(5, {52});
  table.make(100000, {53});
  EXPECT_EQ(table.at(5).value, 52);
  EXPECT_THROW(table.make(kWireIdMax, {}), std::logic_error);
}

}  // namespace
}  // namespace tinyot
