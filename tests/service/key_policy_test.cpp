#include "service/key_policy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"
#include "service/configuration.h"

namespace tinyot::test {
namespace {

using custody::KeyId;
using custody::NonceMode;
using service::Caller;
using service::KeyPolicy;
using service::KeyRequestTerms;
using Time = KeyPolicy::Clock::time_point;
using std::chrono::seconds;
namespace config = service::config;

constexpr Time kNoon = Time() + std::chrono::days(20'000) + std::chrono::hours(12);
const std::string kId = "000102030405060708090a0b0c0d0e0f";

KeyPolicy key_policy_from(const std::string& text) {
  return KeyPolicy(service::parse_key_policy(text, "policy"));
}

KeyRequestTerms terms(const std::string& label, config::KeyOperation operation = config::ENCRYPT) {
  KeyRequestTerms terms;
  terms.operation = operation;
  terms.key = *custody::key_id_from(kId);
  terms.label = label;
  return terms;
}
KeyRequestTerms of_client(const std::string& name) {
  KeyRequestTerms of = terms("a");
  of.by = Caller{{}, {}, name};
  return of;
}
KeyRequestTerms of_user(uid_t user) {
  KeyRequestTerms of = terms("a");
  of.by = Caller{user, {}, {}};
  return of;
}

std::string refusal(const std::string& policy, const KeyRequestTerms& terms) {
  return key_policy_from(policy).verdict(terms, kNoon).refusal;
}
bool allows(const std::string& policy, const KeyRequestTerms& terms) {
  return refusal(policy, terms).empty();
}
void expect_in(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(KeyPolicy, NothingIsAllowedByDefault) {
  EXPECT_TRUE(key_policy_from("").is_empty());
  EXPECT_EQ(refusal("", terms("a/b")),
            "the key policy has no rule for encrypt with the key a/b by the peer: it takes allow { "
            "peer: true key: 'a/b' may: ENCRYPT }");
  expect_in(refusal("", of_client("billing")), "allow { client: 'billing' key: 'a' may: ENCRYPT }");
  expect_in(refusal("", of_user(17)), "allow { user: '17' key: 'a' may: ENCRYPT }");
}

TEST(KeyPolicy, RulesAreForThoseTheyName) {
  const std::string policy = "allow { user: '17' client: 'billing' key: '*' may: ENCRYPT }";
  EXPECT_TRUE(allows(policy, of_user(17)));
  EXPECT_TRUE(allows(policy, of_client("billing")));
  for (const KeyRequestTerms& other : {terms("a"), of_user(0), of_user(18), of_client("billin"),
                                       of_client("Billing"), of_client("17"), of_client("")})
    EXPECT_FALSE(allows(policy, other));
  const std::string for_peer = "allow { peer: true key: '*' may: ENCRYPT }";
  EXPECT_TRUE(allows(for_peer, terms("a")));
  for (const KeyRequestTerms& own : {of_user(17), of_client("peer"), of_client("")})
    EXPECT_FALSE(allows(for_peer, own));
  // Users by name.
  const std::string root = "allow { user: 'root' key: '*' may: ENCRYPT }";
  EXPECT_TRUE(allows(root, of_user(0)));
  EXPECT_FALSE(allows(root, of_user(1)));
  EXPECT_THROW(key_policy_from("allow { user: 'no-such-user' key: '*' may: ENCRYPT }"), UsageError);
}

TEST(KeyPolicy, KeysByLabelAndId) {
  const auto rule = [](const std::string& key) {
    return "allow { peer: true key: '" + key + "' may: ENCRYPT }";
  };
  EXPECT_TRUE(allows(rule("a/b"), terms("a/b")));
  EXPECT_FALSE(allows(rule("a/b"), terms("a/b/c")));
  EXPECT_FALSE(allows(rule("a/b"), terms("a")));
  EXPECT_TRUE(allows(rule("a/b*"), terms("a/b")));
  EXPECT_TRUE(allows(rule("a/b*"), terms("a/bc/d")));
  EXPECT_FALSE(allows(rule("a/b*"), terms("a/")));
  EXPECT_FALSE(allows(rule("a/b*"), terms("ca/b")));
  EXPECT_TRUE(allows(rule("*"), terms("a/b")));
  EXPECT_TRUE(allows(rule(kId), terms("a/b")));
  std::string other = kId;
  other.back() = '0';
  EXPECT_FALSE(allows(rule(other), terms("a/b")));
  // Whoever may choose a label does not get the rule of an id.
  EXPECT_FALSE(allows(rule(other), terms(other)));
}

TEST(KeyPolicy, Operations) {
  const std::string policy = "allow { peer: true key: 'a' may: DECRYPT may: REFRESH }";
  for (int i = config::KeyOperation_MIN; i <= config::KeyOperation_MAX; ++i) {
    const auto operation = static_cast<config::KeyOperation>(i);
    EXPECT_EQ(allows(policy, terms("a", operation)),
              operation == config::DECRYPT || operation == config::REFRESH);
    EXPECT_EQ(service::key_operation_named(service::name_of(operation)), operation);
  }
  EXPECT_EQ(service::name_of(config::ENCRYPT), "encrypt");
  for (const char* unknown : {"", "ENCRYPT", "encrypt ", "settle"})
    EXPECT_FALSE(service::key_operation_named(unknown)) << unknown;
}

TEST(KeyPolicy, DerivationsNameParentAndChild) {
  KeyRequestTerms derived = terms("team-a/child", config::DERIVE);
  derived.parent = {custody::KeyId{}, "team-b/root"};
  EXPECT_FALSE(allows("allow { peer: true key: 'team-a/*' may: DERIVE }", derived));
  EXPECT_FALSE(allows("allow { peer: true key: 'team-b/*' may: DERIVE }", derived));
  EXPECT_TRUE(
      allows("allow { peer: true key: 'team-a/*' key: 'team-b/root' may: DERIVE }", derived));
}

TEST(KeyPolicy, BytesOfPayloads) {
  KeyRequestTerms of = terms("a");
  of.bytes = 4096;
  EXPECT_TRUE(allows("allow { peer: true key: 'a' may: ENCRYPT }", of));
  of.bytes = 4097;
  EXPECT_EQ(refusal("allow { peer: true key: 'a' may: ENCRYPT }", of),
            "the key policy allows 4096 bytes (bytes_max), not 4097, for encrypt with the key a by "
            "the peer");
  EXPECT_TRUE(allows("allow { peer: true key: 'a' may: ENCRYPT bytes_max: 65536 }", of));
}

TEST(KeyPolicy, NoncesOfKeysThatAreMade) {
  const auto rule = [](const std::string& nonces) {
    return "allow { peer: true key: 'a' may: CREATE may: IMPORT may: DERIVE " + nonces + " }";
  };
  for (const auto operation : {config::CREATE, config::IMPORT, config::DERIVE}) {
    KeyRequestTerms joint = terms("a", operation), caller = joint;
    caller.nonces = NonceMode::Caller;
    EXPECT_TRUE(allows(rule(""), joint));
    expect_in(refusal(rule(""), caller), "does not allow nonces 'caller' (nonces)");
    EXPECT_FALSE(allows(rule("nonces: CALLER"), joint));
    EXPECT_TRUE(allows(rule("nonces: CALLER"), caller));
    EXPECT_TRUE(allows(rule("nonces: CALLER nonces: JOINT"), joint));
    EXPECT_TRUE(allows(rule("nonces: CALLER nonces: JOINT"), caller));
  }
  // Of a use, the key has them already.
  KeyRequestTerms use = terms("a");
  use.nonces = NonceMode::Caller;
  EXPECT_TRUE(allows("allow { peer: true key: 'a' may: ENCRYPT }", use));
}

TEST(KeyPolicy, AssociatedDataHasToBeShown) {
  const std::string policy =
      "allow { peer: true key: 'a' may: ENCRYPT may: DECRYPT shown_prefix: 'tenant 1:' }";
  const auto shown = [](const std::string& text, config::KeyOperation operation) {
    KeyRequestTerms of = terms("a", operation);
    const auto bytes = std::as_bytes(std::span(text));
    of.shown_aad.emplace(bytes.begin(), bytes.end());
    return of;
  };
  for (const auto operation : {config::ENCRYPT, config::DECRYPT}) {
    EXPECT_TRUE(allows(policy, shown("tenant 1:", operation)));
    EXPECT_TRUE(allows(policy, shown("tenant 1: x", operation)));
    for (const char* other : {"", "tenant 1", "tenant 10:", " tenant 1:"})
      expect_in(refusal(policy, shown(other, operation)), "(shown_prefix)");
    EXPECT_FALSE(allows(policy, terms("a", operation)));
  }
}

TEST(KeyPolicy, RatesCountRequestsThatBegin) {
  KeyPolicy policy = key_policy_from(
      "allow { peer: true key: 'a*' may: ENCRYPT rate { requests: 2 seconds: 10 } }");
  const auto begins = [&](const std::string& label, int second) {
    return policy.begin(terms(label), kNoon + seconds(second)).refusal.empty();
  };
  EXPECT_TRUE(begins("a", 0));
  EXPECT_TRUE(begins("ab", 4));
  EXPECT_FALSE(begins("ac", 9));
  EXPECT_EQ(
      policy.verdict(terms("a"), kNoon + seconds(9)).refusal,
      "the key policy allows 2 requests in 10 s (rate) for encrypt with the key a by the peer");
  // Neither a refusal nor a verdict alone counts.
  EXPECT_TRUE(begins("a", 10));
  EXPECT_FALSE(begins("a", 13));
  EXPECT_TRUE(policy.verdict(terms("a"), kNoon + seconds(14)).refusal.empty());
  EXPECT_TRUE(begins("a", 14));
}

// A request that has begun is looked at again before it is done: the policy may be another one.
TEST(KeyPolicy, RecheckLeavesRatesOut) {
  const std::string limits = "rate { requests: 1 seconds: 10 } bytes_max: 8";
  KeyPolicy policy = key_policy_from("allow { peer: true key: 'a' may: ENCRYPT " + limits + " }");
  EXPECT_EQ(policy.begin(terms("a"), kNoon).refusal, "");
  EXPECT_NE(policy.verdict(terms("a"), kNoon).refusal, "");
  EXPECT_EQ(policy.recheck(terms("a")).refusal, "");
  KeyRequestTerms longer = terms("a");
  longer.bytes = 9;
  expect_in(policy.recheck(longer).refusal, "(bytes_max)");
  EXPECT_NE(policy.recheck(terms("b")).refusal, "");
}

TEST(KeyPolicy, CountsOutliveTheirPolicy) {
  const auto with = [](const std::string& limits) {
    return key_policy_from(
        "allow { peer: true key: 'b' may: SIGN }\n"
        "allow { peer: true key: 'a' may: ENCRYPT " +
        limits + " }");
  };
  KeyPolicy before = with("rate { requests: 2 seconds: 10 }");
  for (int second : {0, 1})
    EXPECT_TRUE(before.begin(terms("a"), kNoon + seconds(second)).refusal.empty());
  KeyPolicy same = with("rate { requests: 3 seconds: 20 } bytes_max: 10 approval: true"),
            stricter = with("rate { requests: 1 seconds: 10 }"), free = with("");
  for (KeyPolicy* const after : {&same, &stricter, &free}) after->take_counts_of(before);
  EXPECT_TRUE(same.begin(terms("a"), kNoon + seconds(12)).refusal.empty());
  EXPECT_FALSE(same.begin(terms("a"), kNoon + seconds(12)).refusal.empty());
  EXPECT_FALSE(stricter.begin(terms("a"), kNoon + seconds(10)).refusal.empty());
  EXPECT_TRUE(stricter.begin(terms("a"), kNoon + seconds(11)).refusal.empty());
  EXPECT_TRUE(free.begin(terms("a"), kNoon + seconds(3)).refusal.empty());
  // Of another key, none are taken over.
  KeyPolicy other = key_policy_from(
      "allow { peer: true key: 'a*' may: ENCRYPT rate { requests: 1 seconds: 10 } }");
  other.take_counts_of(before);
  EXPECT_TRUE(other.begin(terms("a"), kNoon + seconds(3)).refusal.empty());
  // Of two rules that are the same, each has its own.
  const std::string rule =
      "allow { peer: true key: 'a' may: ENCRYPT rate { requests: 1 seconds: 10 } }\n";
  KeyPolicy twice = key_policy_from(rule + rule), again = key_policy_from(rule + rule);
  for (const int second : {0, 8})
    EXPECT_TRUE(twice.begin(terms("a"), kNoon + seconds(second)).refusal.empty());
  again.take_counts_of(twice);
  EXPECT_TRUE(again.begin(terms("a"), kNoon + seconds(11)).refusal.empty());
  EXPECT_FALSE(again.begin(terms("a"), kNoon + seconds(12)).refusal.empty());
}

TEST(KeyPolicy, ApprovalUnlessAnotherRuleAllowsItWithout) {
  const std::string approved = "allow { peer: true key: 'a*' may: ENCRYPT approval: true }\n",
                    open = "allow { peer: true key: 'ab' may: ENCRYPT }\n";
  const auto needs_approval = [](const std::string& policy, const std::string& label) {
    const auto verdict = key_policy_from(policy).verdict(terms(label), kNoon);
    EXPECT_EQ(verdict.refusal, "");
    return verdict.needs_approval;
  };
  EXPECT_TRUE(needs_approval(approved + open, "a"));
  EXPECT_FALSE(needs_approval(approved + open, "ab"));
  EXPECT_FALSE(needs_approval(open + approved, "ab"));
  EXPECT_FALSE(key_policy_from("").verdict(terms("a"), kNoon).needs_approval);
}

// A request counts for the first rule that allows it.
TEST(KeyPolicy, FirstRuleThatAllowsARequestCountsIt) {
  const std::string rate = " may: ENCRYPT approval: true rate { requests: 1 seconds: 10 } }\n";
  KeyPolicy policy =
      key_policy_from("allow { peer: true key: 'a*'" + rate + "allow { peer: true key: 'a'" + rate);
  EXPECT_EQ(policy.begin(terms("a"), kNoon).refusal, "");
  expect_in(policy.verdict(terms("ab"), kNoon).refusal, "(rate)");
  EXPECT_EQ(policy.begin(terms("a"), kNoon).refusal, "");
  expect_in(policy.verdict(terms("a"), kNoon).refusal, "(rate)");
}

// Of a request that an officer may approve, a later rule that does not fit is no obstacle.
TEST(KeyPolicy, RuleThatDoesNotFitIsNoObstacleBesideOneThatDoes) {
  const std::string approved = "allow { peer: true key: 'a' may: ENCRYPT approval: true }\n",
                    shown = "allow { peer: true key: 'a' may: ENCRYPT shown_prefix: 'tenant' }\n";
  for (const std::string& policy : {approved + shown, shown + approved}) {
    const auto verdict = key_policy_from(policy).verdict(terms("a"), kNoon);
    EXPECT_EQ(verdict.refusal, "") << policy;
    EXPECT_TRUE(verdict.needs_approval) << policy;
  }
}

// Whoever chooses nonces can open what the other party seals.
TEST(KeyPolicy, KnowsKeysThatBothPartiesSealWith) {
  const KeyId id = *custody::key_id_from(kId);
  const auto rule = [](const std::string& who, const std::string& key, const std::string& may) {
    return "allow { " + who + " key: '" + key + "' may: " + may + " }\n";
  };
  const auto both = [&](const std::string& policy) {
    return key_policy_from(policy).both_seal(id, "a");
  };
  for (const std::string may : {"ENCRYPT", "DECRYPT"})
    for (const std::string own : {"user: '17'", "client: 'billing'"})
      for (const std::string& key : {std::string("a"), std::string("*"), kId}) {
        const std::string by_own = rule(own, key, may), by_peer = rule("peer: true", key, may);
        EXPECT_TRUE(both(by_own + by_peer)) << by_own << by_peer;
        EXPECT_TRUE(both(rule(own + " peer: true", key, may)));
        EXPECT_FALSE(both(by_own));
        EXPECT_FALSE(both(by_peer));
        EXPECT_FALSE(both(by_own + rule("peer: true", key, "SIGN")));
        EXPECT_FALSE(both(rule(own, "b", may) + by_peer));
      }
}

TEST(KeyPolicy, RefusalSaysWhatIsNearest) {
  KeyRequestTerms of = terms("a");
  of.bytes = 5000;
  const std::string short_one = "allow { peer: true key: 'a' may: ENCRYPT }\n",
                    shown =
                        "allow { peer: true key: 'a' may: ENCRYPT bytes_max: 8000 "
                        "shown_prefix: 'tenant' }\n",
                    other = "allow { peer: true key: 'b' may: ENCRYPT bytes_max: 8000 }\n";
  for (const std::string& policy : {short_one + shown + other, other + shown + short_one})
    expect_in(refusal(policy, of), "(shown_prefix)");
  expect_in(refusal(short_one + other, of), "(bytes_max)");
}

TEST(KeyPolicy, RefusalsArePrintable) {
  KeyRequestTerms of = terms("\x1b[2J" + std::string(1 << 16, 'a'));
  const std::string reason = refusal("", of);
  EXPECT_LT(reason.size(), 1200u);
  EXPECT_EQ(reason.find('\x1b'), std::string::npos);
}

TEST(KeyPolicy, NamesTheKeysOfAClient) {
  const KeyPolicy policy = key_policy_from(
      "allow { client: 'billing' key: 'a*' may: SIGN }\n"
      "allow { peer: true key: 'b' may: SIGN }\nallow { user: '17' key: '" +
      kId + "' may: SIGN }");
  const KeyId id = *custody::key_id_from(kId);
  const Caller billing{{}, {}, "billing"}, user{17, {}, {}};
  EXPECT_TRUE(policy.names(billing, {}, "ab"));
  EXPECT_FALSE(policy.names(billing, {}, "b"));
  EXPECT_TRUE(policy.names(user, id, "b"));
  EXPECT_FALSE(policy.names(user, {}, "b"));
  EXPECT_FALSE(policy.names({}, id, "a"));
}

}  // namespace
}  // namespace tinyot::test
