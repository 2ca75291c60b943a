// The costs in doc/circuits.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <set>
#include <string>

#include "circuitgen/cost.h"
#include "circuitgen/generators/registry.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

std::uint64_t number_of(std::string text) {
  std::erase(text, ',');
  return std::stoull(text);
}

TEST(DocumentedCosts, AreThoseOfTheCircuits) {
  constexpr std::uint64_t kGatesMax = 5'000'000;
  static const std::regex kRow(R"(^\| `([a-z0-9_:=,]+)` \| ([0-9,]+) \| ([0-9,]+) \|.*)");
  std::ifstream file(TINYOT_SOURCE_DIR "/doc/circuits.md");
  ASSERT_TRUE(file);
  std::set<std::string> families;
  std::smatch row;
  for (std::string line; std::getline(file, line);) {
    if (!std::regex_match(line, row, kRow)) continue;
    auto circuit = find_circuit(row[1].str());
    if (circuit == nullptr) circuit = find_key_circuit(row[1].str());
    ASSERT_NE(circuit, nullptr) << row[1];
    families.insert(row[1].str().substr(0, row[1].str().find(':')));
    const auto cost = cost_within(*circuit, kGatesMax);
    if (!cost) continue;  // too large for a test
    EXPECT_EQ(cost->ands, number_of(row[2])) << row[1];
    EXPECT_EQ(cost->and_depth, number_of(row[3])) << row[1];
  }
  for (const CircuitFamily& family : key_circuit_families())
    EXPECT_TRUE(families.contains(family.name)) << family.name << " is missing";
  for (const std::string& name : circuit_names()) {
    EXPECT_TRUE(name == "random" || families.contains(name)) << name << " is missing";
  }
}

}  // namespace
}  // namespace tinyot
