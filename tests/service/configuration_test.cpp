#include "service/configuration.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "tests/support/layers.h"
#include "tinyot/parameters.h"

namespace tinyot::test {
namespace {

using service::parse_configuration;
using service::parse_policy;

constexpr const char* kPeer =
    "peer { name: 'bob' party: A listen: '127.0.0.1:7766' policy: 'p'\n"
    "       profile: 'nnob12' low { ands: 10 } high { ands: 20 } }\n";

std::string error_of(const std::string& text) {
  try {
    parse_configuration(text, "conf");
  } catch (const UsageError& error) {
    return error.what();
  }
  return {};
}

std::string policy_error_of(const std::string& text) {
  try {
    parse_policy(text, "policy");
  } catch (const UsageError& error) {
    return error.what();
  }
  return {};
}

TEST(Configuration, HasDefaults) {
  const auto daemon = parse_configuration(std::string("directory: '/d'\n") + kPeer, "conf");
  EXPECT_EQ(daemon.socket(), "/run/tinyot/tinyot.sock");
  EXPECT_EQ(daemon.socket_mode(), "0660");
  ASSERT_EQ(daemon.peer_size(), 1);
  EXPECT_EQ(daemon.peer(0).sigma(), 40u);
  EXPECT_EQ(daemon.peer(0).evaluations(), 4u);
}

// The operator chooses between what the paper proves and speed.
TEST(Configuration, HasNoDefaultForProfile) {
  const auto with = [](const std::string& profile) {
    return error_of("directory: '/d' peer { name: 'bob' party: A listen: '127.0.0.1:7766'" +
                    profile + " policy: 'p' low { ands: 10 } high { ands: 20 } }");
  };
  EXPECT_EQ(with(""), "conf: peer bob: profile is missing: name it, the same at both parties");
  EXPECT_EQ(
      with(" profile: 'slow'"),
      "conf: peer bob: profile: there is no profile 'slow'; a profile is nnob12 or fast or wan");
  for (const Profile profile : all_profiles())
    EXPECT_EQ(with(" profile: '" + std::string(name_of(profile)) + "'"), "");
}

TEST(Configuration, ErrorsNameThePlace) {
  EXPECT_NE(error_of("directory: '/d'\n\nsokcet: 's'\n").find("conf:3:7"), std::string::npos);
  EXPECT_NE(error_of("socket: 's'").find("directory"), std::string::npos);
}

TEST(Configuration, RefusesValuesThatDoNotFit) {
  const std::string head = "directory: '/d'\n";
  const auto peer = [&](const std::string& fields) {
    return error_of(head + "peer { profile: 'fast' policy: 'p' party: A " + fields + " }");
  };
  const std::string levels = " low { ands: 10 } high { ands: 20 }",
                    listen = " listen: '127.0.0.1:1'";
  EXPECT_EQ(peer("name: 'b'" + listen + levels), "");
  EXPECT_NE(peer("name: '../b'" + listen + levels).find("name"), std::string::npos);
  EXPECT_NE(peer("name: 'b'" + levels).find("listen and connect"), std::string::npos);
  EXPECT_NE(peer("name: 'b' connect: 'h:1'" + listen + levels).find("listen and connect"),
            std::string::npos);
  EXPECT_NE(peer("name: 'b' listen: 'nowhere'" + levels).find("address"), std::string::npos);
  EXPECT_NE(peer("name: 'b'" + listen + " low { ands: 30 } high { ands: 20 }").find("low.ands"),
            std::string::npos);
  EXPECT_NE(peer("name: 'b' sigma: 39" + listen + levels).find("sigma"), std::string::npos);
  EXPECT_NE(peer("name: 'b' key: 'k'" + listen + levels).find("peer_key"), std::string::npos);
  EXPECT_NE(peer("name: 'b' evaluations: 0" + listen + levels).find("evaluations"),
            std::string::npos);
  EXPECT_EQ(peer("name: 'b' base_ot: 'ristretto'" + listen + levels), "");
  EXPECT_NE(peer("name: 'b' base_ot: 'rsa'" + listen + levels).find("peer b: base_ot: "),
            std::string::npos);
  EXPECT_NE(error_of(head + kPeer + kPeer).find("given twice"), std::string::npos);
  EXPECT_NE(error_of(head + kPeer + "socket_mode: '0999'").find("socket_mode"), std::string::npos);
  EXPECT_EQ(error_of(head + kPeer + "pkcs11 { socket: '/p' socket_mode: '0600' }"), "");
  EXPECT_NE(error_of(head + kPeer + "pkcs11 { socket: '/p' socket_mode: '9' }").find("pkcs11"),
            std::string::npos);
  EXPECT_NE(error_of(head + kPeer + "socket: '/s' pkcs11 { socket: '/s' }").find("pkcs11"),
            std::string::npos);
  EXPECT_NE(error_of(head + kPeer + "metrics: 'x'").find("metrics"), std::string::npos);
  EXPECT_NE(error_of(head).find("no peer"), std::string::npos);
}

// Both ends of a field's range are in it, and what is beyond is refused with the field's name.
struct Range {
  std::string field;
  std::uint64_t min, max;
};
void expect_ranges(const std::vector<Range>& ranges,
                   const std::function<std::string(const std::string&)>& error_with) {
  for (const Range& range : ranges) {
    const auto error = [&](std::uint64_t value) {
      return error_with(range.field + ": " + std::to_string(value));
    };
    EXPECT_EQ(error(range.min), "");
    EXPECT_EQ(error(range.max), "");
    const std::string refusal = range.field + " is out of range: " + std::to_string(range.min) +
                                " to " + std::to_string(range.max);
    EXPECT_NE(error(range.max + 1).find(refusal), std::string::npos) << error(range.max + 1);
    if (range.min > 0) {
      EXPECT_NE(error(range.min - 1).find(refusal), std::string::npos) << error(range.min - 1);
    }
  }
}

TEST(Configuration, NumbersHaveRanges) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40, kMonth_s = 2'678'400;
  const auto of_daemon = [](const std::string& field) {
    return error_of("directory: '/d'\n" + field + "\n" + kPeer);
  };
  expect_ranges({{"refill_threads", 1, 256},
                 {"refills_at_once", 1, 256},
                 {"refill_bytes_per_s", 1000, kMost},
                 {"jobs_max", 1, 1'000'000},
                 {"job_bytes_max", 1024, kMost},
                 {"job_timeout_s", 1, kMonth_s},
                 {"result_timeout_s", 1, kMonth_s},
                 {"client_connections_max", 1, 1'000'000}},
                of_daemon);
  const auto peer = [](const std::string& fields) {
    return error_of(
        "directory: '/d' peer { name: 'bob' party: A listen: '127.0.0.1:1' "
        "policy: 'p' profile: 'fast' " +
        fields + " }");
  };
  expect_ranges({{"sigma", 40, 128},
                 {"evaluations", 1, 64},
                 {"idle_timeout_s", 10, 3600},
                 {"sessions_per_day", 1, 1000}},
                [&](const std::string& field) {
                  return peer("low { ands: 10 } high { ands: 20 } " + field);
                });
  const auto levels = [&](const std::string& low, const std::string& high) {
    return peer("low { " + low + " } high { " + high + " }");
  };
  const std::string most = std::to_string(kMost), more = std::to_string(kMost + 1);
  EXPECT_EQ(levels("ands: " + most, "ands: " + most), "");
  EXPECT_NE(levels("ands: 1", "ands: " + more).find("high.ands"), std::string::npos);
  EXPECT_NE(levels("ands: 0", "ands: 1").find("low.ands"), std::string::npos);
  EXPECT_EQ(levels("ands: 1 inputs: 0", "ands: 1 inputs: 1"), "");
  EXPECT_EQ(levels("ands: 1 inputs: 7", "ands: 1 inputs: 7"), "");
  EXPECT_NE(levels("ands: 1 inputs: 8", "ands: 1 inputs: 7").find("low.inputs"), std::string::npos);
  EXPECT_NE(levels("ands: 1 inputs: 0", "ands: 1 inputs: 0").find("high.inputs"),
            std::string::npos);
  EXPECT_NE(levels("ands: 1 inputs: 0", "ands: 1 inputs: " + more).find("high.inputs"),
            std::string::npos);
  for (const auto& [low, high] :
       {std::pair("ands: 1 inputs: 1", "ands: 1"), std::pair("ands: 1", "ands: 1 inputs: 1")})
    EXPECT_NE(levels(low, high).find("give inputs for both low and high"), std::string::npos);
}

TEST(Configuration, PlacesAreOfOnePeerAndOneSocket) {
  const auto peer = [](const std::string& name, const std::string& port) {
    return "peer { name: '" + name + "' party: A listen: '127.0.0.1:" + port +
           "' policy: 'p' profile: 'fast' low { ands: 10 } high { ands: 20 } }\n";
  };
  const std::string head = "directory: '/d'\n";
  EXPECT_EQ(error_of(head + peer("b", "1") + peer("c", "2")), "");
  EXPECT_EQ(error_of(head + peer("b", "1") + peer("c", "1")),
            "conf: two peers listen on 127.0.0.1:1");
  const auto tls = [&](const std::string& address) {
    return error_of(head + kPeer + "tls { listen: '" + address +
                    "' certificate: 'c' key: 'k' clients: 'a' }");
  };
  EXPECT_EQ(tls("127.0.0.1:1"), "");
  EXPECT_NE(tls("127.0.0.1").find("tls.listen"), std::string::npos);
  EXPECT_EQ(error_of(head + kPeer + "access { }"),
            "conf: access { } names no user, group or client");
  EXPECT_NE(error_of("directory: ''" + std::string(kPeer)).find("directory is empty"),
            std::string::npos);
  // It is a file, and part of others' names.
  for (const std::string& name : {std::string("."), std::string(".."), std::string(),
                                  std::string(65, 'a'), std::string("a b")})
    EXPECT_NE(error_of(head + peer(name, "1")).find("a peer's name"), std::string::npos) << name;
  for (const std::string& name : {std::string("..."), std::string(64, 'a'), std::string("A_z.0-9")})
    EXPECT_EQ(error_of(head + peer(name, "1")), "") << name;
}

TEST(Configuration, RefusesRulesThatDoNotFit) {
  EXPECT_EQ(policy_error_of("allow { circuit: 'aes128' lanes_max: 2 rate { jobs: 1 seconds: 1 } }"),
            "");
  EXPECT_NE(policy_error_of("allow { }").find("circuit and digest"), std::string::npos);
  EXPECT_NE(policy_error_of("allow { circuit: 'aes' }").find("no circuit 'aes'"),
            std::string::npos);
  EXPECT_NE(policy_error_of("allow { circuit: 'aes128:sbox=small' }").find("no circuit"),
            std::string::npos);
  EXPECT_NE(policy_error_of("allow { circuit: 'sort' parameter { name: 'x' max: 1 } }")
                .find("no such parameter"),
            std::string::npos);
  EXPECT_NE(policy_error_of("allow { circuit: 'sort' parameter { name: 'bits' } }").find("min"),
            std::string::npos);
  EXPECT_NE(policy_error_of("allow { circuit: 'aes128' parameter { name: 'sbox' max: 1 } }")
                .find("values"),
            std::string::npos);
  const std::string whole(64, 'd');
  EXPECT_NE(policy_error_of("allow { digest: '" + whole + "' parameter { name: 'bits' max: 1 } }")
                .find("with its parameters"),
            std::string::npos);
  for (const std::string& part : {std::string(), std::string("0c86258b71ad623f"), whole.substr(1),
                                  whole + "d", std::string(64, 'x')}) {
    const std::string error = policy_error_of("allow { digest: '" + part + "' }");
    EXPECT_NE(error.find("64 hex digits"), std::string::npos) << error;
  }
  EXPECT_NE(policy_error_of("allow { circuit: 'aes128' rate { jobs: 0 seconds: 1 } }").find("jobs"),
            std::string::npos);
  EXPECT_NE(policy_error_of("allow { circuit: 'aes128' digest: '" + whole + "' }")
                .find("circuit and digest"),
            std::string::npos);
}

TEST(Configuration, RulesBoundParameters) {
  const auto with = [](const std::string& circuit, const std::string& bounds) {
    return policy_error_of("allow { circuit: '" + circuit + "' parameter { name: '" +
                           (circuit == "sort" ? "bits" : "sbox") + "' " + bounds + " } }");
  };
  for (const char* const bounds : {"min: 1", "max: 1", "min: 1 max: 1", "min: 1 max: 2"})
    EXPECT_EQ(with("sort", bounds), "") << bounds;
  EXPECT_NE(with("sort", "min: 2 max: 1").find("min is greater than max"), std::string::npos);
  for (const char* const bounds : {"", "value: '1'", "max: 1 value: '1'"})
    EXPECT_NE(with("sort", bounds).find("give min, max or both"), std::string::npos) << bounds;
  EXPECT_EQ(with("aes128", "value: 'small'"), "");
  for (const char* const bounds : {"", "min: 1 value: 'small'", "max: 1 value: 'small'"})
    EXPECT_NE(with("aes128", bounds).find("give the values"), std::string::npos) << bounds;
  expect_ranges({{"lanes_max", 1, std::uint64_t{1} << 24}}, [](const std::string& field) {
    return policy_error_of("allow { circuit: 'aes128' " + field + " }");
  });
  const auto rate = [](const std::string& jobs, const std::string& within) {
    return policy_error_of("allow { circuit: 'aes128' rate { jobs: " + jobs +
                           " seconds: " + within + " } }");
  };
  EXPECT_EQ(rate("1000000", "2678400"), "");
  EXPECT_NE(rate("1000001", "1").find("rate.jobs"), std::string::npos);
  EXPECT_NE(rate("1", "0").find("rate.seconds"), std::string::npos);
  EXPECT_NE(rate("1", "2678401").find("rate.seconds"), std::string::npos);
}

std::string custody_error_of(const std::string& custody,
                             const std::string& peer = "sigma: 64 key: 'k' peer_key: 'p'",
                             const std::string& daemon = "store_key: 's'",
                             const std::string& policy = "keys") {
  return error_of("directory: '/d' " + daemon +
                  " peer { name: 'bob' party: A listen: '127.0.0.1:1' policy: 'p' profile: 'fast' "
                  "low { ands: 10 } high { ands: 20 } " +
                  peer + " custody { policy: '" + policy + "' " + custody + " } }");
}

TEST(Configuration, CustodyNeedsKeysAndSigma) {
  EXPECT_EQ(custody_error_of(""), "");
  EXPECT_NE(custody_error_of("", "sigma: 64 key: 'k' peer_key: 'p'", "").find("store_key"),
            std::string::npos);
  EXPECT_NE(custody_error_of("", "sigma: 64").find("give both"), std::string::npos);
  const std::string keys = "key: 'k' peer_key: 'p' ";
  EXPECT_EQ(custody_error_of("", keys),
            "conf: peer bob: custody: keys take a sigma of at least 64, not 40 (weak: true is for "
            "tests)");
  EXPECT_NE(custody_error_of("", keys + "sigma: 63").find("sigma"), std::string::npos);
  EXPECT_EQ(custody_error_of("weak: true", keys), "");
  EXPECT_EQ(custody_error_of("", keys + "sigma: 64", "store_key: 's'", ""),
            "conf: peer bob: custody: policy is empty");
}

TEST(Configuration, CustodyRefusesValuesThatDoNotFit) {
  const std::string key(64, 'a'), to = "backup_to { name: 'safe' key: '" + key + "' } ",
                                  directory = "backup_directory: '/b' ";
  EXPECT_EQ(custody_error_of(directory + to), "");
  for (const std::string& half : {directory, to})
    EXPECT_NE(custody_error_of(half).find("go together"), std::string::npos) << half;
  EXPECT_NE(custody_error_of(directory + to + to).find("given twice"), std::string::npos);
  EXPECT_NE(
      custody_error_of(directory + "backup_to { name: 'a/b' key: '" + key + "' }").find("name"),
      std::string::npos);
  for (const std::string& other : {std::string(), key.substr(1), key + "a", std::string(64, 'x')})
    EXPECT_NE(custody_error_of(directory + "backup_to { name: 'a' key: '" + other + "' }")
                  .find("64 hex digits"),
              std::string::npos)
        << other;
  EXPECT_EQ(
      custody_error_of(directory + "backup_to { name: 'a' key: '" + std::string(64, '0') + "' }"),
      "conf: peer bob: custody: backup_to a: the public key of a recipient is not one of X25519");
  const std::vector<std::pair<std::string, std::string>> ranges = {
      {"keys_max", "100000"},
      {"request_timeout_s", "3600"},
      {"approval_timeout_s", "2678400"},
      {"quorum", "16"}};
  for (const auto& [field, most] : ranges) {
    EXPECT_EQ(custody_error_of(field + ": " + most), "");
    EXPECT_NE(custody_error_of(field + ": 0").find(field), std::string::npos);
    EXPECT_NE(custody_error_of(field + ": " + most + "0").find(field), std::string::npos);
  }
  EXPECT_EQ(custody_error_of("audit_log: ''"), "conf: peer bob: custody: audit_log is empty");
}

// One of its users may be several, by the numbers of containers.
TEST(Configuration, OfficersOfAQuorumAreNotThoseOfAGroup) {
  const auto error_with = [](const std::string& access, const std::string& quorum) {
    return custody_error_of(quorum, "sigma: 64 key: 'k' peer_key: 'p'", "store_key: 's' " + access);
  };
  const std::string group = "access { group: '0' may: MANAGE_KEYS }";
  EXPECT_EQ(error_with(group, "quorum: 1"), "");
  EXPECT_EQ(error_with("access { user: '0' client: 'c' may: MANAGE_KEYS } "
                       "access { group: '0' may: USE_KEYS }",
                       "quorum: 2"),
            "");
  EXPECT_NE(error_with(group, "quorum: 2").find("may be several users"), std::string::npos);
}

TEST(Configuration, SocketsOfKubernetesAreOtherOnesAndNameALabel) {
  EXPECT_EQ(custody_error_of("kms { socket: '/a' label: 'l' socket_mode: '0600' } "
                             "kms { socket: '/b' label: 'l' }"),
            "");
  const std::vector<std::pair<std::string, std::string>> others = {
      {"socket: '' label: 'l'", "kms: socket is empty"},
      {"socket: '/a' label: ''", "kms: label"},
      {"socket: '/a' label: 'a b'", "kms: label"},
      {"socket: '/a' label: 'l' socket_mode: '9'", "kms: socket_mode"},
      {"socket: '/run/tinyot/tinyot.sock' label: 'l'", "is another socket of the daemon"},
      {"socket: '/a' label: 'l' } kms { socket: '/a' label: 'k'",
       "conf: peer bob: custody.kms.socket: /a is another socket of the daemon"}};
  for (const auto& [fields, error] : others) {
    const std::string found = custody_error_of("kms { " + fields + " }");
    EXPECT_NE(found.find(error), std::string::npos) << fields << ": " << found;
  }
}

TEST(Configuration, PeersHaveAuditLogsOfTheirOwn) {
  const auto peer = [](const std::string& name, const std::string& port, const std::string& log) {
    return "peer { name: '" + name + "' party: A listen: '127.0.0.1:" + port +
           "' policy: 'p' profile: 'fast' low { ands: 10 } high { ands: 20 } sigma: 64 key: 'k' "
           "peer_key: 'p' custody { policy: 'keys' " +
           log + " } } ";
  };
  const std::string head = "directory: '/d' store_key: 's' ", log = "audit_log: '/a.log'";
  EXPECT_EQ(error_of(head + peer("b", "1", "") + peer("c", "2", "")), "");
  EXPECT_EQ(error_of(head + peer("b", "1", log) + peer("c", "2", log)),
            "conf: two peers have the audit_log /a.log");
}

std::string key_policy_error_of(const std::string& text) {
  try {
    service::parse_key_policy(text, "keys");
  } catch (const UsageError& error) {
    return error.what();
  }
  return {};
}

TEST(Configuration, RefusesKeyRulesThatDoNotFit) {
  const auto with = [](const std::string& fields) {
    return key_policy_error_of("allow { peer: true key: 'a' may: ENCRYPT " + fields + " }");
  };
  EXPECT_EQ(with(""), "");
  EXPECT_EQ(with("bytes_max: 65536 rate { requests: 1000000 seconds: 2678400 } approval: true "
                 "shown_prefix: ''"),
            "");
  EXPECT_EQ(key_policy_error_of("allow { peer: false key: 'a' may: SIGN }"),
            "keys: rule 1: it names nobody: give peer: true, user or client");
  EXPECT_NE(key_policy_error_of("allow { client: '' key: 'a' may: SIGN }").find("empty"),
            std::string::npos);
  EXPECT_NE(key_policy_error_of("allow { peer: true may: SIGN }").find("no key"),
            std::string::npos);
  EXPECT_NE(key_policy_error_of("allow { peer: true key: 'a' }").find("no operation"),
            std::string::npos);
  const std::vector<std::pair<std::string, std::string>> others = {
      {"bytes_max: 0", "bytes_max"},
      {"bytes_max: 65537", "bytes_max"},
      {"rate { requests: 0 seconds: 1 }", "rate.requests"},
      {"rate { requests: 1000001 seconds: 1 }", "rate.requests"},
      {"rate { requests: 1 seconds: 0 }", "rate.seconds"},
      {"rate { requests: 1 seconds: 2678401 }", "rate.seconds"},
      {"nonces: JOINT", "CREATE"},
      {"may: SIGN shown_prefix: 'a'", "shown_prefix"}};
  for (const auto& [fields, error] : others)
    EXPECT_NE(with(fields).find(error), std::string::npos) << fields << ": " << with(fields);
  EXPECT_NE(key_policy_error_of("allow { peer: true key: 'a' may: SIGN } allow { }")
                .find("rule 2: it names nobody"),
            std::string::npos);
}

TEST(Configuration, KeysOfRulesAreLabelsAndIds) {
  const auto with = [](const std::string& key) {
    return key_policy_error_of("allow { peer: true key: '" + key + "' may: SIGN }");
  };
  const std::string longest(64, 'a');
  for (const std::string& key : {std::string("*"), std::string("A-b_c.d/9"), std::string("a/*"),
                                 longest, longest + "*", std::string(32, 'f')})
    EXPECT_EQ(with(key), "") << key;
  for (const std::string& key : {std::string(), std::string("**"), std::string("a*b"),
                                 std::string("a b"), std::string("a?"), longest + "a"})
    EXPECT_NE(with(key).find("neither an id"), std::string::npos) << key;
}

// Whoever chooses nonces can open what the other party seals.
TEST(Configuration, KeysWithNoncesOfClientsAreUsedByOneParty) {
  const auto by = [](const std::string& who, const std::string& key, const std::string& fields) {
    return "allow { " + who + " key: '" + key + "' " + fields + " }\n";
  };
  const std::string own = "client: 'kms'", peer = "peer: true",
                    making = by(own, "kms/*", "may: CREATE nonces: CALLER"),
                    uses = "may: ENCRYPT may: DECRYPT", id(32, '0');
  EXPECT_EQ(key_policy_error_of(making + by(own, "kms/*", uses)), "");
  EXPECT_EQ(key_policy_error_of(making + by(peer, "*", uses)), "");
  EXPECT_EQ(key_policy_error_of(making + by(own, "kms/*", uses) + by(peer, "kmt*", uses) +
                                by(peer, "kms", uses) + by(peer, "kms/a", "may: SIGN")),
            "");
  EXPECT_EQ(key_policy_error_of(by(own, "*", "may: CREATE nonces: JOINT") + by(own, "*", uses) +
                                by(peer, "*", uses)),
            "");
  for (const std::string& key : {std::string("*"), std::string("km*"), std::string("kms/*"),
                                 std::string("kms/a"), std::string("kms/a*"), id})
    for (const std::string use : {"may: ENCRYPT", "may: DECRYPT"})
      EXPECT_NE(
          key_policy_error_of(by(own, "kms/*", uses) + making + by(peer, key, use))
              .find("rule 2: nonces: CALLER takes keys that one party alone encrypts and "
                    "decrypts with, since whoever chooses nonces can open what the other party "
                    "seals; of its keys, the peer may by rule 3, and clients of this party by "
                    "rule 1"),
          std::string::npos)
          << key << " " << use;
  EXPECT_NE(key_policy_error_of(making + by(own + " " + peer, "kms/a", uses)), "");
  // Ids are of one key each.
  const std::string by_id = by(own, id, "may: CREATE nonces: CALLER " + uses);
  EXPECT_EQ(key_policy_error_of(by_id + by(peer, std::string(32, '1'), uses)), "");
  EXPECT_NE(key_policy_error_of(by_id + by(peer, id, uses)), "");
  EXPECT_NE(key_policy_error_of(by_id + by(peer, "kms", uses)), "") << "it may be of that label";
}

}  // namespace
}  // namespace tinyot::test
