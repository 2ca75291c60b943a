// The gates of the built-in circuits are those of their revision, which the parties compare in
// place of the gates.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "crypto/random_oracle.h"
#include "engine/circuit_fingerprint.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

struct Pin {
  const char* spec;
  std::uint32_t revision;
  const char* digest;
};

// Of each family the default parameters and others; of `minimum` and `levenshtein`, whose defaults
// have over 10^8 gates, smaller ones.
constexpr Pin kPins[] = {
    // clang-format off
    {"aes128", 1, "8c4b5a24ddafec4a"},
    {"aes128:sbox=shallow", 1, "9dc815d1b41f268c"},
    {"aes192", 1, "9f90d5abd41dcc88"},
    {"aes192:sbox=shallow", 1, "517bac897d3248de"},
    {"aes256", 1, "0effea9beb7c88c8"},
    {"aes256:sbox=shallow", 1, "9d7b25edbf48f41b"},
    {"aes128_ctr", 1, "cda930d9ed87f629"},
    {"aes128_ctr:bytes=40,counter=4294967295,sbox=shallow", 1, "dc28bf308f83ddd1"},
    {"aes128_gcm", 1, "980f244b2d35868b"},
    {"aes128_gcm:bytes=40,aad=9", 1, "f11ac09a4cc87869"},
    {"aes128_gcm:bytes=0,sbox=shallow", 1, "56006a940a37a48d"},
    {"aes128_gcm_open", 1, "001c0b0226fab261"},
    {"aes128_gcm_open:bytes=17,aad=9", 1, "885c3697137f6475"},
    {"aes128_gcm_open:bytes=0,sbox=shallow", 1, "f9c71bdfb24b258a"},
    {"aes256_ctr", 1, "76f8b51bb6aa5fc3"},
    {"aes256_ctr:bytes=40,counter=0,sbox=shallow", 1, "e950e0bb660e2d05"},
    {"aes256_gcm", 1, "1166e8afb5623a57"},
    {"aes256_gcm:bytes=40,aad=9", 1, "b61e8fe4379b365c"},
    {"aes256_gcm:bytes=0,sbox=shallow", 1, "4afb7d66e86a3253"},
    {"aes256_gcm_open", 1, "92182f6708a465d9"},
    {"aes256_gcm_open:bytes=17,aad=9", 1, "ed2fbac335298215"},
    {"aes256_gcm_open:bytes=0,sbox=shallow", 1, "ccf61159fbc794d2"},
    {"sha256", 1, "73a67aee0622981a"},
    {"sha256:bytes=0", 1, "0d8e10e70caf1dd6"},
    {"sha256:bytes=119", 1, "aeeb706e9f931975"},
    {"sha512", 1, "b4a4d30214bcd19f"},
    {"sha512:bytes=0", 1, "ffd1b7dbb75be9a4"},
    {"sha512:bytes=239", 1, "fa5371557a615558"},
    {"sha3", 1, "81edf10e1030a7ec"},
    {"sha3:bytes=200", 1, "f249bf5fa102ca01"},
    {"sha3:digest=224", 1, "0e125649c3c7df5e"},
    {"sha3:digest=384,bytes=9", 1, "53bd231823b3681f"},
    {"sha3:digest=512,bytes=0", 1, "5e2e5a7eeeaee27e"},
    {"hmac_sha256", 1, "0001badf37a68f97"},
    {"hmac_sha256:key_bytes=65,bytes=9", 1, "647e7af1865c7c91"},
    {"hkdf_sha256", 1, "22c0159b7822d487"},
    {"hkdf_sha256:key_bytes=9,salt=9,info=9,bytes=65,to=A", 1, "4c04a4dae0e7be9d"},
    {"hkdf_sha256:to=B", 1, "b6853fc817c05d96"},
    {"hkdf_sha256:to=none", 1, "1e1de903fbd7c701"},
    {"tls13_keys", 1, "382c8743166701bd"},
    {"tls13_keys:stage=application,key_bytes=32,dhe_bytes=48,to=A", 1, "2865a8696316e4db"},
    {"tls13_keys:to=B", 1, "6082d50465a99223"},
    {"tls13_keys:to=none", 1, "5295c6a290f7406d"},
    {"millionaires", 1, "406ebcaba03cfc24"},
    {"millionaires:bits=1", 1, "c3471aa0b3e62f4c"},
    {"hamming", 1, "f2842858d5a3ce79"},
    {"hamming:bits=9", 1, "900b84ccfb5d4da3"},
    {"set_intersection:element_bits=4", 1, "e130109cae28a01d"},
    {"set_intersection", 1, "8275895241ad55ae"},
    {"set_intersection:element_bits=1", 1, "295689c89e40f19d"},
    {"sorted_set_intersection", 1, "45d62fbd135b3bbd"},
    {"sorted_set_intersection:count=5,bits=3", 1, "27d5d4ea40a52dbb"},
    {"minimum:count=9", 1, "f520b1f5d43d974d"},
    {"minimum:count=1000", 1, "5f8d7bd90c0a8718"},
    {"minimum:count=2,bits=64", 1, "ab7a414e458b2813"},
    {"levenshtein:rows=7,columns=5", 1, "4afe93cb60ce4284"},
    {"levenshtein:rows=60,columns=70,symbol_bits=8", 1, "a23674333f34dcb8"},
    {"levenshtein:rows=5,columns=7,cells=distances", 1, "97125d8511ff8afd"},
    {"sort", 1, "d5570012120a4a82"},
    {"sort:count=9,bits=5", 1, "fe31307bfba04692"},
    {"comparisons", 1, "d295ce06d54629a6"},
    {"comparisons:rows=3,columns=4,bits=2", 1, "42aa6918bb8c8c07"},
    {"random", 1, "a71220c1f8f0883c"},
    {"random:width=9,depth=5,seed=7", 1, "cfe5a0ca396108ad"},
    // clang-format on
};

// Of the gates, and of the places of inputs, constants and outputs among them: a run depends on
// these, too (circuitgen/layering.h).
class StreamDigest final : public GateSink {
 public:
  explicit StreamDigest(const Circuit& circuit) {
    oracle_.absorb_object(engine::fingerprint_of_gates(circuit).fingerprint.bytes);
    circuit.generate(*this);
  }
  void emit(const Gate& gate) override {
    if (gate.kind == GateKind::Xor || gate.kind == GateKind::And || gate.kind == GateKind::Not)
      ++gates_;
    if (gate.kind == GateKind::Input || gate.kind == GateKind::Const)
      add({static_cast<std::uint64_t>(gate.kind), gates_, gate.in0, gate.in1});
    if (gate.kind == GateKind::Output)
      add({static_cast<std::uint64_t>(gate.kind), gates_, gate.out, gate.in1});
  }
  std::string text() {
    const Digest digest = oracle_.digest();
    return hex_of(bytes_of(digest).first(8));
  }

 private:
  void add(const std::array<std::uint64_t, 4>& place) { oracle_.absorb_object(place); }

  RandomOracle oracle_{{}, {crypto::Phase::unregistered("test stream"), '*', 0}};
  std::uint64_t gates_ = 0;
};

TEST(BuiltInCircuits, HaveTheGatesOfTheirRevision) {
  for (const auto& [spec, revision, digest] : kPins) {
    const auto circuit = find_circuit(spec);
    ASSERT_NE(circuit, nullptr) << spec;
    const std::uint32_t now = built_in(*circuit)->revision;
    const std::string found = StreamDigest(*circuit).text();
    if (found != digest) {
      EXPECT_NE(now, revision)
          << "The gates of " << spec << ", or the places of its inputs and outputs, have changed: "
          << "step the revision of its family in circuitgen/generators/, so that parties with the "
          << "gates of before and of now refuse each other in place of accusing each other.";
    }
    EXPECT_TRUE(found == digest && now == revision)
        << "The line of revision " << now << ": {\"" << spec << "\", " << now << ", \"" << found
        << "\"},";
  }
}

TEST(BuiltInCircuits, EachFamilyIsPinnedWithSeveralParameters) {
  std::map<std::string, std::size_t> pins;
  for (const Pin& pin : kPins) {
    const std::string spec = pin.spec;
    EXPECT_EQ(find_circuit(spec)->info().name, spec) << "not canonical";
    ++pins[spec.substr(0, spec.find(':'))];
  }
  for (const CircuitFamily& family : circuit_families()) {
    EXPECT_GE(pins[family.name], 2u) << family.name;
    // Each choice at least once: it decides which code makes the gates.
    for (const CircuitParameter& parameter : family.parameters)
      for (const std::string& choice : parameter.choices) {
        const bool is_pinned = std::ranges::any_of(kPins, [&](const Pin& pin) {
          const std::string name = built_in(*find_circuit(pin.spec))->name + ",";
          return name.starts_with(family.name + ":") &&
                 name.find(parameter.name + "=" + choice + ",") != std::string::npos;
        });
        EXPECT_TRUE(is_pinned) << family.name << " " << parameter.name << "=" << choice;
      }
  }
}

CircuitFingerprint fingerprint_of_spec(const std::string& spec) {
  return circuit::fingerprint_of(*find_circuit(spec));
}

// Changed singly.
TEST(BuiltInCircuits, EveryParameterIsInTheFingerprint) {
  for (const CircuitFamily& family : circuit_families()) {
    std::map<std::string, std::string> found = {
        {text_of(fingerprint_of_spec(family.name)), "default"}};
    for (const CircuitParameter& parameter : family.parameters) {
      std::vector<std::string> values(parameter.choices);
      if (values.empty())
        values = {std::to_string(parameter.min), std::to_string(parameter.min + 1)};
      for (const std::string& value : values) {
        if (value == parameter.default_value) continue;
        const std::string spec = family.name + ":" + parameter.name + "=" + value;
        const auto [other, is_new] = found.emplace(text_of(fingerprint_of_spec(spec)), spec);
        EXPECT_TRUE(is_new) << spec << " and " << other->second;
      }
    }
  }
}

TEST(BuiltInCircuits, NameAndRevisionAreInTheFingerprint) {
  const auto circuit = find_circuit("aes128");
  const BuiltIn what = *built_in(*circuit);
  EXPECT_EQ(what.name, "aes128:sbox=small");
  EXPECT_EQ(built_in(*find_circuit("levenshtein:columns=5"))->name,
            "levenshtein:cells=differences,columns=5,rows=2000,symbol_bits=2");
  const CircuitFingerprint whole = circuit::fingerprint_of(*circuit);
  EXPECT_EQ(engine::fingerprint_of(circuit->info(), what), whole);
  EXPECT_NE(engine::fingerprint_of(circuit->info(), {what.name, what.revision + 1}), whole);
  EXPECT_NE(engine::fingerprint_of(circuit->info(), {"aes192:sbox=small", what.revision}), whole);
  EXPECT_NE(engine::fingerprint_of(find_circuit("aes192")->info(), what), whole);
}

}  // namespace
}  // namespace tinyot::test
