// Known answers on published circuit files. The environment variable TINYOT_PUBLISHED_CIRCUITS
// names a folder with these files; without it the tests are skipped.
//
// adder64, sub64, mult64, neg64, zero_equal, aes_128 and sha256 are those of
// https://nigelsmart.github.io/MPC-Circuits; AES-non-expanded is AES with reversed bits and
// bundles; adder_32bit.bristol-format has the old format; lt16.lps compares numbers by truth
// tables.
#include <cstdlib>
#include <filesystem>

#include "circuit_file_answers.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

class PublishedFiles : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("TINYOT_PUBLISHED_CIRCUITS");
    if (folder == nullptr)
      GTEST_SKIP() << "no published circuit files: TINYOT_PUBLISHED_CIRCUITS is not set";
    folder_ = folder;
  }
  std::unique_ptr<Circuit> read(const char* name, const CircuitFileOptions& options = {}) const {
    return open_circuit_file(folder_ / name, options);
  }

  std::filesystem::path folder_;
};

TEST_F(PublishedFiles, MatchThePublishedCosts) {
  const std::pair<const char*, FileCost> with_xors[] = {
      {"aes_128.txt", {6400, 28176, 2087, 60}},
      {"AES-non-expanded.txt", {6800, 25124, 1692, 40}},
      {"sha256.txt", {22573, 110644, 1856, 1607}}};
  for (const auto& [file, cost] : with_xors) EXPECT_EQ(file_cost(*read(file)), cost) << file;

  struct Row {
    const char* file;
    std::uint64_t ands, depth;
  };
  const Row arithmetic[] = {{"adder64.txt", 63, 63},   {"sub64.txt", 63, 63},
                            {"mult64.txt", 4033, 63},  {"neg64.txt", 62, 62},
                            {"zero_equal.txt", 63, 6}, {"adder_32bit.bristol-format.txt", 127, 63},
                            {"lt16.lps", 16, 16}};
  for (const Row& row : arithmetic) {
    const CircuitCost cost = cost_of(*read(row.file));
    EXPECT_EQ(cost.ands, row.ands) << row.file;
    EXPECT_EQ(cost.and_depth, row.depth) << row.file;
  }
}

TEST_F(PublishedFiles, EveryWireIsFreedOnce) {
  for (const char* file :
       {"aes_128.txt", "sha256.txt", "neg64.txt", "adder_32bit.bristol-format.txt", "lt16.lps"})
    expect_each_wire_is_freed_once(*read(file));
}

TEST_F(PublishedFiles, RoundTripThroughTheWriter) {
  std::mt19937_64 rng(6);
  for (const char* file :
       {"adder64.txt", "neg64.txt", "adder_32bit.bristol-format.txt", "zero_equal.txt", "lt16.lps"})
    expect_round_trip(*read(file), rng);
}

TEST_F(PublishedFiles, AesEncryptsTheVectorOfFips197) {
  expect_aes_128(*read("aes_128.txt"), false);
  expect_aes_128(*read("AES-non-expanded.txt"), true);
}

TEST_F(PublishedFiles, Sha256HashesAbc) { expect_sha256(*read("sha256.txt")); }

TEST_F(PublishedFiles, ComparisonCompares) {
  expect_comparison(*read("lt16.lps", {.bundles = {16, 16}}));
}

TEST_F(PublishedFiles, ComputeIntegerArithmetic) {
  expect_sum(*read("adder64.txt"));
  expect_difference(*read("sub64.txt"));
  expect_product(*read("mult64.txt"));
  expect_negation(*read("neg64.txt"));
  expect_equality_with_zero(*read("zero_equal.txt"));
  expect_sum(*read("adder_32bit.bristol-format.txt"));
}

}  // namespace
}  // namespace tinyot
