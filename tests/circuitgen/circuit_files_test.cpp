// Known answers on the circuit files: what the reader makes of a file computes what the file is named for.
#include <gtest/gtest.h>

#include "circuitgen/circuit_file.h"
#include "circuitgen/cost.h"
#include "circuitgen/values.h"
#include "circuits.h"

namespace tinyot {
namespace {

std::unique_ptr<Circuit> read(const std::string& name) {
  return open_circuit_file(std::filesystem::path(TINYOT_CIRCUITS_DIR) / name);
}

BitVector integer(const std::string& text, std::uint32_t bits, bool msb_first = false) {
  return parse_value(text, bits, ValueFormat::Integer, msb_first);
}

TEST(CircuitFiles, CostWhatTheirTableSays) {
  struct Row {
    const char* file;
    std::uint64_t ands, xors, nots, depth;
  };
  const Row with_xors[] = {{"aes_128.txt", 6400, 28176, 2087, 60},
                           {"AES-non-expanded.txt", 6800, 25124, 1692, 40},
                           {"sha256.txt", 22573, 110644, 1856, 1607}};
  for (const Row& row : with_xors) {
    const CircuitCost cost = cost_of(*read(row.file));
    EXPECT_EQ(cost.ands, row.ands) << row.file;
    EXPECT_EQ(cost.xors, row.xors) << row.file;
    EXPECT_EQ(cost.nots, row.nots) << row.file;
    EXPECT_EQ(cost.and_depth, row.depth) << row.file;
  }
  const Row arithmetic[] = {{"adder64.txt", 63, 0, 0, 63},
                            {"sub64.txt", 63, 0, 0, 63},
                            {"mult64.txt", 4033, 0, 0, 63},
                            {"neg64.txt", 62, 0, 0, 62},
                            {"zero_equal.txt", 63, 0, 0, 6},
                            {"adder_32bit.bristol-format.txt", 127, 0, 0, 63},
                            {"lt16.lps", 16, 0, 0, 16}};
  for (const Row& row : arithmetic) {
    const CircuitCost cost = cost_of(*read(row.file));
    EXPECT_EQ(cost.ands, row.ands) << row.file;
    EXPECT_EQ(cost.and_depth, row.depth) << row.file;
  }
}

TEST(CircuitFiles, EveryWireIsFreedOnce) {
  for (const char* file : {"aes_128.txt", "sha256.txt", "neg64.txt", "adder_32bit.bristol-format.txt", "lt16.lps"}) {
    RecordingSink sink;
    read(file)->generate(sink);
    const std::size_t made = sink.gates.size() - sink.count(GateKind::Free) - sink.count(GateKind::Output);
    EXPECT_EQ(sink.count(GateKind::Free), made) << file;
  }
}

TEST(CircuitFiles, AesEncryptsTheVectorOfFips197) {
  const std::string key = "0x000102030405060708090a0b0c0d0e0f", plaintext = "0x00112233445566778899aabbccddeeff";
  const std::string ciphertext = "0x69c4e0d86a7b0430d8cdb78070b4c55a";
  const auto lsb = evaluate(*read("aes_128.txt"), 1, {{integer(key, 128)}, {integer(plaintext, 128)}});
  EXPECT_EQ(print_value(lsb[0][0], ValueFormat::Integer, false), ciphertext);
  const auto msb = evaluate(*read("AES-non-expanded.txt"), 1, {{integer(plaintext, 128, true)}, {integer(key, 128, true)}});
  EXPECT_EQ(print_value(msb[0][0], ValueFormat::Integer, true), ciphertext);
}

TEST(CircuitFiles, Sha256HashesAbc) {
  const std::string block = "0x61626380" + std::string(118, '0') + "18";
  const std::string start = "0x6a09e667bb67ae853c6ef372a54ff53a510e527f9b05688c1f83d9ab5be0cd19";
  const auto outputs = evaluate(*read("sha256.txt"), 1, {{integer(block, 512)}, {integer(start, 256)}});
  EXPECT_EQ(print_value(outputs[0][0], ValueFormat::Integer, false),
            "0xba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

// Random values, with the edges among them, in many lanes at once.
void expect_function(const std::string& file, std::size_t operands, std::uint64_t (*function)(std::uint64_t, std::uint64_t)) {
  const auto circuit = read(file);
  ASSERT_EQ(circuit->info().inputs.size(), operands);
  std::mt19937_64 rng(7);
  constexpr std::size_t kLanes = 300;
  std::vector<LaneValues> inputs = random_inputs(circuit->info(), kLanes, rng);
  const std::uint64_t edges[] = {0, 1, ~std::uint64_t{0}, std::uint64_t{1} << 63};
  for (std::size_t lane = 0; lane < 16; ++lane) {
    inputs[0][lane].words()[0] = edges[lane / 4];
    if (operands == 2) inputs[1][lane].words()[0] = edges[lane % 4];
  }
  const std::vector<LaneValues> outputs = evaluate(*circuit, kLanes, inputs);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const std::uint64_t x = inputs[0][lane].words()[0], y = operands == 2 ? inputs[1][lane].words()[0] : 0;
    ASSERT_EQ(outputs[0][lane].words()[0], function(x, y)) << file << ", lane " << lane;
  }
}

TEST(CircuitFiles, TheOldAdderAddsAndCarries) {
  const auto circuit = read("adder_32bit.bristol-format.txt");
  std::mt19937_64 rng(9);
  constexpr std::size_t kLanes = 300;
  std::vector<LaneValues> inputs = random_inputs(circuit->info(), kLanes, rng);
  ASSERT_EQ(inputs.size(), 2u);
  const std::uint64_t edges[] = {0, 1, 0xffffffff, 0x80000000};
  for (std::size_t lane = 0; lane < 16; ++lane) {
    inputs[0][lane].words()[0] = edges[lane / 4];
    inputs[1][lane].words()[0] = edges[lane % 4];
  }
  const auto outputs = evaluate(*circuit, kLanes, inputs);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    ASSERT_EQ(outputs[0][lane].words()[0], inputs[0][lane].words()[0] + inputs[1][lane].words()[0]) << lane;
  }
}

// A million pairs: all neighbours of powers of two, pairs one apart, and random ones.
TEST(CircuitFiles, TheOldComparisonCompares) {
  const auto circuit = open_circuit_file(std::filesystem::path(TINYOT_CIRCUITS_DIR) / "lt16.lps", {.bundles = {16, 16}});
  std::vector<std::uint64_t> edges = {0};
  for (std::uint64_t power = 1; power <= 0x10000; power *= 2) {
    for (const std::uint64_t value : {power - 1, power, power + 1}) edges.push_back(value & 0xffff);
  }
  std::mt19937_64 rng(10);
  std::size_t pair = 0;
  const auto next_pair = [&] {
    const std::size_t i = pair++;
    const std::uint64_t random = rng() & 0xffffffff;
    if (i < edges.size() * edges.size()) return edges[i / edges.size()] | edges[i % edges.size()] << 16;
    if (i % 8 == 0) return (random & 0xffff) | ((random + i % 3) & 0xffff) << 16;
    return random;
  };
  constexpr std::size_t kLanes = 10'000, kPairs = 1'000'000;
  std::vector<LaneValues> inputs(2, LaneValues(kLanes, BitVector(16)));
  while (pair < kPairs) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::uint64_t both = next_pair();
      inputs[0][lane].words()[0] = both & 0xffff;
      inputs[1][lane].words()[0] = both >> 16;
    }
    const auto outputs = evaluate(*circuit, kLanes, inputs);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::uint64_t a = inputs[0][lane].words()[0], b = inputs[1][lane].words()[0];
      ASSERT_EQ(outputs[0][lane][0], a < b) << a << " < " << b;
    }
  }
}

TEST(CircuitFiles, ArithmeticIsThatOf64BitIntegers) {
  expect_function("adder64.txt", 2, [](std::uint64_t x, std::uint64_t y) { return x + y; });
  expect_function("sub64.txt", 2, [](std::uint64_t x, std::uint64_t y) { return x - y; });
  expect_function("mult64.txt", 2, [](std::uint64_t x, std::uint64_t y) { return x * y; });
  expect_function("neg64.txt", 1, [](std::uint64_t x, std::uint64_t) { return std::uint64_t{0} - x; });
  expect_function("zero_equal.txt", 1, [](std::uint64_t x, std::uint64_t) { return std::uint64_t{x == 0}; });
}

}  // namespace
}  // namespace tinyot
