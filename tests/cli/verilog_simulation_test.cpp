// Imported Verilog designs against Icarus Verilog, in all the ways in which they are synthesised;
// the depth, whose synthesis is slow, in every other random module.
#include <algorithm>
#include <cstdlib>
#include <random>
#include <sstream>

#include "circuitgen/formats/verilog/import.h"
#include "tests/cli/verilog_modules.h"
#include "tests/support/command_test.h"
#include "tests/support/lane_values.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

constexpr std::size_t kVectors = 300;

// Binary, highest bit first.
std::string random_bits(std::mt19937_64& rng, std::uint32_t bits) {
  std::string text(bits, '0');
  const std::uint64_t kind = rng() % 8;
  const std::uint64_t set_bits = kind < 2 ? rng() % (bits + 1) : bits;
  if (kind == 2) return text;
  if (kind == 3) return std::string(bits, '1');
  for (std::uint32_t i = 0; i < set_bits; ++i) text[bits - 1 - i] = (rng() & 1) != 0 ? '1' : '0';
  return text;
}

BitVector bits_of(const std::string& text) {
  BitVector bits(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) bits.put(i, text[text.size() - 1 - i] == '1');
  return bits;
}

class VerilogSimulationTest : public CommandTest {
 protected:
  void SetUp() override {
    if (std::system("yosys -V > /dev/null 2>&1 && iverilog -V > /dev/null 2>&1") != 0)
      GTEST_SKIP() << "yosys or iverilog is not installed: tools/setup-tests installs them";
  }

  // The outputs of the vectors, as text in binary that may contain x.
  std::vector<std::vector<std::string>> simulate(
      const VerilogModule& module, const std::vector<std::vector<std::string>>& vectors) const {
    std::uint32_t all_bits = 0;
    std::string inputs, connections, wires, shown;
    for (const VerilogPort& port : module.inputs) {
      all_bits += port.bits;
      inputs += (inputs.empty() ? "" : ", ") + port.name;
      wires += "  reg [" + std::to_string(port.bits - 1) + ":0] " + port.name + ";\n";
      connections += "." + port.name + "(" + port.name + "), ";
    }
    for (const VerilogPort& port : module.outputs) {
      wires += "  wire [" + std::to_string(port.bits - 1) + ":0] " + port.name + ";\n";
      connections += "." + port.name + "(" + port.name + "), ";
      shown += shown.empty() ? port.name : ", \" \", " + port.name;
    }
    connections.resize(connections.size() - 2);
    const std::string count = std::to_string(vectors.size());
    write_file(path("bench.v"),
               "module bench;\n" + wires + "  reg [" + std::to_string(all_bits - 1) +
                   ":0] vectors [0:" + count + "-1];\n  integer i;\n  top top(" + connections +
                   ");\n  initial begin\n    $readmemb(\"" + path("vectors") +
                   "\", vectors);\n    for (i = 0; i < " + count + "; i = i + 1) begin\n      {" +
                   inputs + "} = vectors[i];\n      #1 $displayb(" + shown +
                   ");\n    end\n  end\nendmodule\n");
    std::string text;
    for (const auto& vector : vectors) {
      for (const std::string& value : vector) text += value;
      text += "\n";
    }
    write_file(path("vectors"), text);
    const Ended compiled = Process("/usr/bin/env", {"iverilog", "-g2012", "-o", path("simulation"),
                                                    path("bench.v"), path("design.v")})
                               .end();
    EXPECT_EQ(compiled.status, 0) << compiled.err << module.text;
    const Ended ran = Process("/usr/bin/env", {"vvp", "-n", path("simulation")}).end();
    EXPECT_EQ(ran.status, 0) << ran.err << ran.out;
    std::vector<std::vector<std::string>> outputs;
    std::istringstream lines(ran.out);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      outputs.emplace_back();
      for (std::string word; words >> word;) outputs.back().push_back(word);
    }
    return outputs;
  }

  // Undefined bits may have any value. Returns the number of bits that are compared.
  std::size_t expect_same(const VerilogModule& module, std::uint64_t seed,
                          circuit::Goal goal) const {
    write_file(path("design.v"), module.text);
    std::mt19937_64 rng(seed);
    std::vector<std::vector<std::string>> vectors(kVectors);
    std::vector<LaneValues> inputs(module.inputs.size());
    for (auto& vector : vectors)
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        vector.push_back(random_bits(rng, module.inputs[i].bits));
        inputs[i].push_back(bits_of(vector.back()));
      }
    const auto expected = simulate(module, vectors);
    EXPECT_EQ(expected.size(), kVectors) << module.text;
    if (expected.size() != kVectors) return 0;
    std::size_t compared = 0;
    const system::Confinement yosys = circuit::confined_yosys();
    for (const circuit::Candidate& candidate :
         circuit::import_design(yosys, {"design.v", module.text, "top"}, {}, goal, {})) {
      const auto outputs = evaluate(*candidate.circuit, kVectors, inputs);
      for (std::size_t o = 0; o < module.outputs.size(); ++o)
        for (std::size_t lane = 0; lane < kVectors; ++lane) {
          const std::string& wanted = expected[lane][o];
          std::string got = wanted;
          for (std::size_t i = 0; i < got.size(); ++i)
            if (wanted[i] == '0' || wanted[i] == '1') {
              got[i] = outputs[o][lane][got.size() - 1 - i] ? '1' : '0';
              ++compared;
            }
          EXPECT_EQ(got, wanted) << candidate.name << ", seed " << seed << ", output "
                                 << module.outputs[o].name << ", inputs "
                                 << ::testing::PrintToString(vectors[lane]) << "\n"
                                 << module.text;
          if (got != wanted) return 0;
        }
    }
    return compared;
  }
};

// TINYOT_VERILOG_MODULES: how many; TINYOT_VERILOG_SEED: the first seed.
std::uint64_t number_from(const char* variable, std::uint64_t default_value) {
  const char* text = std::getenv(variable);
  return text == nullptr ? default_value : std::strtoull(text, nullptr, 10);
}

TEST_F(VerilogSimulationTest, RandomModulesHaveValuesOfSimulation) {
  const std::uint64_t first = number_from("TINYOT_VERILOG_SEED", 1),
                      count = number_from("TINYOT_VERILOG_MODULES", 20);
  std::size_t compared = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    compared += expect_same(random_module(seed), seed,
                            seed % 2 == 0 ? circuit::Goal::Depth : circuit::Goal::Ands);
  }
  EXPECT_GT(compared, count * kVectors) << "most bits are undefined";
}

TEST_F(VerilogSimulationTest, DesignsHaveValuesOfSimulation) {
  for (const VerilogModule& module : fixed_modules())
    for (const circuit::Goal goal : {circuit::Goal::Ands, circuit::Goal::Depth})
      EXPECT_GT(expect_same(module, 1, goal), kVectors) << module.text;
}

}  // namespace
}  // namespace tinyot::test
