#include "service/policy.h"

#include <gtest/gtest.h>

#include "service/configuration.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

using service::Policy;
using Clock = Policy::Clock;

Policy policy_from(const std::string& text) {
  return Policy(service::parse_policy(text, "policy"));
}

service::wire::Terms terms_of(const std::string& circuit, std::size_t lanes = 1) {
  return service::terms_of(*engine::LoadedCircuit::generated(circuit, lanes));
}

bool allows(const std::string& policy, const service::wire::Terms& terms) {
  return !policy_from(policy).refusal(terms, Clock::now());
}

TEST(Policy, NothingIsAllowedByDefault) { EXPECT_FALSE(allows("", terms_of("aes128"))); }

TEST(Policy, CircuitsByName) {
  const std::string policy = "allow { circuit: 'aes128' lanes_max: 4 }";
  EXPECT_TRUE(allows(policy, terms_of("aes128", 4)));
  EXPECT_FALSE(allows(policy, terms_of("aes128", 5)));
  EXPECT_FALSE(allows(policy, terms_of("aes192")));
  // A parameter that has no bound must have its default.
  EXPECT_FALSE(allows(policy, terms_of("aes128:sbox=shallow")));
  EXPECT_TRUE(allows(policy, terms_of("aes128:sbox=small")));
}

TEST(Policy, BoundsOfParameters) {
  const std::string policy =
      "allow { circuit: 'minimum' parameter { name: 'count' min: 10 max: 100 } }";
  EXPECT_TRUE(allows(policy, terms_of("minimum:count=10")));
  EXPECT_TRUE(allows(policy, terms_of("minimum:count=100")));
  EXPECT_FALSE(allows(policy, terms_of("minimum:count=101")));
  EXPECT_FALSE(allows(policy, terms_of("minimum:count=8")));
  EXPECT_FALSE(allows(policy, terms_of("minimum:count=10,bits=21")));
  // The default, a million, is beyond the bound, although the name does not have it.
  EXPECT_FALSE(allows(policy, terms_of("minimum")));
  const std::string words =
      "allow { circuit: 'aes128' parameter { name: 'sbox' value: 'shallow' } }";
  EXPECT_TRUE(allows(words, terms_of("aes128:sbox=shallow")));
  EXPECT_FALSE(allows(words, terms_of("aes128")));
}

// The terms of a peer are what it claims.
TEST(Policy, MalformedTermsAreRefused) {
  const std::string policy = "allow { circuit: 'minimum' parameter { name: 'count' max: 100 } }";
  service::wire::Terms terms = terms_of("minimum:count=10");
  for (const char* name :
       {"", ":", "minimum:", "minimum:count", "minimum:count=", "minimum:count=-1",
        "minimum:count=1e9", "minimum:count=0x10", "minimum:count=10 ",
        "minimum:=,=", "minimum:count=99999999999999999999", "minimum:count=10,no=1"}) {
    terms.set_circuit(name);
    EXPECT_FALSE(allows(policy, terms)) << name;
  }
  // A file may have the name of a circuit.
  terms.set_circuit("minimum:count=10");
  terms.set_digest("0123456789abcdef");
  EXPECT_FALSE(allows(policy, terms));
}

TEST(Policy, CircuitFilesByDigestAndRoles) {
  const std::string file = "1 3\n2 1 1\n1 1\n2 1 0 1 2 AND\n";
  const auto load = [&](const circuit::CircuitFileOptions& options) {
    return service::terms_of(engine::LoadedCircuit::from_text(file, "and", options, 1));
  };
  const std::string digest = load({}).digest();
  const std::string rule = "allow { digest: '" + digest + "' ";
  EXPECT_TRUE(allows(rule + "}", load({})));
  EXPECT_FALSE(allows("allow { digest: '" + digest + "0' }", load({})));
  const circuit::CircuitFileOptions swapped = {.owners = {{0, Party::B}, {1, Party::A}}};
  EXPECT_FALSE(allows(rule + "}", load(swapped)));
  EXPECT_TRUE(
      allows(rule + "input { number: 0 owner: B } input { number: 1 owner: A } }", load(swapped)));
  const circuit::CircuitFileOptions to_a = {.other_receivers = circuit::Receiver::A};
  EXPECT_FALSE(allows(rule + "}", load(to_a)));
  EXPECT_TRUE(allows(rule + "outputs: ONLY_A }", load(to_a)));
  EXPECT_FALSE(allows(rule + "outputs: ONLY_B }", load(to_a)));
}

TEST(Policy, RateCountsJobsThatBegin) {
  Policy policy = policy_from("allow { circuit: 'aes128' rate { jobs: 2 seconds: 10 } }");
  const auto terms = terms_of("aes128");
  const auto start = Clock::now();
  EXPECT_FALSE(policy.begin(terms, start));
  EXPECT_FALSE(policy.refusal(terms, start));
  EXPECT_FALSE(policy.begin(terms, start + std::chrono::seconds(5)));
  EXPECT_TRUE(policy.begin(terms, start + std::chrono::seconds(9)));
  EXPECT_TRUE(policy.refusal(terms, start + std::chrono::seconds(9)));
  EXPECT_FALSE(policy.begin(terms, start + std::chrono::seconds(10)));
  EXPECT_TRUE(policy.begin(terms, start + std::chrono::seconds(14)));
  EXPECT_FALSE(policy.begin(terms, start + std::chrono::seconds(15)));
}

TEST(Policy, AnyRuleMayAllow) {
  Policy policy = policy_from(
      "allow { circuit: 'aes128' rate { jobs: 1 seconds: 10 } }\n"
      "allow { circuit: 'aes128' lanes_max: 8 rate { jobs: 1 seconds: 10 } }");
  const auto now = Clock::now();
  EXPECT_FALSE(policy.begin(terms_of("aes128"), now));
  EXPECT_FALSE(policy.begin(terms_of("aes128"), now));
  EXPECT_TRUE(policy.begin(terms_of("aes128"), now));
}

}  // namespace
}  // namespace tinyot::test
