#include "circuitgen/registry.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "circuits.h"

namespace tinyot {
namespace {

std::string refusal_of(const std::string& spec) {
  try {
    find_circuit(spec);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Registry, FindsCircuitsByNameInAnySpelling) {
  for (const std::string& name : circuit_names()) {
    const auto circuit = find_circuit(name);
    ASSERT_NE(circuit, nullptr);
    EXPECT_EQ(circuit->info().name, name);
  }
  for (const char* name : {"AES128", "aes-128", "Aes_128"}) EXPECT_NE(find_circuit(name), nullptr) << name;
  for (const char* name : {"", "aes", "aes129", "aes 128", "aes128.txt", ":", "=", "aes129:sbox=small"}) {
    EXPECT_EQ(find_circuit(name), nullptr) << name;
  }
}

TEST(Registry, TheNameOfACircuitSaysWhatDiffersFromTheDefaults) {
  const std::pair<const char*, const char*> specs[] = {
      {"aes128:sbox=small", "aes128"},          {"AES-256:SBOX=Shallow", "aes256:sbox=shallow"},
  };
  for (const auto& [spec, canonical] : specs) EXPECT_EQ(find_circuit(spec)->info().name, canonical);
}

// Two parties compare names: with the canonical one each of them gets the same circuit again.
TEST(Registry, CanonicalNamesFindTheSameCircuit) {
  for (const CircuitFamily& family : circuit_families()) {
    for (const CircuitParameter& parameter : family.parameters) {
      const std::string value = parameter.choices.empty() ? std::to_string(parameter.min) : parameter.choices.back();
      const std::string spec = family.name + ":" + parameter.name + "=" + value;
      EXPECT_EQ(find_circuit(spec)->info().name, value == parameter.default_value ? family.name : spec);
    }
  }
}

TEST(Registry, SaysWhatIsKnownAndAllowed) {
  const std::pair<const char*, const char*> wrong[] = {
      {"aes128:box=small", "circuit aes128 has no parameter 'box'; it has sbox (small or shallow, default small)"},
      {"aes128:sbox=big", "circuit aes128: sbox is small or shallow, not 'big'"},
      {"aes128:sbox", "circuit aes128: 'sbox' is not of the form parameter=value"},
      {"aes128:sbox=small,sbox=small", "circuit aes128: sbox is given twice"},
      {"aes128:,sbox=small", "circuit aes128: '' is not of the form parameter=value"},
      {"aes128:\n=1", "circuit aes128 has no parameter '?'; it has sbox (small or shallow, default small)"},
  };
  for (const auto& [spec, message] : wrong) EXPECT_EQ(refusal_of(spec), message) << spec;
}

TEST(Registry, EveryFamilyDescribesItself) {
  std::set<std::string> names;
  for (const CircuitFamily& family : circuit_families()) {
    EXPECT_TRUE(names.insert(family.name).second) << family.name;
    EXPECT_FALSE(family.description.empty()) << family.name;
    EXPECT_LE(family.description.size(), 110u) << family.name;
    for (const CircuitParameter& parameter : family.parameters) {
      EXPECT_FALSE(parameter.description.empty()) << family.name << " " << parameter.name;
      EXPECT_TRUE(parameter.choices.empty() ? parameter.min <= parameter.max : parameter.choices.size() > 1);
    }
  }
}

}  // namespace
}  // namespace tinyot
