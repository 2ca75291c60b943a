// Retiring a store erases its keys, whatever its state, unless a process has it open.
#include <sys/stat.h>

#include "storage/retire.h"
#include "tests/storage/process_support.h"
#include "tests/storage/store_support.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

namespace fs = std::filesystem;

class RetireTest : public StoreTest {
 protected:
  RetireTest() {
    Store store = make_store(dir_);
    add_unit(store, kTestKind, 20000);
    name_keys(dir_);
  }
  // Gives the file of keys a second name, by which it is found even if it is replaced.
  static fs::path name_of_keys(const fs::path& dir) { return dir.string() + ".keys"; }
  static void name_keys(const fs::path& dir) {
    fs::create_hard_link(dir / "store.keys", name_of_keys(dir));
  }
  // Only the header of an erased table and the session id are left in the file that had the keys.
  static ::testing::AssertionResult has_no_keys(const fs::path& dir) {
    const std::string bytes = read_file(name_of_keys(dir));
    if (bytes.size() < 128 + 64)
      return ::testing::AssertionFailure() << "the file is shorter than it was";
    if (bytes[12] != 3)
      return ::testing::AssertionFailure() << "protection " << static_cast<int>(bytes[12]);
    for (std::size_t i = 48; i < bytes.size(); ++i)
      if (bytes[i] != 0) return ::testing::AssertionFailure() << "byte " << i << " is left";
    return ::testing::AssertionSuccess();
  }
  void flip(const char* name, std::size_t at) const {
    std::string bytes = read_file(dir_ / name);
    bytes[at] = static_cast<char>(bytes[at] ^ 0x40);
    write_private_file(dir_ / name, bytes);
  }
  void expect_retired_unopened(const std::string& why) const {
    EXPECT_TRUE(mentions(message_of([&] { Store::open(dir_, {.purpose = Purpose::Own}); }), why));
    const RetiredStore retired = retire_store(dir_, {});
    ASSERT_EQ(retired.not_done.size(), 1u);
    EXPECT_TRUE(mentions(retired.not_done[0], why));
    EXPECT_TRUE(has_no_keys(dir_));
  }
};

TEST_F(RetireTest, RevokesValidStore) {
  const RetiredStore retired = retire_store(dir_, {});
  EXPECT_EQ(retired.reason, "retired by its owner");
  EXPECT_TRUE(retired.not_done.empty());
  EXPECT_TRUE(has_no_keys(dir_));
  EXPECT_EQ(Store::open(dir_).manifest().revocation_reason, "retired by its owner");
}

TEST_F(RetireTest, RevokedStoreKeepsReason) {
  Store::open(dir_).revoke("another reason");
  EXPECT_EQ(retire_store(dir_, {}).reason, "another reason");
}

TEST_F(RetireTest, ErasesKeysOfStoreWithCorruptPage) {
  // The roots in both meta pages.
  const std::size_t page_bytes = page_bytes_in(read_file(dir_ / "material.mdb"));
  for (std::size_t page : {0u, 1u}) flip("material.mdb", page_bytes * page + 16 + 24 + 48 + 40);
  expect_retired_unopened("");
}

TEST_F(RetireTest, ErasesKeysOfStoreWithCorruptManifest) {
  ASSERT_GT(replace_in_file(dir_ / "material.mdb", "peer.example", "peer.exampla"), 0);
  expect_retired_unopened("is corrupt (manifest)");
}

TEST_F(RetireTest, ErasesKeysOfTruncatedStore) {
  write_private_file(dir_ / "material.mdb", read_file(dir_ / "material.mdb").substr(0, 8192));
  expect_retired_unopened("");
}

TEST_F(RetireTest, ErasesKeysWithoutDatabase) {
  fs::remove(dir_ / "material.mdb");
  expect_retired_unopened("no store in");
}

TEST_F(RetireTest, ErasesCorruptKeys) {
  for (const std::size_t at : {0u, 12u, 20u, 60u, 120u}) {
    flip("store.keys", at);
    expect_retired_unopened("store.keys");
  }
}

TEST_F(RetireTest, ErasesKeysOfStoreOpenToOthers) {
  ASSERT_EQ(::chmod((dir_ / "store.keys").c_str(), 0644), 0);
  expect_retired_unopened("open to other users");
}

TEST_F(RetireTest, ReportsOriginalOfCopy) {
  const fs::path copy = root_ / "copy";
  fs::copy(dir_, copy);
  fs::permissions(copy, fs::perms::owner_all);
  name_keys(copy);
  const RetiredStore retired = retire_store(copy, {});
  ASSERT_EQ(retired.not_done.size(), 1u);
  EXPECT_TRUE(mentions(retired.not_done[0], "this is a copy"));
  EXPECT_TRUE(has_no_keys(copy));
  EXPECT_EQ(Store::open(copy).manifest().state, StoreState::Revoked);
  EXPECT_EQ(Store::open(dir_).made(), counts_of(kTestKind, 20000));
}

TEST_F(RetireTest, RejectsStoreInUse) {
  for (const Purpose purpose : {Purpose::Inspect, Purpose::Use, Purpose::Make}) {
    const Steps steps;
    const pid_t child = start_child([&] {
      const Store store = Store::open(dir_, {.purpose = purpose});
      steps.reach(1);
      steps.wait_until(2);
      exit_well(true);
    });
    steps.wait_until(1);
    // Even if the store is corrupt.
    if (purpose == Purpose::Make) fs::remove(dir_ / "material.mdb");
    EXPECT_TRUE(mentions(message_of([&] { retire_store(dir_, {}); }), "in use by"));
    EXPECT_FALSE(has_no_keys(dir_));
    steps.reach(2);
    EXPECT_TRUE(ended_well(wait_for(child)));
  }
}

TEST_F(RetireTest, ReportsMissingKeys) {
  EXPECT_TRUE(mentions(message_of([&] { retire_store(root_ / "none", {}); }), "no store in"));
  fs::remove(dir_ / "store.keys");
  EXPECT_TRUE(mentions(message_of([&] { retire_store(dir_, {}); }), "there are no keys to erase"));
}

TEST_F(RetireTest, SealedStoreRequiresKey) {
  const StoreKey key(std::vector<std::byte>(32, std::byte{7})),
      other(std::vector<std::byte>(32, std::byte{8}));
  const fs::path dir = root_ / "sealed";
  { const Store store = Store::create(dir, test_manifest(Party::A), kTestDelta, 0, key); }
  name_keys(dir);
  EXPECT_TRUE(mentions(message_of([&] { retire_store(dir, {}); }), "but none was given"));
  EXPECT_EQ(remedy_of([&] { retire_store(dir, {}); }), Remedy::GiveStoreKey);
  EXPECT_FALSE(has_no_keys(dir));
  EXPECT_TRUE(
      mentions(message_of([&] { retire_store(dir_, key); }), "is not sealed under a store key"));
  EXPECT_EQ(remedy_of([&] { retire_store(dir_, key); }), Remedy::OmitStoreKey);
  EXPECT_FALSE(has_no_keys(dir_));
  EXPECT_TRUE(retire_store(dir, key).not_done.empty());
  EXPECT_TRUE(has_no_keys(dir));
}

}  // namespace
}  // namespace tinyot
