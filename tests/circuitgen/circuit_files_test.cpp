// Known answers on circuit files: the circuit that is read from a file computes the function that
// the file is named after.
#include "tests/support/circuit_files.h"

#include "circuit_file_answers.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

std::unique_ptr<Circuit> read(const std::string& name, const CircuitFileOptions& options = {}) {
  return open_circuit_file(test::circuit_file(name), options);
}

TEST(CircuitFiles, HaveTheCostOfTheirGates) {
  const std::pair<const char*, FileCost> with_xors[] = {{"aes_128.txt", {6400, 23640, 816, 60}},
                                                        {"aes_128_msb.txt", {6800, 23440, 816, 40}},
                                                        {"sha256.txt", {22520, 91736, 2917, 1607}},
                                                        {"adder_32bit.txt", {32, 125, 0, 32}}};
  for (const auto& [file, cost] : with_xors) EXPECT_EQ(file_cost(*read(file)), cost) << file;

  struct Row {
    const char* file;
    std::uint64_t ands, depth;
  };
  const Row arithmetic[] = {{"adder64.txt", 63, 63},   {"sub64.txt", 63, 63},
                            {"mult64.txt", 4033, 63},  {"neg64.txt", 62, 62},
                            {"zero_equal.txt", 63, 6}, {"lt16.lps", 16, 16}};
  for (const Row& row : arithmetic) {
    const CircuitCost cost = cost_of(*read(row.file));
    EXPECT_EQ(cost.ands, row.ands) << row.file;
    EXPECT_EQ(cost.and_depth, row.depth) << row.file;
  }
}

TEST(CircuitFiles, EveryWireIsFreedOnce) {
  for (const char* file : {"aes_128.txt", "sha256.txt", "neg64.txt", "adder_32bit.txt", "lt16.lps"})
    expect_each_wire_is_freed_once(*read(file));
}

TEST(CircuitFiles, AesEncryptsTheVectorOfFips197) {
  expect_aes_128(*read("aes_128.txt"), false);
  expect_aes_128(*read("aes_128_msb.txt"), true);
}

TEST(CircuitFiles, Sha256HashesAbc) { expect_sha256(*read("sha256.txt")); }

TEST(CircuitFiles, OldAdderAddsWithCarry) { expect_sum(*read("adder_32bit.txt")); }

TEST(CircuitFiles, OldComparisonCompares) {
  expect_comparison(*read("lt16.lps", {.bundles = {16, 16}}));
}

TEST(CircuitFiles, ComputeArithmeticOf64BitIntegers) {
  expect_sum(*read("adder64.txt"));
  expect_difference(*read("sub64.txt"));
  expect_product(*read("mult64.txt"));
  expect_negation(*read("neg64.txt"));
  expect_equality_with_zero(*read("zero_equal.txt"));
}

}  // namespace
}  // namespace tinyot
