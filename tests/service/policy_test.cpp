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

TEST(Policy, ParameterMayHaveALeastValueAlone) {
  const std::string policy = "allow { circuit: 'minimum' parameter { name: 'count' min: 10 } }";
  EXPECT_TRUE(allows(policy, terms_of("minimum")));
  EXPECT_TRUE(allows(policy, terms_of("minimum:count=10")));
  EXPECT_FALSE(allows(policy, terms_of("minimum:count=9")));
}

// The phase that one party has named is part of the terms.
TEST(Policy, DifferenceOfPhasesIsNamed) {
  const auto none = terms_of("aes128");
  auto garbled = none;
  garbled.set_online("garbled");
  EXPECT_FALSE(service::same_terms(none, garbled));
  EXPECT_EQ(service::difference(none, garbled),
            "online phase: this party has none named, the peer has garbled");
  EXPECT_EQ(service::difference(garbled, none),
            "online phase: this party has garbled, the peer has none named");
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
  const service::wire::Terms good = terms_of("minimum:count=10");
  EXPECT_TRUE(allows(policy, good));
  // A file may have the name of a circuit.
  terms = good;
  terms.set_is_built_in(false);
  EXPECT_FALSE(allows(policy, terms));
  for (const std::string& fingerprint : {std::string(), good.fingerprint().substr(0, 16),
                                         good.fingerprint() + "0", std::string(64, 'x')}) {
    terms = good;
    terms.set_fingerprint(fingerprint);
    EXPECT_FALSE(allows(policy, terms)) << fingerprint;
  }
}

// Foreign text is shown in part, without control characters.
TEST(Policy, ReasonsAreShortAndPrintable) {
  service::wire::Terms terms = terms_of("minimum:count=10");
  terms.set_circuit("\x1b[2J\x7f\xff" + std::string(1 << 16, 'a'));
  const std::string reason = policy_from("").refusal(terms, Clock::now()).value();
  EXPECT_LT(reason.size(), 300u);
  for (const char c : reason) EXPECT_TRUE(c >= ' ' && c <= '~') << reason;
  EXPECT_LT(service::difference(terms_of("minimum"), terms).size(), 400u);
}

const std::string kAnd = "1 3\n2 1 1\n1 1\n2 1 0 1 2 AND\n";

service::wire::Terms terms_of_file(const std::string& text,
                                   const circuit::CircuitFileOptions& options = {},
                                   const std::string& name = "and") {
  return service::terms_of(engine::LoadedCircuit::from_text(text, name, options, 1));
}

TEST(Policy, CircuitsByWholeFingerprintWhichHasTheRoles) {
  const std::string fingerprint = terms_of_file(kAnd).fingerprint();
  ASSERT_EQ(fingerprint.size(), 64u);
  const std::string rule = "allow { digest: '" + fingerprint + "' }";
  EXPECT_TRUE(allows(rule, terms_of_file(kAnd)));
  EXPECT_TRUE(allows(rule, terms_of_file(kAnd, {}, "another name")));
  EXPECT_TRUE(allows(rule, terms_of_file("# a comment\n\n" + kAnd)));
  EXPECT_FALSE(allows(rule, terms_of("aes128")));
  const circuit::CircuitFileOptions swapped = {.sources = {{0, InputSource::B},
                                                           {1, InputSource::A}}},
                                    to_a = {.other_receivers = circuit::Receiver::A};
  for (const auto& options : {swapped, to_a}) {
    const auto terms = terms_of_file(kAnd, options);
    EXPECT_FALSE(allows(rule, terms));
    EXPECT_TRUE(allows("allow { digest: '" + terms.fingerprint() + "' }", terms));
  }
  std::string upper = fingerprint;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  EXPECT_TRUE(allows("allow { digest: '" + upper + "' }", terms_of_file(kAnd)));
  // A built-in circuit can be allowed in this way as well: then in this revision alone.
  const std::string aes = terms_of("aes128").fingerprint();
  EXPECT_TRUE(allows("allow { digest: '" + aes + "' }", terms_of("aes128")));
  EXPECT_FALSE(allows("allow { digest: '" + aes + "' }", terms_of("aes128:sbox=shallow")));
}

// With 64 bits, a collision was found in minutes: two circuits that share the first 16 digits are
// different circuits.
TEST(Policy, FingerprintsThatShareTheFirstDigitsAreDifferent) {
  const auto terms = terms_of_file(kAnd);
  for (const std::size_t same : {16, 32, 63}) {
    std::string other = terms.fingerprint();
    for (std::size_t i = same; i < other.size(); ++i) other[i] = other[i] == '0' ? '1' : '0';
    EXPECT_FALSE(allows("allow { digest: '" + other + "' }", terms)) << same;
    auto theirs = terms;
    theirs.set_fingerprint(other);
    EXPECT_FALSE(service::same_terms(terms, theirs)) << same;
  }
}

TEST(Policy, RefusalsHaveTheWholeFingerprint) {
  const auto file = terms_of_file(kAnd), built_in = terms_of("aes128");
  for (const auto& terms : {file, built_in}) {
    const std::string reason = policy_from("").refusal(terms, Clock::now()).value();
    EXPECT_NE(reason.find("no rule for " + terms.circuit()), std::string::npos) << reason;
    EXPECT_NE(reason.find(terms.fingerprint()), std::string::npos) << reason;
  }
}

TEST(Policy, TermsAgreeExceptForTheNameOfAFile) {
  const auto mine = terms_of_file(kAnd, {}, "mine");
  EXPECT_TRUE(service::same_terms(mine, terms_of_file(kAnd, {}, "theirs")));
  EXPECT_FALSE(service::same_terms(mine, terms_of("aes128")));
  // Every field changed singly, so that none is forgotten. Names of built-in circuits count.
  const auto built_in = terms_of("aes128");
  for (const auto& terms : {mine, built_in}) {
    const auto* const fields = service::wire::Terms::GetDescriptor();
    for (int i = 0; i < fields->field_count(); ++i) {
      const auto* const field = fields->field(i);
      auto other = terms;
      const auto* const reflection = service::wire::Terms::GetReflection();
      if (field->name() == "circuit" && !terms.is_built_in()) continue;
      if (field->type() == field->TYPE_STRING)
        reflection->SetString(&other, field, "x");
      else if (field->type() == field->TYPE_BOOL)
        reflection->SetBool(&other, field, !reflection->GetBool(terms, field));
      else
        reflection->SetUInt64(&other, field, 99);
      EXPECT_FALSE(service::same_terms(terms, other)) << field->name();
      EXPECT_FALSE(service::same_terms(other, terms)) << field->name();
    }
  }
}

TEST(Policy, DifferencesNameBothAndWhatDiffers) {
  const auto mine = terms_of_file(kAnd, {}, "mine");
  const auto shown = [](const service::wire::Terms& terms, const std::string& name) {
    return name + terms.fingerprint().substr(0, 16) + ")";
  };
  const auto to_a = terms_of_file(kAnd, {.other_receivers = circuit::Receiver::A}, "theirs");
  EXPECT_EQ(service::difference(mine, to_a),
            "circuit's inputs and outputs (names, widths, sources, receivers, formats): this party "
            "has " +
                shown(mine, "mine (") + ", the peer has " + shown(to_a, "theirs ("));
  std::string text = kAnd;
  text.replace(text.find("AND"), 3, "XOR");
  const auto other = terms_of_file(text, {}, "theirs");
  EXPECT_EQ(service::difference(mine, other), "circuit's gates: this party has " +
                                                  shown(mine, "mine (") + ", the peer has " +
                                                  shown(other, "theirs ("));
  const auto small = terms_of("aes128"), shallow = terms_of("aes128:sbox=shallow");
  EXPECT_EQ(service::difference(small, shallow),
            "circuit's gates: this party has " + shown(small, "aes128 (built in, ") +
                ", the peer has " + shown(shallow, "aes128:sbox=shallow (built in, "));
  EXPECT_EQ(service::difference(terms_of("aes128", 2), terms_of("aes128", 3)),
            "lanes: this party has 2, the peer has 3");
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

TEST(Policy, CountsStayWhenThePolicyChanges) {
  const Clock::time_point begin{}, later = begin + std::chrono::seconds(1);
  const std::string aes = "circuit: 'aes128' lanes_max: 4 rate { jobs: 3 seconds: 10 }";
  Policy policy = policy_from("allow { " + aes + " }");
  for (int i = 0; i < 2; ++i) ASSERT_FALSE(policy.begin(terms_of("aes128"), begin));
  // Another place, other lanes, another rate; and a rule for another circuit, which begins anew.
  const auto changed = [&](const std::string& rate) {
    Policy now = policy_from(
        "allow { circuit: 'sha256' rate { jobs: 1 seconds: 10 } }\n"
        "allow { circuit: 'aes128' lanes_max: 2 " +
        rate + " }");
    now.take_counts_of(policy);
    return now;
  };
  Policy same = changed("rate { jobs: 3 seconds: 10 }");
  EXPECT_FALSE(same.begin(terms_of("sha256"), later));
  EXPECT_FALSE(same.begin(terms_of("aes128"), later));
  EXPECT_TRUE(same.begin(terms_of("aes128"), later));
  EXPECT_TRUE(changed("rate { jobs: 1 seconds: 10 }").refusal(terms_of("aes128"), later));
  EXPECT_FALSE(changed("").refusal(terms_of("aes128"), later));
}

// The jobs that began last count under a lower rate, whenever those before them began.
TEST(Policy, LowerRateCountsTheLastJobs) {
  const Clock::time_point begin{};
  const auto at = [&](int second) { return begin + std::chrono::seconds(second); };
  const auto rate_of = [](int jobs) {
    return "allow { circuit: 'aes128' rate { jobs: " + std::to_string(jobs) + " seconds: 10 } }";
  };
  Policy policy = policy_from(rate_of(3));
  for (const int second : {0, 4, 8}) ASSERT_FALSE(policy.begin(terms_of("aes128"), at(second)));
  Policy lower = policy_from(rate_of(1));
  lower.take_counts_of(policy);
  for (const int second : {9, 11, 14, 17})
    EXPECT_TRUE(lower.refusal(terms_of("aes128"), at(second))) << second;
  EXPECT_FALSE(lower.begin(terms_of("aes128"), at(18)));
  EXPECT_TRUE(lower.refusal(terms_of("aes128"), at(27)));
  EXPECT_FALSE(lower.refusal(terms_of("aes128"), at(28)));
}

// Each rule keeps its own count, also beside another rule for the same circuit.
TEST(Policy, CountsOfEqualRulesStayTheirOwn) {
  const std::string rules =
      "allow { circuit: 'aes128' rate { jobs: 1 seconds: 10 } }\n"
      "allow { circuit: 'aes128' rate { jobs: 1 seconds: 10 } }";
  const auto now = Clock::now();
  Policy policy = policy_from(rules), changed = policy_from(rules);
  ASSERT_FALSE(policy.begin(terms_of("aes128"), now));
  changed.take_counts_of(policy);
  EXPECT_FALSE(changed.begin(terms_of("aes128"), now));
  EXPECT_TRUE(changed.begin(terms_of("aes128"), now));
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
