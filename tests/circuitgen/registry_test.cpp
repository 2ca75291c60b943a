#include "circuitgen/generators/registry.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "circuits.h"
#include "tests/support/layers.h"

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
  for (const char* name : {"AES128", "aes-128", "Aes_128"})
    EXPECT_NE(find_circuit(name), nullptr) << name;
  for (const char* name :
       {"", "aes", "aes129", "aes 128", "aes128.txt", ":", "=", "aes129:sbox=small"}) {
    EXPECT_EQ(find_circuit(name), nullptr) << name;
  }
}

TEST(Registry, CircuitNameHasTheNonDefaultParameters) {
  const std::pair<const char*, const char*> specs[] = {
      {"aes128:sbox=small", "aes128"},
      {"AES-256:SBOX=Shallow", "aes256:sbox=shallow"},
      {"Set-Intersection:element-bits=007", "set_intersection:element_bits=7"},
      {"levenshtein:cells=distances,columns=5,rows=2000", "levenshtein:columns=5,cells=distances"},
      {"sha256:bytes=64", "sha256"},
  };
  for (const auto& [spec, canonical] : specs) EXPECT_EQ(find_circuit(spec)->info().name, canonical);
}

// Two parties compare names: the canonical name yields the same circuit again.
TEST(Registry, CanonicalNamesFindTheSameCircuit) {
  for (const CircuitFamily& family : circuit_families()) {
    for (const CircuitParameter& parameter : family.parameters) {
      const std::string value =
          parameter.choices.empty() ? std::to_string(parameter.min) : parameter.choices.back();
      const std::string spec = family.name + ":" + parameter.name + "=" + value;
      EXPECT_EQ(find_circuit(spec)->info().name,
                value == parameter.default_value ? family.name : spec);
    }
  }
}

TEST(Registry, ErrorsNameKnownParametersAndAllowedValues) {
  const std::pair<const char*, const char*> wrong[] = {
      {"aes128:box=small",
       "circuit aes128 has no parameter 'box'; it has sbox (small, shallow or gf16, default "
       "small)"},
      {"aes128:sbox=big", "circuit aes128: sbox is small, shallow or gf16, not 'big'"},
      {"aes128:sbox", "circuit aes128: 'sbox' is not of the form parameter=value"},
      {"sort:bits=257", "circuit sort: bits is 1 to 256, not '257'"},
      {"sort:bits=0", "circuit sort: bits is 1 to 256, not '0'"},
      {"sort:bits=-1", "circuit sort: bits is 1 to 256, not '-1'"},
      {"sort:bits=", "circuit sort: bits is 1 to 256, not ''"},
      {"sort:bits=4x", "circuit sort: bits is 1 to 256, not '4x'"},
      {"sort:bits=99999999999999999999999",
       "circuit sort: bits is 1 to 256, not '99999999999999999999999'"},
      {"aes128:sbox=small,sbox=small", "circuit aes128: sbox is given twice"},
      {"aes128_ctr:bytes=0", "circuit aes128_ctr: bytes is 1 to 16777216, not '0'"},
      {"aes256_gcm_open:bytes=1048577",
       "circuit aes256_gcm_open: bytes is 0 to 1048576, not '1048577'"},
      {"sorted_set_intersection:count=0",
       "circuit sorted_set_intersection: count is 1 to 262144, not '0'"},
      {"sorted_set_intersection:bits=257",
       "circuit sorted_set_intersection: bits is 1 to 256, not '257'"},
      {"sha3:digest=128", "circuit sha3: digest is 256, 224, 384 or 512, not '128'"},
      {"hkdf_sha256:bytes=8161", "circuit hkdf_sha256: bytes is 1 to 8160, not '8161'"},
      {"hkdf_sha256:to=C", "circuit hkdf_sha256: to is both, A, B or none, not 'C'"},
      {"tls13_keys:key_bytes=24", "circuit tls13_keys: key_bytes is 16 or 32, not '24'"},
      {"aes128:,sbox=small", "circuit aes128: '' is not of the form parameter=value"},
      {"aes128:\n=1",
       "circuit aes128 has no parameter '?'; it has sbox (small, shallow or gf16, default small)"},
  };
  for (const auto& [spec, message] : wrong) EXPECT_EQ(refusal_of(spec), message) << spec;
}

// Nothing is allocated for a circuit before it is generated, and no width overflows.
TEST(Registry, MakesTheLargestCircuitOfEachFamily) {
  for (const CircuitFamily& family : circuit_families()) {
    std::string spec = family.name;
    for (const CircuitParameter& parameter : family.parameters) {
      // Those that were added exclude each other, and widen nothing.
      if (parameter.choices.empty() && !parameter.is_added)
        spec += (spec == family.name ? ":" : ",") + parameter.name + "=" +
                std::to_string(parameter.max);
    }
    EXPECT_EQ(find_circuit(spec)->info().name, spec);
  }
}

// The contract of Circuit: the same stream each time, each input bit at most once, no wire read
// after it is freed, each output bit once (checked by the evaluator).
TEST(Registry, StreamsAreWellFormedAndDeterministic) {
  for (const std::string spec : {"aes192",
                                 "aes128_ctr:bytes=40",
                                 "aes128_gcm:bytes=40,aad=9",
                                 "aes256_gcm_open:bytes=17",
                                 "sha256:bytes=9",
                                 "sha512:bytes=9",
                                 "sha3:bytes=9,digest=384",
                                 "hmac_sha256:bytes=9",
                                 "hkdf_sha256:salt=9,info=9",
                                 "tls13_keys",
                                 "hamming:bits=9",
                                 "set_intersection:element_bits=4",
                                 "sorted_set_intersection:count=5,bits=3",
                                 "minimum:count=9",
                                 "sort:count=9",
                                 "comparisons:rows=3,columns=4",
                                 "millionaires",
                                 "sorted_set_intersection:count=5,bits=8,signed=1",
                                 "sort:count=9,text=1",
                                 "levenshtein:rows=7,columns=5",
                                 "levenshtein:rows=5,columns=7,cells=distances"}) {
    const auto circuit = find_circuit(spec);
    RecordingSink once, again;
    circuit->generate(once);
    circuit->generate(again);
    ASSERT_EQ(once.gates.size(), again.gates.size());
    std::set<std::pair<std::uint64_t, std::uint64_t>> inputs;
    for (std::size_t i = 0; i < once.gates.size(); ++i) {
      const Gate &x = once.gates[i], &y = again.gates[i];
      EXPECT_TRUE(x.kind == y.kind && x.out == y.out && x.in0 == y.in0 && x.in1 == y.in1) << spec;
      if (x.kind == GateKind::Input) {
        EXPECT_TRUE(inputs.insert({x.in0, x.in1}).second) << spec;
      }
    }
    std::mt19937_64 rng(1);
    EXPECT_NO_THROW(evaluate(*circuit, 3, random_inputs(circuit->info(), 3, rng))) << spec;
  }
}

TEST(Registry, EveryFamilyHasDescriptions) {
  std::set<std::string> names;
  for (const CircuitFamily& family : circuit_families()) {
    EXPECT_TRUE(names.insert(family.name).second) << family.name;
    EXPECT_FALSE(family.description.empty()) << family.name;
    EXPECT_LE(family.description.size(), 110u) << family.name;
    for (const CircuitParameter& parameter : family.parameters) {
      EXPECT_FALSE(parameter.description.empty()) << family.name << " " << parameter.name;
      EXPECT_TRUE(parameter.choices.empty() ? parameter.min <= parameter.max
                                            : parameter.choices.size() > 1);
    }
  }
}

}  // namespace
}  // namespace tinyot
