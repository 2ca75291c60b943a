#include "circuitgen/generators/levenshtein.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "circuitgen/cost.h"
#include "circuitgen/formats/values.h"
#include "circuitgen/generators/registry.h"
#include "circuits.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using String = std::vector<std::uint64_t>;

std::unique_ptr<Circuit> levenshtein(std::size_t rows, std::size_t columns, std::size_t symbol_bits,
                                     const std::string& cells) {
  return find_circuit("levenshtein:rows=" + std::to_string(rows) +
                      ",columns=" + std::to_string(columns) +
                      ",symbol_bits=" + std::to_string(symbol_bits) + ",cells=" + cells);
}

std::uint64_t distance_of(const String& a, const String& b) {
  std::vector<std::uint64_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::uint64_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::uint64_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
    }
  }
  return row[b.size()];
}

BitVector bundle_of(const String& symbols, std::size_t symbol_bits) {
  BitVector bundle(symbols.size() * symbol_bits);
  for (std::size_t i = 0; i < bundle.size(); ++i)
    bundle.put(i, ((symbols[i / symbol_bits] >> (i % symbol_bits)) & 1) != 0);
  return bundle;
}

// Random, equal, shifted and disjoint strings.
std::pair<String, String> strings_of(std::size_t rows, std::size_t columns, std::size_t symbol_bits,
                                     std::size_t lane, std::mt19937_64& rng) {
  const std::uint64_t alphabet =
      std::uint64_t{1} << std::min<std::size_t>(symbol_bits, lane % 2 == 0 ? symbol_bits : 1);
  String a(rows), b(columns);
  for (std::uint64_t& symbol : a) symbol = rng() % alphabet;
  for (std::uint64_t& symbol : b) symbol = rng() % alphabet;
  const std::size_t shift = rng() % (columns + 1);
  for (std::size_t j = 0; j < columns; ++j) {
    if (lane == 0) a.assign(rows, 0), b[j] = 0;
    if (lane == 1) a.assign(rows, 0), b[j] = 1;
    if (lane % 4 == 2) b[j] = a[j % rows];
    if (lane % 4 == 3) b[j] = a[(j + shift) % rows] ^ (rng() % 8 == 0);
  }
  return {a, b};
}

void expect_distances(std::size_t rows, std::size_t columns, std::size_t symbol_bits,
                      const std::string& cells, std::size_t lanes) {
  std::mt19937_64 rng(rows * 100 + columns);
  std::vector<LaneValues> inputs(2);
  std::vector<std::uint64_t> wanted;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const auto [a, b] = strings_of(rows, columns, symbol_bits, lane, rng);
    inputs[0].push_back(bundle_of(a, symbol_bits));
    inputs[1].push_back(bundle_of(b, symbol_bits));
    wanted.push_back(distance_of(a, b));
  }
  const auto circuit = levenshtein(rows, columns, symbol_bits, cells);
  const std::vector<LaneValues> outputs = evaluate(*circuit, lanes, inputs);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    EXPECT_EQ(outputs[0][lane].words()[0], wanted[lane])
        << rows << " x " << columns << " of " << symbol_bits << ", " << cells << ", lane " << lane;
  }
}

class Levenshtein : public testing::TestWithParam<const char*> {};

TEST_P(Levenshtein, IsTheDistanceOfShortStrings) {
  for (std::size_t rows = 1; rows <= 6; ++rows) {
    for (std::size_t columns = 1; columns <= 6; ++columns)
      expect_distances(rows, columns, 2, GetParam(), 300);
  }
}

TEST_P(Levenshtein, IsTheDistanceOfLongerStrings) {
  expect_distances(16, 16, 1, GetParam(), 64);
  expect_distances(17, 70, 2, GetParam(), 64);
  expect_distances(40, 9, 5, GetParam(), 64);
  expect_distances(100, 130, 8, GetParam(), 16);
}

TEST_P(Levenshtein, TakesTextAsBytes) {
  const auto circuit = levenshtein(6, 7, 8, GetParam());
  const BitVector kitten = parse_value("6b697474656e", 48, ValueFormat::Bytes, false);
  const BitVector sitting = parse_value("73697474696e67", 56, ValueFormat::Bytes, false);
  EXPECT_EQ(circuit->info().inputs[0].format, ValueFormat::Bytes);
  EXPECT_EQ(evaluate(*circuit, 1, {{kitten}, {sitting}})[0][0].words()[0], 3u);
}

// For any length of the longer string.
TEST_P(Levenshtein, HoldsOneAntiDiagonal) {
  const std::uint64_t wires_a_cell = std::string(GetParam()) == "differences" ? 10 : 60;
  const std::uint64_t once = most_live_wires(*levenshtein(20, 300, 2, GetParam())),
                      ten = most_live_wires(*levenshtein(20, 500, 2, GetParam()));
  EXPECT_LE(once, 20 * wires_a_cell);
  EXPECT_EQ(once, ten);
  EXPECT_LE(most_live_wires(*levenshtein(40, 300, 2, GetParam())), 40 * wires_a_cell);
  EXPECT_LE(most_live_wires(*levenshtein(300, 20, 2, GetParam())), 20 * wires_a_cell);
}

INSTANTIATE_TEST_SUITE_P(Cells, Levenshtein, testing::Values("differences", "distances"));

// 4 ANDs per cell, fewer in the first two rows and columns and in the last ones; then the sum along
// the diagonal.
std::uint64_t ands_of_differences(std::uint64_t rows, std::uint64_t columns,
                                  std::uint64_t symbol_bits) {
  const std::uint64_t not_down = (rows - 2) * columns + 1,
                      not_across = columns - 1 + (rows - 1) * (columns - 2);
  const std::uint64_t more = (rows - 1) * (columns - 2), less = (rows - 2) * (columns - 1);
  return rows * columns * (symbol_bits - 1) + not_down + not_across + more + less;
}

TEST(LevenshteinCost, DifferencesTakeFourAndsPerCellAndTwoLevelsPerAntiDiagonal) {
  for (const auto& [rows, columns, symbol_bits] :
       {std::array<std::uint64_t, 3>{3, 3, 1}, {10, 10, 2}, {32, 32, 8}}) {
    const std::uint64_t sum = rows - static_cast<std::uint64_t>(std::popcount(rows));
    EXPECT_EQ(cost_of(*levenshtein(rows, columns, symbol_bits, "differences")).ands,
              ands_of_differences(rows, columns, symbol_bits) + sum);
  }
  for (const auto& [rows, columns] : {std::pair{10u, 25u}, {20u, 200u}}) {
    const std::uint64_t cells = ands_of_differences(rows, columns, 2),
                        ands = cost_of(*levenshtein(rows, columns, 2, "differences")).ands;
    EXPECT_GE(ands, cells + rows - 3);
    EXPECT_LE(ands, cells + rows + 8);
    EXPECT_EQ(cost_of(*levenshtein(columns, rows, 2, "differences")).ands, ands);
  }
  EXPECT_LE(cost_of(*levenshtein(50, 60, 2, "differences")).and_depth, 2u * 110 + 20);
  EXPECT_LE(ands_of_differences(2000, 10'000, 2), 100'000'000u);
}

// The cost of the construction before constant folding: 2 minima, a selection, an addition without
// its last carry.
std::uint64_t ands_of_distances(std::uint64_t rows, std::uint64_t columns,
                                std::uint64_t symbol_bits) {
  std::uint64_t ands = 0;
  for (std::uint64_t i = 1; i <= rows; ++i) {
    for (std::uint64_t j = 1; j <= columns; ++j)
      ands += 5 * static_cast<std::uint64_t>(std::bit_width(std::max(i, j))) + symbol_bits - 1;
  }
  return ands;
}

TEST(LevenshteinCost, DistancesTakeFiveAndsPerBitOfACell) {
  for (const auto& [rows, columns] : {std::pair{8u, 8u}, {20u, 50u}, {60u, 60u}}) {
    const std::uint64_t bound = ands_of_distances(rows, columns, 2),
                        ands = cost_of(*levenshtein(rows, columns, 2, "distances")).ands;
    EXPECT_LE(ands, bound);
    EXPECT_GE(ands + (rows + columns) * 40, bound);
  }
  const std::uint64_t paper = 1'290'653'042, ours = ands_of_distances(2000, 10'000, 2);
  EXPECT_LE(ours, paper);
  EXPECT_GE(ours, paper - paper / 50);
}

}  // namespace
}  // namespace tinyot
