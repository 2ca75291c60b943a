// Known answers and costs of circuit files, both of those that the tests write and of published
// ones.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <sstream>

#include "circuit_texts.h"
#include "circuitgen/cost.h"
#include "circuitgen/formats/bristol_writer.h"
#include "circuits.h"
#include "tests/support/layers.h"

namespace tinyot {

// ANDs, XORs, NOTs, AND-depth.
using FileCost = std::array<std::uint64_t, 4>;

inline FileCost file_cost(const Circuit& circuit) {
  const CircuitCost cost = cost_of(circuit);
  return {cost.ands, cost.xors, cost.nots, cost.and_depth};
}

inline void expect_each_wire_is_freed_once(const Circuit& circuit) {
  RecordingSink sink;
  circuit.generate(sink);
  const std::size_t made =
      sink.gates.size() - sink.count(GateKind::Free) - sink.count(GateKind::Output);
  EXPECT_EQ(sink.count(GateKind::Free), made) << circuit.info().name;
}

inline std::string written(const Circuit& circuit) {
  std::ostringstream out;
  write_bristol_fashion(circuit, out);
  return out.str();
}

// A written circuit, read again, computes the same function at the same cost.
inline void expect_round_trip(const Circuit& circuit, std::mt19937_64& rng) {
  const auto again = parse(written(circuit));
  ASSERT_EQ(circuit.info().inputs.size(), again->info().inputs.size());
  ASSERT_EQ(circuit.info().outputs.size(), again->info().outputs.size());
  EXPECT_EQ(file_cost(circuit), file_cost(*again));

  constexpr std::size_t kLanes = 70;
  const std::vector<LaneValues> inputs = random_inputs(circuit.info(), kLanes, rng);
  std::vector<LaneValues> each = inputs;  // the format has no values common to all lanes
  for (LaneValues& values : each) values.resize(kLanes, values.front());
  const auto expected = evaluate(circuit, kLanes, inputs), got = evaluate(*again, kLanes, each);
  for (std::size_t b = 0; b < expected.size(); ++b) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      ASSERT_TRUE(std::ranges::equal(expected[b][lane].words(), got[b][lane].words()))
          << "output " << b << ", lane " << lane;
    }
  }
}

inline BitVector integer(const std::string& text, std::uint32_t bits, bool msb_first = false) {
  return parse_value(text, bits, ValueFormat::Integer, msb_first);
}

// The test vector of FIPS-197. The key is bundle 0, or bundle 1 with the highest bit first.
inline void expect_aes_128(const Circuit& circuit, bool msb_first) {
  const BitVector key = integer("0x000102030405060708090a0b0c0d0e0f", 128, msb_first);
  const BitVector message = integer("0x00112233445566778899aabbccddeeff", 128, msb_first);
  const auto outputs = msb_first ? evaluate(circuit, 1, {{message}, {key}})
                                 : evaluate(circuit, 1, {{key}, {message}});
  EXPECT_EQ(print_value(outputs[0][0], ValueFormat::Integer, msb_first),
            "0x69c4e0d86a7b0430d8cdb78070b4c55a");
}

inline void expect_sha256(const Circuit& circuit) {
  const std::string abc = "0x61626380" + std::string(118, '0') + "18";
  const std::string start = "0x6a09e667bb67ae853c6ef372a54ff53a510e527f9b05688c1f83d9ab5be0cd19";
  const auto outputs = evaluate(circuit, 1, {{integer(abc, 512)}, {integer(start, 256)}});
  EXPECT_EQ(print_value(outputs[0][0], ValueFormat::Integer, false),
            "0xba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

using IntegerFunction = std::uint64_t (*)(std::uint64_t, std::uint64_t);

// Random and edge values in many lanes.
inline void expect_computes(const Circuit& circuit, std::size_t operands,
                            IntegerFunction function) {
  ASSERT_EQ(circuit.info().inputs.size(), operands) << circuit.info().name;
  const std::uint32_t bits = circuit.info().inputs[0].bits;
  std::mt19937_64 rng(7);
  constexpr std::size_t kLanes = 300;
  std::vector<LaneValues> inputs = random_inputs(circuit.info(), kLanes, rng);
  const std::uint64_t edges[] = {0, 1, ~std::uint64_t{0} >> (64 - bits),
                                 std::uint64_t{1} << (bits - 1)};
  for (std::size_t lane = 0; lane < 16; ++lane) {
    inputs[0][lane].words()[0] = edges[lane / 4];
    if (operands == 2) inputs[1][lane].words()[0] = edges[lane % 4];
  }
  const std::vector<LaneValues> outputs = evaluate(circuit, kLanes, inputs);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const std::uint64_t x = inputs[0][lane].words()[0];
    const std::uint64_t y = operands == 2 ? inputs[1][lane].words()[0] : 0;
    ASSERT_EQ(outputs[0][lane].words()[0], function(x, y))
        << circuit.info().name << ", lane " << lane;
  }
}

inline void expect_sum(const Circuit& circuit) {
  expect_computes(circuit, 2, [](std::uint64_t x, std::uint64_t y) { return x + y; });
}
inline void expect_difference(const Circuit& circuit) {
  expect_computes(circuit, 2, [](std::uint64_t x, std::uint64_t y) { return x - y; });
}
inline void expect_product(const Circuit& circuit) {
  expect_computes(circuit, 2, [](std::uint64_t x, std::uint64_t y) { return x * y; });
}
inline void expect_negation(const Circuit& circuit) {
  expect_computes(circuit, 1, [](std::uint64_t x, std::uint64_t) { return 0 - x; });
}
inline void expect_equality_with_zero(const Circuit& circuit) {
  expect_computes(circuit, 1, [](std::uint64_t x, std::uint64_t) { return std::uint64_t{x == 0}; });
}

// A million pairs of 16 bits: all neighbours of powers of two, pairs that differ by one, and random
// ones.
inline void expect_comparison(const Circuit& circuit) {
  std::vector<std::uint64_t> edges = {0};
  for (std::uint64_t power = 1; power <= 0x10000; power *= 2) {
    for (const std::uint64_t value : {power - 1, power, power + 1}) edges.push_back(value & 0xffff);
  }
  std::mt19937_64 rng(10);
  std::size_t pair = 0;
  const auto next_pair = [&] {
    const std::size_t i = pair++;
    const std::uint64_t random = rng() & 0xffffffff;
    if (i < edges.size() * edges.size())
      return edges[i / edges.size()] | edges[i % edges.size()] << 16;
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
    const auto outputs = evaluate(circuit, kLanes, inputs);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::uint64_t a = inputs[0][lane].words()[0], b = inputs[1][lane].words()[0];
      ASSERT_EQ(outputs[0][lane][0], a < b) << a << " < " << b;
    }
  }
}

}  // namespace tinyot
