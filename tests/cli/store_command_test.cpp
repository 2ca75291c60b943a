// `tinyot store` on stores that are corrupt, revoked or sealed differently.
#include <sys/stat.h>

#include "tests/support/command_test.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

class StoreCommandTest : public CommandTest {
 protected:
  Ended store(const std::string& command, const Arguments& more = {}) const {
    return tinyot(Arguments{"store", command, path("A")} + more);
  }
};

TEST_F(StoreCommandTest, RetiresCorruptStoreAndReportsWhatWasNotDone) {
  preprocess("2^10");
  write_file(path("A/material.mdb"), read_file(path("A/material.mdb")).substr(0, 8192));
  EXPECT_TRUE(ended_with(store("info"), 5));
  const Ended text = store("retire");
  EXPECT_TRUE(ended_with(text, 0));
  EXPECT_NE(text.out.find("not done: the session is not marked as revoked"), std::string::npos)
      << text.out;
  const Json again = json_of(store("retire", {"--format", "json"}));
  EXPECT_EQ(again["not_done"].size(), 1u);
  const std::string keys = read_file(path("A/store.keys"));
  EXPECT_EQ(keys.find_first_not_of('\0', 48), std::string::npos);
}

TEST_F(StoreCommandTest, RejectsSuperfluousStoreKey) {
  preprocess("2^10");
  write_private_file(path("key"), std::string(32, 'k'));
  const Arguments key = {"--store-key", "@" + path("key")};
  for (const char* command : {"info", "verify", "adopt", "retire"})
    EXPECT_TRUE(ended_with(store(command, key), 5,
                           "is not sealed under a store key but protected by file permissions; if "
                           "that is intended, leave out --store-key\n"));
  const Arguments run =
      Arguments{"--circuit", circuit_file("adder64.txt"), "--input", "0=0x1"} + key;
  EXPECT_TRUE(ended_with(tinyot(as('A', "run", run)), 5, "is not sealed under a store key"));
  EXPECT_TRUE(ended_with(
      tinyot(as('A', "preprocess", Arguments{"--ands", "2^10", "--resume"} + kFewColumns + key)), 5,
      "is not sealed under a store key"));
  EXPECT_EQ(store_info('A')["state"], "complete");
}

TEST_F(StoreCommandTest, RevokedStoreHasNothingLeft) {
  preprocess("2^10");
  EXPECT_EQ(store_info('A')["kinds"]["auth_bits_a"]["left"],
            store_info('A')["kinds"]["auth_bits_a"]["made"]);
  EXPECT_EQ(store("info").out.find("can be used"), std::string::npos);
  EXPECT_TRUE(ended_with(store("retire"), 0));
  const Json kinds = store_info('A')["kinds"];
  EXPECT_EQ(kinds.size(), 6u);
  for (const auto& [name, kind] : kinds.items()) {
    EXPECT_EQ(kind["left"], 0) << name;
    EXPECT_GT(kind["made"], 0) << name;
  }
  const std::string text = store("info").out;
  EXPECT_NE(text.find("nothing in this store can be used"), std::string::npos) << text;
  EXPECT_NE(text.find(", left 0,"), std::string::npos) << text;
}

TEST_F(StoreCommandTest, RevokedStoreReportsWhetherItsKeysAreErased) {
  preprocess("2^10");
  const std::string whole = read_file(path("A/store.keys"));
  EXPECT_TRUE(ended_with(store("retire"), 0));
  const std::string wiped = read_file(path("A/store.keys"));
  EXPECT_EQ(store_info('A')["keys_are_gone"], true);
  EXPECT_TRUE(ended_with(store("verify"), 5, "its keys are overwritten"));
  // The state left by a process that was killed after it had written the header.
  write_file(path("A/store.keys"), wiped.substr(0, 128) + whole.substr(128));
  EXPECT_EQ(store_info('A')["keys_are_gone"], false);
  EXPECT_NE(store("info").out.find("not all of them are overwritten yet"), std::string::npos);
  EXPECT_TRUE(ended_with(store("verify"), 5, "not all of them are overwritten yet"));
  EXPECT_TRUE(ended_with(store("retire"), 0));
  EXPECT_EQ(read_file(path("A/store.keys")), wiped);
  EXPECT_EQ(store_info('A')["keys_are_gone"], true);
}

}  // namespace
}  // namespace tinyot::test
