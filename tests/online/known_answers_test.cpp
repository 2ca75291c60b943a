// Known answers on the circuit files, computed by two parties.
#include <gtest/gtest.h>

#include <random>

#include "circuitgen/formats/circuit_file.h"
#include "circuitgen/formats/values.h"
#include "tests/online/online_run.h"
#include "tests/support/circuit_files.h"
#include "tests/support/layers.h"
#include "tests/support/test_name.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

class KnownAnswers : public testing::TestWithParam<AndMaterial> {
 protected:
  // The first output, which is equal for both parties.
  static LaneValues run(const Circuit& circuit, const Inputs& inputs) {
    const OnlineRun run = run_online({circuit, inputs[0].size(), inputs, GetParam()});
    LaneValues of_a = values_of(run.a.outputs.at(0).value()),
               of_b = values_of(run.b.outputs.at(0).value());
    EXPECT_EQ(of_a.size(), of_b.size());
    for (std::size_t lane = 0; lane < of_a.size(); ++lane)
      EXPECT_EQ(print_value(of_a[lane], ValueFormat::Integer, false),
                print_value(of_b[lane], ValueFormat::Integer, false));
    return of_a;
  }

  // Random and edge values, in a few more lanes than a tile has.
  using Function = std::uint64_t (*)(std::uint64_t, std::uint64_t);
  static void expect_function(const std::string& file, std::size_t operands, std::uint32_t bits,
                              Function function);
};

INSTANTIATE_TEST_SUITE_P(FromEachForm, KnownAnswers,
                         testing::Values(AndMaterial::AandAot, AndMaterial::Triples),
                         [](const auto& form) { return test_name(form.param); });

std::unique_ptr<Circuit> read(const std::string& name, const CircuitFileOptions& options = {}) {
  return open_circuit_file(circuit_file(name), options);
}

BitVector integer(const std::string& text, std::uint32_t bits, bool msb_first = false) {
  return parse_value(text, bits, ValueFormat::Integer, msb_first);
}

TEST_P(KnownAnswers, AesEncryptsTheVectorOfFips197) {
  const std::string key = "0x000102030405060708090a0b0c0d0e0f",
                    plaintext = "0x00112233445566778899aabbccddeeff";
  const std::string ciphertext = "0x69c4e0d86a7b0430d8cdb78070b4c55a";
  const auto lsb = run(*read("aes_128.txt"), {{integer(key, 128)}, {integer(plaintext, 128)}});
  EXPECT_EQ(print_value(lsb[0], ValueFormat::Integer, false), ciphertext);
  const auto msb =
      run(*read("aes_128_msb.txt"), {{integer(plaintext, 128, true)}, {integer(key, 128, true)}});
  EXPECT_EQ(print_value(msb[0], ValueFormat::Integer, true), ciphertext);
}

TEST_P(KnownAnswers, Sha256HashesAbc) {
  const std::string block = "0x61626380" + std::string(118, '0') + "18";
  const std::string start = "0x6a09e667bb67ae853c6ef372a54ff53a510e527f9b05688c1f83d9ab5be0cd19";
  const auto digest = run(*read("sha256.txt"), {{integer(block, 512)}, {integer(start, 256)}});
  EXPECT_EQ(print_value(digest[0], ValueFormat::Integer, false),
            "0xba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

void KnownAnswers::expect_function(const std::string& file, std::size_t operands,
                                   std::uint32_t bits, Function function) {
  constexpr std::size_t kLanes = 70;
  const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  const std::uint64_t edges[] = {0, 1, mask, std::uint64_t{1} << (bits - 1)};
  std::mt19937_64 rng(7);
  Inputs inputs(operands, LaneValues(kLanes, BitVector(bits)));
  for (std::size_t lane = 0; lane < kLanes; ++lane)
    for (std::size_t i = 0; i < operands; ++i)
      inputs[i][lane].words()[0] = lane < 16 ? edges[i == 0 ? lane / 4 : lane % 4] : rng() & mask;
  const LaneValues outputs = run(*read(file), inputs);
  ASSERT_EQ(outputs.size(), kLanes);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const std::uint64_t x = inputs[0][lane].words()[0],
                        y = operands == 2 ? inputs[1][lane].words()[0] : 0;
    ASSERT_EQ(outputs[lane].words()[0], function(x, y)) << file << ", lane " << lane;
  }
}

TEST_P(KnownAnswers, ArithmeticMatchesIntegers) {
  expect_function("adder64.txt", 2, 64, [](std::uint64_t x, std::uint64_t y) { return x + y; });
  expect_function("sub64.txt", 2, 64, [](std::uint64_t x, std::uint64_t y) { return x - y; });
  expect_function("mult64.txt", 2, 64, [](std::uint64_t x, std::uint64_t y) { return x * y; });
  expect_function("neg64.txt", 1, 64,
                  [](std::uint64_t x, std::uint64_t) { return std::uint64_t{0} - x; });
  expect_function("zero_equal.txt", 1, 64,
                  [](std::uint64_t x, std::uint64_t) { return std::uint64_t{x == 0}; });
  expect_function("adder_32bit.txt", 2, 32, [](std::uint64_t x, std::uint64_t y) { return x + y; });
}

TEST_P(KnownAnswers, ComparisonComparesAThousandPairs) {
  constexpr std::size_t kPairs = 1000;
  const auto circuit = read("lt16.lps", {.bundles = {16, 16}});
  std::mt19937_64 rng(10);
  Inputs inputs(2, LaneValues(kPairs, BitVector(16)));
  for (std::size_t lane = 0; lane < kPairs; ++lane) {
    const std::uint64_t a = rng() & 0xffff;
    inputs[0][lane].words()[0] = a;
    // some are equal or differ by one
    inputs[1][lane].words()[0] = (lane % 4 == 0 ? a + lane / 4 % 3 - 1 : rng()) & 0xffff;
  }
  const LaneValues outputs = run(*circuit, inputs);
  ASSERT_EQ(outputs.size(), kPairs);
  for (std::size_t lane = 0; lane < kPairs; ++lane)
    ASSERT_EQ(outputs[lane][0], inputs[0][lane].words()[0] < inputs[1][lane].words()[0])
        << "lane " << lane;
}

}  // namespace
}  // namespace tinyot
