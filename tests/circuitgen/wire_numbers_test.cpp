#include "circuitgen/wire_numbers.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <unordered_map>

namespace tinyot {
namespace {

TEST(WireNumbers, AgreeWithAnUnorderedMapUnderRandomUse) {
  std::mt19937_64 rng(1);
  for (const std::uint64_t gap : {1ull, 3ull, 200ull, 1ull << 40}) {
    WireNumbers numbers;
    std::unordered_map<WireId, WireNumber> expected;
    std::vector<WireId> live;
    WireId next = 0;
    for (int step = 0; step < 700000; ++step) {
      if (rng() % 100 < 52 || live.empty()) {
        next += rng() % gap;
        expected[next] = numbers.add(next);
        live.push_back(next++);
      } else {
        // Mostly young wires die, so that a few grow old.
        const std::size_t young = live.size() - 1 - rng() % std::min<std::size_t>(live.size(), 8);
        const std::size_t at = rng() % 10 == 0 ? rng() % live.size() : young;
        const WireId id = live[at];
        ASSERT_EQ(numbers.number_of(id), expected.at(id));
        ASSERT_EQ(numbers.forget(id), expected.at(id));
        numbers.recycle(expected.at(id));
        expected.erase(id);
        live[at] = live.back();
        live.pop_back();
      }
    }
    std::set<WireNumber> distinct;
    for (const auto& [id, number] : expected) {
      ASSERT_EQ(numbers.number_of(id), number);
      distinct.insert(number);
    }
    EXPECT_EQ(distinct.size(), expected.size());
  }
}

TEST(WireNumbers, StayFewWhileIdsPassByLongLivedWires) {
  WireNumbers numbers;
  for (WireId id = 0; id < 1000; ++id) numbers.add(id);
  for (WireId id = 1000; id < 3000000; ++id) {
    numbers.add(id);
    numbers.recycle(numbers.forget(id));
  }
  EXPECT_LE(numbers.limit(), 1300u);
  for (WireId id = 0; id < 1000; ++id) EXPECT_LT(numbers.number_of(id), numbers.limit());
}

TEST(WireNumbers, RefuseWhatIsNotThere) {
  WireNumbers numbers;
  EXPECT_THROW(numbers.number_of(0), std::logic_error);
  numbers.add(7);
  EXPECT_THROW(numbers.add(7), std::logic_error);
  EXPECT_THROW(numbers.add(3), std::logic_error);
  EXPECT_THROW(numbers.number_of(6), std::logic_error);
  numbers.forget(7);
  EXPECT_THROW(numbers.number_of(7), std::logic_error);
  EXPECT_THROW(numbers.forget(7), std::logic_error);
  EXPECT_THROW(numbers.add(~WireId{0}), std::logic_error);
}

}  // namespace
}  // namespace tinyot
