// Secrets are not printed, and the material of a revoked session is not used.
#include "storage/store.h"
#include "tests/support/command_test.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

class SecretsTest : public CommandTest {
 protected:
  // Neither the value nor its first half, in either case, may have been printed.
  static void expect_hidden(const Ended& ended, const std::string& secret) {
    for (const std::string& text : {ended.out, ended.err}) {
      std::string lower = text;
      std::transform(lower.begin(), lower.end(), lower.begin(),
                     [](unsigned char c) { return std::tolower(c); });
      EXPECT_EQ(lower.find(secret.substr(0, secret.size() / 2)), std::string::npos) << text;
    }
  }
};

TEST_F(SecretsTest, RunPrintsNoInput) {
  preprocess("2^13");
  const std::string key_a = random_hex(16), key_b = random_hex(16), message = random_hex(16);
  write_file(path("key_b"), key_b + "\n");
  const BothEnded ended = both(
      "run", {"--circuit", "aes128", "--input", "key_a=" + key_a, "--input", "message=" + message},
      {"--circuit", "aes128", "--input", "key_b=@" + path("key_b")});
  ASSERT_TRUE(ended_with(ended.b, 0));
  for (const Ended& each : {ended.a, ended.b})
    for (const std::string& secret : {key_a, key_b, message}) expect_hidden(each, secret);
  EXPECT_EQ(ended.a.out.find(json_of(ended.b)["outputs"]["ciphertext"].get<std::string>()),
            std::string::npos);
}

TEST_F(SecretsTest, RefusalPrintsNoInput) {
  const std::string secret = "c0ffee5ec2e7c0ffee5ec2e7c0ffee5e";
  write_file(path("secret"), "key_a=" + secret);
  const Arguments run = as('A', "run", {"--circuit", "aes128", "--connect-timeout", "1"});
  const std::vector<std::pair<Arguments, std::string>> refusals = {
      {run + Arguments{"--input", "key_a=" + secret + "00"}, "key_a: the value has 34 characters"},
      {run + Arguments{"--input", "key_a=" + secret.substr(1)},
       "key_a: the value has 31 characters"},
      {run + Arguments{"--input", "key_a=" + secret.substr(1) + "g"}, "position 32"},
      {run + Arguments{"--input", "key_a=" + secret + "," + secret}, "2 values given"},
      {run + Arguments{"--input", "key_b=" + secret},
       "--input key_a=..., --input message=... (of party A)"},
      {run + Arguments{"--input", "key_c=" + secret}, "no input 'key_c'"},
      {run + Arguments{"--input=key_a=" + secret, "--input=key_a=" + secret}, "given twice"},
      {run + Arguments{"--input", secret}, "NAME=VALUE"},
      {run + Arguments{"key_a=" + secret}, "--help"},
      {run + Arguments{"--inputs=key_a=" + secret}, "--inputs"},
      {run + Arguments{"--imput=key_a=" + secret}, "--imput"},
      {run + Arguments{"--input", "key_a=@" + path("secret")},
       "key_a: the value has 38 characters"},
      {{"circuit", "eval", circuit_file("adder64.txt"), "--input", "0=0x" + secret},
       "does not fit"},
  };
  for (const auto& [arguments, message] : refusals) {
    SCOPED_TRACE(message);
    const Ended ended = tinyot(arguments);
    EXPECT_TRUE(ended_with(ended, 2, message));
    expect_hidden(ended, secret);
  }
}

TEST_F(SecretsTest, StoreIsPrivate) {
  preprocess("2^10");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path("A"))) {
    const auto mode = static_cast<unsigned>(entry.status().permissions());
    EXPECT_EQ(mode & 0077, 0u) << entry.path();
  }
  EXPECT_EQ(static_cast<unsigned>(std::filesystem::status(path("A")).permissions()) & 0077, 0u);
}

TEST_F(SecretsTest, StoreInUseIsNotResumedRetiredOrAdopted) {
  preprocess("2^10");
  const Arguments resume =
      as('A', "preprocess",
         Arguments{"--ands", "2^10", "--resume", "--idle-timeout", "1"} + kFewColumns);
  {
    const Store held = Store::open(path("A"), {.purpose = Purpose::Make});
    const std::string held_by = "in use by process " + std::to_string(::getpid());
    EXPECT_TRUE(ended_with(tinyot(resume), 5, held_by));
    EXPECT_TRUE(ended_with(tinyot({"store", "retire", path("A")}), 5, held_by));
    EXPECT_TRUE(ended_with(tinyot({"store", "adopt", path("A")}), 5, held_by));
    EXPECT_EQ(store_info('A')["state"], "complete");
  }
  const Store held = Store::open(path("A"));
  EXPECT_TRUE(ended_with(tinyot({"store", "retire", path("A")}), 5, "in use by other processes"));
  EXPECT_EQ(store_info('A')["state"], "complete");
}

TEST_F(SecretsTest, RevokedSessionIsNotServed) {
  preprocess("2^10");
  Store::open(path("A")).revoke("a check failed for the sake of a test");
  const Json info = store_info('A');
  EXPECT_EQ(info["state"], "revoked");
  EXPECT_EQ(info["revocation_reason"], "a check failed for the sake of a test");
  const Listener unused;
  listener_ = 'B', peer_port_ = unused.port();
  const std::string reason = "session is revoked: a check failed for the sake of a test";
  EXPECT_TRUE(ended_with(
      tinyot(as('A', "run", {"--circuit", circuit_file("adder64.txt"), "--input", "0=1"})), 5,
      reason));
  EXPECT_TRUE(ended_with(
      tinyot(as('A', "preprocess",
                Arguments{"--ands", "2^10", "--resume", "--idle-timeout", "1"} + kFewColumns)),
      5, reason));
  EXPECT_FALSE(unused.accept(std::chrono::milliseconds(0)).valid()) << "it connected all the same";
  EXPECT_EQ(store_info('B')["state"], "complete");
}

}  // namespace
}  // namespace tinyot::test
