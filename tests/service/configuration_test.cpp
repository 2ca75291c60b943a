#include "service/configuration.h"

#include <gtest/gtest.h>

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
  EXPECT_NE(error_of(head + kPeer + kPeer).find("given twice"), std::string::npos);
  EXPECT_NE(error_of(head + kPeer + "socket_mode: '0999'").find("socket_mode"), std::string::npos);
  EXPECT_NE(error_of(head + kPeer + "metrics: 'x'").find("metrics"), std::string::npos);
  EXPECT_NE(error_of(head).find("no peer"), std::string::npos);
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
}

}  // namespace
}  // namespace tinyot::test
