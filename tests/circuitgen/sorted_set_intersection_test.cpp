// Intersection of sorted lists, and its compaction: compared with plain references.
#include "circuitgen/generators/sorted_set_intersection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <iterator>

#include "circuitgen/cost.h"
#include "circuitgen/generators/compaction.h"
#include "circuitgen/generators/registry.h"
#include "circuits.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using Numbers = std::vector<std::uint64_t>;

BitVector packed(const Numbers& numbers, std::size_t bits) {
  BitVector value(numbers.size() * bits);
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    for (std::size_t i = 0; i < bits; ++i) value.put(k * bits + i, ((numbers[k] >> i) & 1) != 0);
  }
  return value;
}

Numbers unpacked(const BitVector& value, std::size_t bits) {
  Numbers numbers(value.size() / bits);
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    for (std::size_t i = 0; i < bits; ++i) numbers[k] |= std::uint64_t{value[k * bits + i]} << i;
  }
  return numbers;
}

struct Lists {
  Numbers a, b;
};

// Lists of one length.
void expect_intersections(const std::vector<Lists>& lanes, std::size_t bits) {
  const std::size_t count = lanes[0].a.size();
  const auto circuit = find_circuit("sorted_set_intersection:count=" + std::to_string(count) +
                                    ",bits=" + std::to_string(bits));
  std::vector<LaneValues> inputs(2);
  for (const Lists& lists : lanes) {
    inputs[0].push_back(packed(lists.a, bits));
    inputs[1].push_back(packed(lists.b, bits));
  }
  const std::vector<LaneValues> outputs = evaluate(*circuit, lanes.size(), inputs);
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    const auto& [a, b] = lanes[lane];
    const bool in_order = std::ranges::is_sorted(a) && std::ranges::is_sorted(b);
    Numbers common;
    if (in_order) {
      std::ranges::set_intersection(a, b, std::back_inserter(common));
      common.erase(std::unique(common.begin(), common.end()), common.end());
    }
    EXPECT_EQ(outputs[0][lane][0], in_order);
    EXPECT_EQ(unpacked(outputs[1][lane], outputs[1][lane].size())[0], common.size());
    common.resize(count);
    EXPECT_EQ(unpacked(outputs[2][lane], bits), common) << count << " " << bits;
  }
}

Numbers random_sorted(std::size_t count, std::uint64_t bound, std::mt19937_64& rng) {
  Numbers numbers(count);
  for (std::uint64_t& number : numbers) number = bound == 0 ? rng() : rng() % bound;
  std::ranges::sort(numbers);
  return numbers;
}

// From lists with many repetitions to lists with few common numbers.
TEST(SortedSetIntersection, AgreesWithStdOnRandomLists) {
  std::mt19937_64 rng(41);
  for (const std::size_t count : {1, 2, 3, 4, 5, 6, 7, 8, 13, 16, 31, 33, 100}) {
    std::vector<Lists> lanes;
    for (const std::uint64_t bound : {std::uint64_t{2}, std::uint64_t{count}, 2 * count + 1,
                                      4 * count + 2, std::uint64_t{1} << 32}) {
      for (std::size_t k = 0; k < 14; ++k)
        lanes.push_back({random_sorted(count, bound, rng), random_sorted(count, bound, rng)});
    }
    expect_intersections(lanes, 33);
  }
}

// All pairs of sorted lists of three numbers of two bits.
TEST(SortedSetIntersection, AgreesWithStdOnAllSmallLists) {
  std::vector<Numbers> lists;
  for (std::uint64_t x = 0; x < 64; ++x) lists.push_back({x & 3, x >> 2 & 3, x >> 4 & 3});
  std::vector<Lists> lanes;
  for (const Numbers& a : lists) {
    for (const Numbers& b : lists) lanes.push_back({a, b});
  }
  expect_intersections(lanes, 2);
}

TEST(SortedSetIntersection, HandlesExtremeLists) {
  const std::uint64_t top = 0xffffffff;
  const Numbers zeros(8, 0), tops(8, top), low = {0, 1, 2, 3, 4, 5, 6, 7},
                                           high = {8, 9, 10, 11, 12, 13, 14, top},
                                           ends = {0, 0, 0, 5, 6, top, top, top};
  expect_intersections({{zeros, zeros},
                        {tops, tops},
                        {zeros, tops},
                        {low, low},
                        {low, high},
                        {high, low},
                        {ends, ends},
                        {ends, zeros},
                        {tops, ends},
                        {high, ends}},
                       32);
}

// Neither list reveals a part of the intersection if the other one is not in order.
TEST(SortedSetIntersection, OutputsNothingIfAListIsNotInOrder) {
  const Numbers sorted = {1, 2, 3, 4, 5}, swapped = {1, 2, 3, 5, 4}, descending = {5, 4, 3, 2, 1},
                first = {2, 1, 3, 4, 5};
  expect_intersections({{swapped, sorted},
                        {sorted, swapped},
                        {descending, sorted},
                        {sorted, first},
                        {first, first},
                        {sorted, sorted}},
                       3);
}

// n log2 n + 1 comparators of w + 1 bits, of which the first n have a public owner; orders; pairs;
// marks; and the compaction.
TEST(SortedSetIntersection, MatchesTheDocumentedCost) {
  for (const std::uint64_t log : {3, 6, 10}) {
    const std::uint64_t n = std::uint64_t{1} << log, w = 32;
    const CircuitCost cost =
        cost_of(*find_circuit("sorted_set_intersection:count=" + std::to_string(n)));
    const std::uint64_t merge = 2 * (w + 1) * (n * log + 1), order = 2 * (n - 1) * (w + 1) - 1,
                        pairs = (2 * n - 1) * w, mask = n * (w + 1),
                        compaction = n / 2 * log * (w + 1) + 2 * n;
    EXPECT_LE(cost.ands, merge + order + pairs + mask + compaction);
    EXPECT_GE(cost.ands, merge + order + pairs + mask + compaction - 6 * n);
    EXPECT_LE(cost.and_depth, (log + 1) * (w + 2) + log * (log + 2) + w);
  }
}

TEST(SortedSetIntersection, HoldsLittleMoreThanTheKeys) {
  const std::uint64_t keys = 2 * 4096 * 17;
  EXPECT_LE(most_live_wires(*find_circuit("sorted_set_intersection:count=4096,bits=16")),
            keys + keys / 4);
}

CircuitInfo compaction_info(std::uint32_t count, std::uint32_t bits) {
  return test_info({count, count * bits},
                   {static_cast<std::uint32_t>(std::bit_width(count)), count * bits});
}

// For all marks, and numbers that are their positions.
TEST(Compaction, KeepsTheOrderOfMarkedNumbersForAllMarks) {
  const std::size_t bits = 4;
  for (std::uint32_t count = 1; count <= 11; ++count) {
    const CircuitInfo info = compaction_info(count, bits);
    const TestCircuit circuit(info, [&](GateSink& sink) {
      Builder builder(sink, info);
      Columns values(bits);
      for (std::uint32_t k = 0; k < count; ++k)
        for (std::uint32_t i = 0; i < bits; ++i)
          values[i].push_back(builder.input_bit(1, k * bits + i));
      builder.output(0, compact(values, builder.input(0)));
      for (std::uint32_t k = 0; k < count; ++k) {
        for (std::uint32_t i = 0; i < bits; ++i) builder.output_bit(1, k * bits + i, values[i][k]);
      }
    });
    Numbers positions(count);
    for (std::size_t k = 0; k < count; ++k) positions[k] = k;
    std::vector<LaneValues> inputs(2);
    for (std::uint64_t marks = 0; marks < std::uint64_t{1} << count; ++marks) {
      inputs[0].push_back(packed({marks}, count));
      inputs[1].push_back(packed(positions, bits));
    }
    const std::vector<LaneValues> outputs = evaluate(circuit, inputs[0].size(), inputs);
    for (std::uint64_t marks = 0; marks < inputs[0].size(); ++marks) {
      Numbers wanted, found = unpacked(outputs[1][marks], bits);
      for (std::size_t k = 0; k < count; ++k) {
        if (((marks >> k) & 1) != 0) wanted.push_back(k);
      }
      ASSERT_EQ(outputs[0][marks].words()[0], wanted.size());
      ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), found.begin())) << count << " " << marks;
      std::ranges::sort(found);
      ASSERT_EQ(found, positions);
    }
  }
}

}  // namespace
}  // namespace tinyot
