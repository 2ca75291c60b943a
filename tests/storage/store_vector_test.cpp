// A stored example of format 4, to check that this version reads it: both parties' halves of
//
//   unit 1   20 objects of every kind, and 70 further authenticated bits of A
//   unit 2   10 objects of every kind
//   unit 3   5 objects of every kind, LOCKED
// as test_batch makes them. Then 6 of every kind are served, 2 authenticated ANDs of A skipped, and
// the next 3 reserved as reservation 1. Finally, one unit is withdrawn and one broken off. The keys
// are sealed under tests/vectors/store_v4/store.key.
//
// To make an example of a new format, in a directory with its number:
//   TINYOT_NEW_VECTOR=tests/vectors/store_v4 storage_test --gtest_also_run_disabled_tests
//   --gtest_filter='*MakeVector'
#include <cstdlib>

#include "storage/verify.h"
#include "tests/storage/store_support.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kCounts[] = {20, 10, 5}, kAll = 35, kMoreBits = 70, kServed = 6,
                        kPassedOver = 2, kPlanned = 3;
constexpr std::uint32_t kBucket = 4;
constexpr MaterialKind kBits = MaterialKind::AuthBitsA, kAnds = MaterialKind::AuthAndsA;
constexpr std::uint64_t kWithdrawn = 3, kBrokenOff = 2;  // ANDs
constexpr char kStoreKey[] = "the store key of TinyOT's test vectors";

MaterialCounts all_kinds(std::uint64_t count) {
  MaterialCounts counts;
  counts.of.fill(count);
  return counts;
}

// The attempt at unit number `unit`, from 0.
Attempt attempt_at(std::uint64_t unit, std::uint64_t ands, Attempt::State state) {
  return {unit, {ands, kBucket}, state, {{unit + 1, ands, 0}}};
}

class StoreVectorTest : public StoreTest {
 protected:
  StoreVectorTest() {
    // Files of a repository have different permissions, and are copies.
    for (const Party me : {Party::A, Party::B}) {
      fs::create_directory(dir_of(me));
      fs::permissions(dir_of(me), fs::perms::owner_all);
      for (const char* name : {"material.mdb", "store.keys"})
        write_private_file(dir_of(me) / name, read_file(vector_of(me) / name));
    }
    write_private_file(root_ / "store.key",
                       read_file(fs::path(TINYOT_VECTORS_DIR) / "store_v4/store.key"));
  }

  fs::path dir_of(Party me) const { return root_ / std::string(1, letter(me)); }
  static fs::path vector_of(Party me) {
    return fs::path(TINYOT_VECTORS_DIR) / "store_v4" / std::string(1, letter(me));
  }
  Store adopt(Party me) const {
    return Store::open(dir_of(me), {.purpose = Purpose::Make,
                                    .store_key = StoreKey::read(root_ / "store.key"),
                                    .is_adopted = true});
  }
};

TEST_F(StoreVectorTest, HasManifestAndCursors) {
  for (const Party me : {Party::A, Party::B}) {
    const Store store = adopt(me);
    Manifest manifest = test_manifest(me);
    manifest.units_made = 3;
    EXPECT_EQ(store.manifest(), manifest);
    EXPECT_EQ(store.manifest().format_version, 4u);
    EXPECT_EQ(store.protection(), KeyProtection::ByStoreKey);
    EXPECT_EQ(store.global_key().value.lo, kTestDelta.value.lo);
    EXPECT_EQ(store.global_key().value.hi, kTestDelta.value.hi);
    MaterialCounts made = all_kinds(kAll), position = all_kinds(kServed);
    made[kBits] += kMoreBits;
    position[kAnds] += kPassedOver + kPlanned;
    EXPECT_EQ(store.made(), made);
    EXPECT_EQ(store.served(), position);
    EXPECT_EQ(store.burnt(), [&] {
      MaterialCounts burnt;
      burnt[kAnds] = kPassedOver;
      return burnt;
    }());
    EXPECT_EQ(store.cursors().units_unlocked, 2u);
    ASSERT_EQ(store.cursors().planned.size(), 1u);
    EXPECT_EQ(store.cursors().planned[0].id, 1u);
    const Verification verification = verify(store);
    EXPECT_TRUE(verification.corrupt.empty());
    // One batch for each kind and unit, and the planned one.
    EXPECT_EQ(verification.batches, 3 * kMaterialKinds + 1);
  }
}

TEST_F(StoreVectorTest, HasLogOfAttempts) {
  using enum Attempt::State;
  for (const Party me : {Party::A, Party::B}) {
    const Store store = adopt(me);
    std::vector<Attempt> attempts;
    store.read([&](const ReadTransaction& view) { attempts = view.attempts(); });
    EXPECT_EQ(attempts,
              std::vector({attempt_at(0, kCounts[0], Made), attempt_at(1, kCounts[1], Made),
                           attempt_at(2, kCounts[2], Made), attempt_at(3, kWithdrawn, Withdrawn),
                           attempt_at(3, kBrokenOff, Pending)}));
    EXPECT_EQ(store.outstanding(), attempt_at(3, kBrokenOff, Pending).risk);
  }
}

TEST_F(StoreVectorTest, HoldsMatchingHalves) {
  std::vector<SealTag> own[2], peers[2];
  for (const Party me : {Party::A, Party::B}) {
    const Store store = adopt(me);
    for (const BatchEntry& entry : verify(store).good) {
      if (!entry.peers_tag) continue;
      own[me == Party::B].push_back(entry.tag);
      peers[me == Party::B].push_back(*entry.peers_tag);
    }
  }
  EXPECT_EQ(own[0], peers[1]);
  EXPECT_EQ(own[1], peers[0]);
  EXPECT_EQ(own[0].size(), kMaterialKinds)
      << "batches of the second unit; all of the first are cut";
}

TEST_F(StoreVectorTest, ServesRemainingMaterial) {
  for (const Party me : {Party::A, Party::B}) {
    Store store = adopt(me);
    Reservation planned = store.claim(1);
    EXPECT_TRUE(draws(planned, kAnds, me, kServed + kPassedOver, kPlanned));
    add_unit(store, kBits, 10);
    Reservation rest = reserve_all(store);
    for (const MaterialKind kind : kAllMaterialKinds) {
      const std::uint64_t first = rest.start()[kind],
                          end = kAll + (kind == kBits ? kMoreBits + 10 : 0);
      EXPECT_EQ(first, kServed + (kind == kAnds ? kPassedOver + kPlanned : 0));
      EXPECT_TRUE(draws(rest, kind, me, first, end - first));
    }
  }
}

TEST_F(StoreVectorTest, RequiresKeyAndAdoption) {
  EXPECT_EQ(remedy_of([&] { Store::open(dir_of(Party::A)); }), Remedy::GiveStoreKey);
  EXPECT_TRUE(mentions(message_of([&] {
                         Store::open(dir_of(Party::A),
                                     {.store_key = StoreKey::read(root_ / "store.key")});
                       }),
                       "is a copy"));
}

// A store of the format before this one, as that version wrote it.
TEST_F(StoreTest, RejectsStoreOfFormerFormatAndKeepsIt) {
  fs::create_directory(dir_);
  fs::permissions(dir_, fs::perms::owner_all);
  const fs::path former = fs::path(TINYOT_VECTORS_DIR) / "store_v3";
  for (const char* name : {"material.mdb", "store.keys"})
    write_private_file(dir_ / name, read_file(former / name));
  write_private_file(root_ / "store.key", read_file(former / "store.key"));
  EXPECT_EQ(message_of([&] {
              Store::open(dir_,
                          {.store_key = StoreKey::read(root_ / "store.key"), .is_adopted = true});
            }),
            "this store has format 3; this version reads format 4: preprocess into a new store");
  for (const char* name : {"material.mdb", "store.keys"})
    EXPECT_EQ(read_file(dir_ / name), read_file(former / name));
}

void make_vector(const fs::path& to, const fs::path& key) {
  std::optional<Store> stores[2];
  Halves halves[2];
  for (const Party me : {Party::A, Party::B}) {
    Store& store = stores[me == Party::B].emplace(Store::create(
        to / std::string(1, letter(me)), test_manifest(me), kTestDelta, 0, StoreKey::read(key)));
    const auto begin = [&](std::uint64_t ands) {
      const Attempt attempt =
          attempt_at(store.manifest().units_made, ands, Attempt::State::Pending);
      store.begin_unit({attempt.unit, attempt.plan, attempt.risk});
    };
    for (const std::uint64_t count : kCounts) {
      begin(count);
      for (const MaterialKind kind : kAllMaterialKinds)
        store.pour(test_batch(kind, me, store.made()[kind],
                              count + (kind == kBits && count == kCounts[0] ? kMoreBits : 0)));
      store.finish_unit();
    }
    begin(kWithdrawn);
    store.withdraw_unit(std::size(kCounts));
    begin(kBrokenOff);
    halves[me == Party::B] = store.halves(0, 2);
  }
  for (const int me : {0, 1}) {
    stores[me]->unlock(0, 2, halves[1 - me]);
    (void)stores[me]->reserve({}, all_kinds(kServed));
    MaterialCounts higher, planned;
    higher[kAnds] = kServed + kPassedOver;
    planned[kAnds] = kPlanned;
    (void)stores[me]->grant({.counts = planned, .at_least = higher, .is_plan = true});
  }
}

class StoreVectorMakingTest : public StoreTest {};

TEST_F(StoreVectorMakingTest, DISABLED_MakeVector) {
  const char* wanted = std::getenv("TINYOT_NEW_VECTOR");
  ASSERT_NE(wanted, nullptr) << "the directory to write to";
  write_private_file(root_ / "store.key", kStoreKey);
  make_vector(root_, root_ / "store.key");
  fs::create_directories(wanted);
  fs::copy_file(root_ / "store.key", fs::path(wanted) / "store.key",
                fs::copy_options::overwrite_existing);
  for (const char* party : {"A", "B"}) {
    fs::create_directories(fs::path(wanted) / party);
    Store store = Store::open(root_ / party, {.store_key = StoreKey::read(root_ / "store.key")});
    const std::string keys = read_file(root_ / party / "store.keys"),
                      database = read_file(root_ / party / "material.mdb");
    write_private_file(fs::path(wanted) / party / "store.keys", keys);
    write_private_file(fs::path(wanted) / party / "material.mdb",
                       database.substr(0, store.store_bytes() - keys.size()));
  }
}

}  // namespace
}  // namespace tinyot
