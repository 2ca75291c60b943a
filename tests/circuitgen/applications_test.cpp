// Hamming distance, set intersection, comparisons, minimum, sorting: compared with plain references
// on several lanes.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <set>

#include "circuitgen/cost.h"
#include "circuitgen/generators/registry.h"
#include "circuits.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

constexpr std::size_t kRuns = 70;

using Values = std::vector<std::uint64_t>;

// Value k begins at bit k . bits.
std::uint64_t value_at(const BitVector& bundle, std::size_t k, std::size_t bits) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bits; ++i) value |= std::uint64_t{bundle[k * bits + i]} << i;
  return value;
}

Values values_of(const BitVector& bundle, std::size_t bits) {
  Values values;
  for (std::size_t k = 0; k < bundle.size() / bits; ++k)
    values.push_back(value_at(bundle, k, bits));
  return values;
}

struct Trial {
  std::vector<LaneValues> inputs;
  std::vector<LaneValues> outputs;
};

// On random inputs; lane 0 is all zeros, lane 1 is all ones, and in lane 2 B's inputs equal A's as
// far as the widths allow.
Trial run_random(const Circuit& circuit) {
  std::mt19937_64 rng(11);
  Trial run;
  run.inputs = random_inputs(circuit.info(), kRuns, rng);
  for (LaneValues& bundle : run.inputs) {
    for (std::size_t i = 0; i < bundle[0].size(); ++i) {
      bundle[0].put(i, false);
      bundle[1].put(i, true);
      if (i < run.inputs[0][2].size()) bundle[2].put(i, run.inputs[0][2][i]);
    }
  }
  run.outputs = evaluate(circuit, kRuns, run.inputs);
  return run;
}

std::unique_ptr<Circuit> circuit_of(const std::string& name, const std::string& parameters) {
  return find_circuit(name + ":" + parameters);
}

TEST(Hamming, CountsTheDifferences) {
  for (const std::size_t bits : {1, 2, 3, 7, 64, 100}) {
    const Trial run = run_random(*circuit_of("hamming", "bits=" + std::to_string(bits)));
    for (std::size_t lane = 0; lane < kRuns; ++lane) {
      std::uint64_t distance = 0;
      for (std::size_t i = 0; i < bits; ++i)
        distance += run.inputs[0][lane][i] != run.inputs[1][lane][i];
      EXPECT_EQ(run.outputs[0][lane].words()[0], distance);
    }
  }
}

TEST(Hamming, MatchesTheCostInThePaper) {
  const CircuitCost cost = cost_of(*find_circuit("hamming"));
  EXPECT_EQ(cost.ands, 896u);
  EXPECT_EQ(cost.input_bits_of(Party::A), 900u);
  EXPECT_LE(cost.and_depth, 30u);
}

TEST(SetIntersection, IsTheBitwiseAnd) {
  for (const std::size_t bits : {1, 3, 8}) {
    Trial run = run_random(*circuit_of("set_intersection", "element_bits=" + std::to_string(bits)));
    for (std::size_t lane = 0; lane < kRuns; ++lane) {
      for (std::size_t e = 0; e < std::size_t{1} << bits; ++e) {
        EXPECT_EQ(run.outputs[0][lane][e], run.inputs[0][lane][e] && run.inputs[1][lane][e]);
      }
    }
  }
}

TEST(SetIntersection, MatchesTheCostInThePaper) {
  const CircuitCost cost = cost_of(*find_circuit("set_intersection"));
  EXPECT_EQ(cost.ands, 1'048'576u);
  EXPECT_EQ(cost.and_depth, 1u);
}

TEST(Millionaires, ComparesStrictly) {
  for (const std::size_t bits : {1, 2, 64}) {
    const Trial run = run_random(*circuit_of("millionaires", "bits=" + std::to_string(bits)));
    for (std::size_t lane = 0; lane < kRuns; ++lane) {
      EXPECT_EQ(run.outputs[0][lane][0],
                run.inputs[0][lane].words()[0] > run.inputs[1][lane].words()[0]);
    }
  }
  EXPECT_EQ(cost_of(*find_circuit("millionaires")).ands, 32u);
}

TEST(Comparisons, FormAMatrix) {
  for (const auto& [rows, columns, bits] :
       {std::array<std::size_t, 3>{1, 1, 1}, {3, 5, 4}, {70, 90, 3}}) {
    const auto circuit = circuit_of("comparisons", "rows=" + std::to_string(rows) +
                                                       ",columns=" + std::to_string(columns) +
                                                       ",bits=" + std::to_string(bits));
    const Trial run = run_random(*circuit);
    for (std::size_t lane = 0; lane < kRuns; ++lane) {
      const Values a = values_of(run.inputs[0][lane], bits),
                   b = values_of(run.inputs[1][lane], bits);
      for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < columns; ++j)
          ASSERT_EQ(run.outputs[0][lane][i * columns + j], a[i] < b[j]);
      }
    }
    EXPECT_EQ(cost_of(*circuit).ands, rows * columns * bits);
  }
}

Values all_values(const Trial& run, std::size_t lane, std::size_t bits) {
  Values values = values_of(run.inputs[0][lane], bits);
  const Values more = values_of(run.inputs[1][lane], bits);
  values.insert(values.end(), more.begin(), more.end());
  return values;
}

TEST(Minimum, IsTheSmallestOfAll) {
  for (const std::size_t count : {2, 3, 4, 5, 13, 64}) {
    for (const std::size_t bits : {1, 5, 20}) {
      const Trial run = run_random(*circuit_of(
          "minimum", "count=" + std::to_string(count) + ",bits=" + std::to_string(bits)));
      for (std::size_t lane = 0; lane < kRuns; ++lane) {
        const Values values = all_values(run, lane, bits);
        ASSERT_EQ(values.size(), count);
        EXPECT_EQ(run.outputs[0][lane].words()[0], *std::min_element(values.begin(), values.end()));
      }
    }
  }
}

// More values than are compared at a time, and a number of them that leaves a remainder at every
// level.
TEST(Minimum, IsFoundAtAnyPosition) {
  const std::size_t count = 20'001, bits = 16, ours = 10'001;
  const auto circuit = circuit_of("minimum", "count=20001,bits=16");
  std::vector<LaneValues> inputs(2);
  std::vector<std::uint64_t> wanted;
  std::mt19937_64 rng(12);
  for (std::size_t lane = 0; lane < 64; ++lane) {
    const std::size_t place = lane == 0 ? ours - 1 : lane == 1 ? count - 1 : rng() % count;
    inputs[0].emplace_back(ours * bits);
    inputs[1].emplace_back((count - ours) * bits);
    BitVector& bundle = inputs[place < ours ? 0 : 1][lane];
    for (BitVector* all : {&inputs[0][lane], &inputs[1][lane]}) {
      for (std::uint64_t& word : all->words()) word = ~std::uint64_t{0};
      all->clear_padding();
    }
    const std::size_t k = place < ours ? place : place - ours;
    wanted.push_back(rng() % 0xffff);
    for (std::size_t i = 0; i < bits; ++i) bundle.put(k * bits + i, ((wanted[lane] >> i) & 1) != 0);
  }
  const std::vector<LaneValues> outputs = evaluate(*circuit, 64, inputs);
  for (std::size_t lane = 0; lane < 64; ++lane)
    EXPECT_EQ(outputs[0][lane].words()[0], wanted[lane]);
}

TEST(Minimum, Costs40AndsPerNode) {
  EXPECT_EQ(cost_of(*circuit_of("minimum", "count=3000")).ands, 40u * 2999);
  EXPECT_EQ(cost_of(*circuit_of("minimum", "count=20001,bits=4")).ands, 8u * 20'000);
  const CircuitInfo info = find_circuit("minimum")->info();
  EXPECT_EQ(info.inputs[0].bits, 10'000'000u);
  EXPECT_EQ(info.inputs[1].bits, 10'000'000u);
}

TEST(Minimum, HoldsFewBlocksOfValues) {
  const std::uint64_t small = most_live_wires(*circuit_of("minimum", "count=40000,bits=2"));
  const std::uint64_t large = most_live_wires(*circuit_of("minimum", "count=160000,bits=2"));
  EXPECT_LE(small, 40'000u);
  EXPECT_LE(large, small + 2 * 8192 * 2);  // two more levels
}

TEST(Sort, PutsTheSmallestFirst) {
  for (const std::size_t count : {2, 3, 4, 5, 7, 8, 33}) {
    for (const std::size_t bits : {1, 3, 20}) {
      const Trial run = run_random(
          *circuit_of("sort", "count=" + std::to_string(count) + ",bits=" + std::to_string(bits)));
      for (std::size_t lane = 0; lane < kRuns; ++lane) {
        Values values = all_values(run, lane, bits);
        std::sort(values.begin(), values.end());
        EXPECT_EQ(values_of(run.outputs[0][lane], bits), values);
      }
    }
  }
}

// The 0-1 principle: a network sorts all inputs if it sorts all strings of zeros and ones.
TEST(Sort, SortsAllStringsOfZerosAndOnes) {
  const auto circuit = circuit_of("sort", "count=12,bits=1");
  std::vector<LaneValues> inputs(2);
  for (std::uint64_t x = 0; x < 4096; ++x) {
    for (std::size_t party = 0; party < 2; ++party) {
      inputs[party].emplace_back(6);
      inputs[party].back().words()[0] = x >> (6 * party) & 63;
    }
  }
  const std::vector<LaneValues> outputs = evaluate(*circuit, 4096, inputs);
  for (std::uint64_t x = 0; x < 4096; ++x) {
    const int ones = std::popcount(x);
    EXPECT_EQ(outputs[0][x].words()[0], ((std::uint64_t{1} << ones) - 1) << (12 - ones));
  }
}

// Knuth's figures for 8, 16 and 1024 values.
TEST(Sort, CostsTwoAndsPerBitOfAComparator) {
  EXPECT_EQ(cost_of(*circuit_of("sort", "count=8,bits=5")).ands, 19u * 10);
  EXPECT_EQ(cost_of(*circuit_of("sort", "count=16,bits=5")).ands, 63u * 10);
  EXPECT_EQ(cost_of(*circuit_of("sort", "bits=1")).ands, 24063u * 2);
}

// A measurement compares results with the plain evaluator, so they must tell right from wrong.
TEST(RandomLayers, DeepCircuitsDependOnTheirInputs) {
  const auto circuit = find_circuit("random:width=16,depth=4096");
  std::mt19937_64 rng(7);
  constexpr std::size_t kLanes = 256;
  const std::vector<LaneValues> outputs =
      evaluate(*circuit, kLanes, random_inputs(circuit->info(), kLanes, rng));
  std::set<std::uint64_t> values;
  for (const BitVector& value : outputs[0]) values.insert(value.words()[0]);
  EXPECT_GT(values.size(), kLanes * 9 / 10);
}

}  // namespace
}  // namespace tinyot
