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

// Of each family, those of custody included, the default parameters and others; of `minimum` and
// `levenshtein`, whose defaults have over 10^8 gates, smaller ones.
constexpr Pin kPins[] = {
    // clang-format off
    {"aes128", 1, "0f860af3f94d9f50"},
    {"aes128:sbox=shallow", 1, "03bf4e2b2d719d10"},
    {"aes128:sbox=gf16", 1, "0bf97419910e6dd2"},
    {"aes192", 1, "e46e5e8ec85128c6"},
    {"aes192:sbox=shallow", 1, "62728ca95655c897"},
    {"aes192:sbox=gf16", 1, "132707932089df7a"},
    {"aes256", 1, "05c55431e705c989"},
    {"aes256:sbox=shallow", 1, "edcaa4bdef0b0c5f"},
    {"aes256:sbox=gf16", 1, "54d2a23fc9300e7e"},
    {"aes128_ctr", 1, "7209382502d3887f"},
    {"aes128_ctr:bytes=40,counter=4294967295,sbox=shallow", 1, "2d29519eb215cca5"},
    {"aes128_ctr:bytes=40,sbox=gf16", 1, "9cc1b724239cb2c2"},
    {"aes128_gcm", 1, "cf21273c1085488d"},
    {"aes128_gcm:bytes=40,aad=9", 1, "c94d39efd8175bd0"},
    {"aes128_gcm:bytes=0,sbox=shallow", 1, "af6c3f855093add3"},
    {"aes128_gcm:bytes=0,sbox=gf16", 1, "b1054abf55143755"},
    {"aes128_gcm_open", 1, "c8766bcaac9c20b3"},
    {"aes128_gcm_open:bytes=17,aad=9", 1, "ab38dfba9ef81976"},
    {"aes128_gcm_open:bytes=0,sbox=shallow", 1, "a635bf74bd29eb88"},
    {"aes128_gcm_open:bytes=0,sbox=gf16", 1, "69509e28eeabec76"},
    {"aes256_ctr", 1, "9b03a860eab910bf"},
    {"aes256_ctr:bytes=40,counter=0,sbox=shallow", 1, "8bc77bc349fca105"},
    {"aes256_ctr:bytes=40,sbox=gf16", 1, "221e6bd06b5937b0"},
    {"aes256_gcm", 1, "51a1e179763d127c"},
    {"aes256_gcm:bytes=40,aad=9", 1, "e48c7bc6bf548e08"},
    {"aes256_gcm:bytes=0,sbox=shallow", 1, "82f6f0b51f28181c"},
    {"aes256_gcm:bytes=0,sbox=gf16", 1, "9b15725c1a870aef"},
    {"aes256_gcm_open", 1, "1133a242bcca8ed0"},
    {"aes256_gcm_open:bytes=17,aad=9", 1, "bedfc6f758e5c5f8"},
    {"aes256_gcm_open:bytes=0,sbox=shallow", 1, "99ce64cae8bf64e7"},
    {"aes256_gcm_open:bytes=0,sbox=gf16", 1, "bcb44be3b060f017"},
    {"sha256", 1, "4db03ffedd585c51"},
    {"sha256:bytes=0", 1, "234e17d218d59823"},
    {"sha256:bytes=119", 1, "f24877578258c5be"},
    {"sha512", 1, "5d5a8e71a9a5a802"},
    {"sha512:bytes=0", 1, "242555d956e9a476"},
    {"sha512:bytes=239", 1, "fbf6e7a330991fed"},
    {"sha3", 1, "a262875f2bdfb461"},
    {"sha3:bytes=200", 1, "58daf5d5bd8edcad"},
    {"sha3:digest=224", 1, "bd317c4b5d8c070a"},
    {"sha3:digest=384,bytes=9", 1, "bbf3fe59e0b69a76"},
    {"sha3:digest=512,bytes=0", 1, "4de3b21cb9ec35c0"},
    {"hmac_sha256", 1, "1a0fbc22d6e47242"},
    {"hmac_sha256:key_bytes=65,bytes=9", 1, "9a621fc748fca137"},
    {"hkdf_sha256", 1, "c76a07912c9e065f"},
    {"hkdf_sha256:key_bytes=9,salt=9,info=9,bytes=65,to=A", 1, "34b08221acce6699"},
    {"hkdf_sha256:to=B", 1, "b1e90cb9a1d30bdd"},
    {"hkdf_sha256:to=none", 1, "94799a6b5fc680c1"},
    {"tls13_keys", 1, "bf5e4a300176c5ca"},
    {"tls13_keys:stage=application,key_bytes=32,dhe_bytes=48,to=A", 1, "ef36267eca4a5ffa"},
    {"tls13_keys:to=B", 1, "8ecb3ebab7874382"},
    {"tls13_keys:to=none", 1, "44e2b389dba403e8"},
    {"millionaires", 1, "510acb77e25cc70c"},
    {"millionaires:bits=1", 1, "b2647550105870c7"},
    {"millionaires:signed=1", 1, "a1d3c41a2e571959"},
    {"millionaires:signed=1,fraction=16", 1, "a1d3c41a2e571959"},
    {"millionaires:text=1", 1, "87c4ff1d72a5f0e3"},
    {"hamming", 1, "4215641e1719d6c7"},
    {"hamming:bits=9", 1, "8fc2f62bf6e908f4"},
    {"set_intersection:element_bits=4", 1, "52398f3386870117"},
    {"set_intersection", 1, "dce93441b151f537"},
    {"set_intersection:element_bits=1", 1, "f460d92a0c1257ed"},
    {"sorted_set_intersection", 1, "b0a6095811bfbded"},
    {"sorted_set_intersection:count=5,bits=3", 1, "1ff5276960c1f4c3"},
    {"sorted_set_intersection:count=5,bits=3,signed=1", 1, "3820960336df2c97"},
    {"sorted_set_intersection:count=5,bits=16,text=1", 1, "a015911fc138ba59"},
    {"minimum:count=9", 1, "96462da448b36713"},
    {"minimum:count=1000", 1, "248dd38b3e250b6c"},
    {"minimum:count=2,bits=64", 1, "1fb74777fbb83c53"},
    {"minimum:count=9,signed=1", 1, "87edfc0a67691ace"},
    {"minimum:count=9,bits=16,text=1", 1, "38df2e3e86eae0d6"},
    {"levenshtein:rows=7,columns=5", 1, "f2c6983a86a59a68"},
    {"levenshtein:rows=60,columns=70,symbol_bits=8", 1, "d13e9fb261b30251"},
    {"levenshtein:rows=5,columns=7,cells=distances", 1, "1a671b6dde434a14"},
    {"sort", 1, "d2d84dc1ec0e58ea"},
    {"sort:count=9,bits=5", 1, "24fd51da59246b35"},
    {"sort:count=9,bits=5,signed=1", 1, "657701f8e3e800ca"},
    {"sort:count=9,bits=16,text=1", 1, "725e74437b636cda"},
    {"comparisons", 1, "217fb4fd2f29b49f"},
    {"comparisons:rows=3,columns=4,bits=2", 1, "795e7793f9657aa5"},
    {"comparisons:rows=3,columns=4,bits=2,signed=1", 1, "021118b9e15ac4a3"},
    {"comparisons:rows=3,columns=4,bits=16,text=1", 1, "3b87a7e8ed0d4d24"},
    {"random", 2, "df8851a3f5149d8b"},
    {"random:width=9,depth=5,seed=7", 2, "fbb67352093ac056"},
    {"key_check", 1, "e42ec893a47e0080"},
    {"key_check:class=mac", 1, "c41db264cda306d7"},
    {"key_check:algorithm=aes256,class=kdf", 1, "29b37fe8f7592ad9"},
    {"key_check:algorithm=hmac_sha256,class=mac", 1, "3a9488423ada7481"},
    {"key_load", 1, "8abc6ebaf8c71fb8"},
    {"key_load:class=mac", 1, "52da0ef9c941fe81"},
    {"key_load:algorithm=aes256,class=kdf", 1, "4dd16053da9229e8"},
    {"key_load:algorithm=hmac_sha256,class=mac", 1, "21069e20cbf5f3ee"},
    {"key_derive", 1, "a60248a972a0a535"},
    {"key_derive:class=kdf", 1, "44b7119aad328fd9"},
    {"key_derive:parent=aes256,algorithm=aes256,info=33", 1, "a743c40235c0fdfd"},
    {"key_derive:algorithm=hmac_sha256,class=mac", 1, "124426e65a614186"},
    {"key_seal", 1, "81b97bdcdf2f4348"},
    {"key_seal:algorithm=aes256,by=B,bytes=40,aad=9", 1, "4ad4cb1fadee9b04"},
    {"key_seal:bytes=0,aad=9,shown=yes", 1, "6583d7faadf4b2ce"},
    {"key_open", 1, "e9158a78abf036af"},
    {"key_open:algorithm=aes256,by=B,bytes=40,aad=9", 1, "bf3caa55b506a5f2"},
    {"key_open:bytes=0,aad=9,shown=yes", 1, "431a88a38f2f1b71"},
    {"key_sign", 1, "e181a216ac88a6b7"},
    {"key_sign:algorithm=aes256,by=B,bytes=0", 1, "cea27740a9f3ed38"},
    {"key_sign:algorithm=hmac_sha256,bytes=9", 1, "1981b33ae74c8829"},
    {"key_verify", 1, "efd218629bd176f0"},
    {"key_verify:algorithm=aes256,by=B,bytes=0", 1, "3c7c90d447641309"},
    {"key_verify:algorithm=hmac_sha256,bytes=9", 1, "c900ff3047e284fa"},
    // clang-format on
};

std::vector<CircuitFamily> families() {
  std::vector<CircuitFamily> all = circuit_families();
  all.insert(all.end(), key_circuit_families().begin(), key_circuit_families().end());
  return all;
}

// Fails: UsageError. Null if there is no such family.
std::unique_ptr<Circuit> made(const std::string& spec) {
  auto circuit = find_circuit(spec);
  return circuit != nullptr ? std::move(circuit) : find_key_circuit(spec);
}

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
    const auto circuit = made(spec);
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
    EXPECT_EQ(made(spec)->info().name, spec) << "not canonical";
    ++pins[spec.substr(0, spec.find(':'))];
  }
  for (const CircuitFamily& family : families()) {
    EXPECT_GE(pins[family.name], 2u) << family.name;
    // Each choice at least once: it decides which code makes the gates.
    for (const CircuitParameter& parameter : family.parameters)
      for (const std::string& choice : parameter.choices) {
        const bool is_pinned = std::ranges::any_of(kPins, [&](const Pin& pin) {
          const std::string name = built_in(*made(pin.spec))->name + ",";
          return name.starts_with(family.name + ":") &&
                 name.find(parameter.name + "=" + choice + ",") != std::string::npos;
        });
        EXPECT_TRUE(is_pinned) << family.name << " " << parameter.name << "=" << choice;
      }
  }
}

CircuitFingerprint fingerprint_of_spec(const std::string& spec) {
  return circuit::fingerprint_of(*made(spec));
}

// Changed singly.
TEST(BuiltInCircuits, EveryParameterIsInTheFingerprint) {
  for (const CircuitFamily& family : families()) {
    std::map<std::string, std::string> found = {
        {text_of(fingerprint_of_spec(family.name)), "default"}};
    for (const CircuitParameter& parameter : family.parameters) {
      std::vector<std::string> values(parameter.choices);
      if (values.empty())
        values = {std::to_string(parameter.min), std::to_string(parameter.min + 1)};
      for (const std::string& value : values) {
        if (value == parameter.default_value) continue;
        std::string spec = family.name + ":" + parameter.name + "=" + value;
        if (value == "hmac_sha256" && family.name != "key_sign" && family.name != "key_verify")
          spec += ",class=mac";  // its only one
        if (parameter.name == "fraction") spec += ",signed=1";
        if (parameter.name == "text") spec += ",bits=8";
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
