// What the keys protect: used and copied stores, and stores under a store key.
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <bit>

#include "storage/record.h"
#include "tests/storage/store_support.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

namespace fs = std::filesystem;

// A copy of a store, as a backup or a theft would make it.
void copy_store(const fs::path& from, const fs::path& to) {
  fs::create_directory(to);
  fs::permissions(to, fs::perms::owner_all);
  for (const auto& entry : fs::directory_iterator(from))
    fs::copy_file(entry.path(), to / entry.path().filename());
}

BatchEntry entry_of(const Store& store, std::uint64_t index) {
  std::optional<BatchEntry> entry;
  store.read([&](const ReadTransaction& view) { entry = view.entry_holding(kTestKind, index); });
  return entry.value();
}

const SessionId kSession = std::bit_cast<SessionId>(test_manifest(Party::A).session_id);

// Slots of a key table whose keys open the sealed record.
std::vector<std::uint64_t> slots_that_open(const fs::path& dir, const BatchEntry& entry,
                                           const std::string& sealed, std::uint64_t slots) {
  const KeyTable keys(dir / "store.keys", kSession, {});
  std::vector<std::uint64_t> opening;
  for (std::uint64_t slot = 0; slot < slots; ++slot) {
    const std::string message = message_of([&] {
      (void)open_batch(kSession, Party::A, entry, keys.key(slot, "a batch"),
                       std::as_bytes(std::span(sealed)), {});
    });
    if (message.empty()) opening.push_back(slot);
  }
  return opening;
}

TEST_F(StoreTest, ErasesKeysOfReservation) {
  const std::uint64_t capacity = material::full_batch(kTestKind);
  Store store = make_store(dir_);
  add_unit(store, kTestKind, 3 * capacity);
  const BatchEntry whole = entry_of(store, 0), cut = entry_of(store, capacity);
  const std::string whole_sealed = sealed_record(store, kTestKind, 0),
                    cut_sealed = sealed_record(store, kTestKind, capacity);
  ASSERT_EQ(slots_that_open(dir_, whole, whole_sealed, store.cursors().next_slot),
            std::vector{whole.slot});
  Reservation reservation = store.reserve({}, counts_of(kTestKind, capacity + 10));
  const std::uint64_t slots = store.cursors().next_slot;
  EXPECT_TRUE(slots_that_open(dir_, whole, whole_sealed, slots).empty());
  EXPECT_TRUE(slots_that_open(dir_, cut, cut_sealed, slots).empty())
      << "key of the batch that was cut in two";
  const std::string reserved_half = sealed_record(store, kTestKind, capacity),
                    other_half = sealed_record(store, kTestKind, capacity + 10);
  EXPECT_TRUE(slots_that_open(dir_, entry_of(store, capacity), reserved_half, slots).empty());
  EXPECT_EQ(slots_that_open(dir_, entry_of(store, capacity + 10), other_half, slots).size(), 1u);
  // The sealed record is still in the file.
  EXPECT_NE(read_file(dir_ / "material.mdb").find(whole_sealed), std::string::npos);
  EXPECT_TRUE(draws(reservation, kTestKind, Party::A, 0, capacity + 10));
}

TEST_F(StoreTest, CopiedFilesDoNotOpenUsedMaterial) {
  Store store = make_store(dir_);
  add_unit(store, kTestKind, 1000);
  const BatchEntry used = entry_of(store, 0);
  const std::string sealed = sealed_record(store, kTestKind, 0);
  Reservation reservation = store.reserve({}, counts_of(kTestKind, 1000));
  copy_store(dir_, root_ / "stolen");
  EXPECT_TRUE(draws(reservation, kTestKind, Party::A, 0, 1000));
  reservation.finish();
  copy_store(dir_, root_ / "later");
  const std::uint64_t slots = store.cursors().next_slot;
  { const Store gone = std::move(store); }
  EXPECT_NE(read_file(root_ / "stolen/material.mdb").find(sealed), std::string::npos);
  for (const char* name : {"stolen", "later"}) {
    EXPECT_TRUE(slots_that_open(root_ / name, used, sealed, slots).empty()) << name;
    Store copy = Store::open(root_ / name, {.is_adopted = true});
    EXPECT_EQ(copy.left(), MaterialCounts{});
    EXPECT_THROW(copy.reserve({}, counts_of(kTestKind, 1)), OutOfMaterial);
    EXPECT_EQ(copy.bytes_of(kTestKind), 0u);
  }
}

TEST_F(StoreTest, StoresNoPlaintext) {
  Store store = make_store(dir_);
  add_unit(store, kTestKind, 200);
  const std::string delta(reinterpret_cast<const char*>(&kTestDelta), sizeof kTestDelta);
  for (const auto& entry : fs::directory_iterator(dir_)) {
    const std::string bytes = read_file(entry.path());
    EXPECT_EQ(bytes.find(delta), std::string::npos) << entry.path();
    for (const std::uint64_t index : {0u, 100u, 199u}) {
      const std::uint64_t word = word_of(kTestKind, 0, index);
      EXPECT_EQ(bytes.find(std::string(reinterpret_cast<const char*>(&word), sizeof word)),
                std::string::npos)
          << entry.path();
    }
  }
}

// Each handle of this process knows it, before the file says so; another process reads it there.
TEST_F(StoreTest, RevocationReachesAllHandlesAtOnce) {
  Store first = Store::create(dir_, test_manifest(Party::A), kTestDelta, 1 << 20);
  Store second = Store::open(dir_);
  EXPECT_NO_THROW(second.require_not_revoked());
  const auto known = second.revocation();
  EXPECT_FALSE(known->is_set());
  first.erase_keys();
  EXPECT_TRUE(known->is_set());
  EXPECT_NE(second.manifest().state, StoreState::Revoked);
  EXPECT_TRUE(mentions(message_of([&] { second.require_not_revoked(); }), "on another of its"));
  first.revoke("for a test");
  EXPECT_TRUE(mentions(message_of([&] { second.require_not_revoked(); }), "is revoked"));
}

TEST_F(StoreTest, ErasesKeysOfDroppedUnitsAndRevokedSessions) {
  Store store = make_store(dir_);
  add_unit(store, kTestKind, 100);
  add_locked_unit(store, kTestKind, 100);
  const BatchEntry kept = entry_of(store, 0), dropped = entry_of(store, 100);
  const std::string kept_sealed = sealed_record(store, kTestKind, 0),
                    dropped_sealed = sealed_record(store, kTestKind, 100);
  store.cut_back(1);
  EXPECT_TRUE(slots_that_open(dir_, dropped, dropped_sealed, store.cursors().next_slot).empty());
  EXPECT_EQ(slots_that_open(dir_, kept, kept_sealed, store.cursors().next_slot),
            std::vector{kept.slot});
  const auto size = fs::file_size(dir_ / "store.keys");
  const fs::path other_name = root_ / "other name";  // leads to the keys even if they are replaced
  fs::create_hard_link(dir_ / "store.keys", other_name);
  store.revoke("for a test");
  const std::string keys = read_file(other_name);
  EXPECT_EQ(keys.size(), size);
  EXPECT_EQ(keys.find_first_not_of('\0', 48), std::string::npos)
      << "salt, check and slots are overwritten";
  EXPECT_TRUE(slots_that_open(dir_, kept, kept_sealed, store.cursors().next_slot).empty());
}

// A slot's seal names the slot: a key does not move to another one, with or without a store key.
TEST_F(StoreTest, ExchangedSlotsOpenNothing) {
  constexpr std::size_t kSlot = 64, kHeader = 128;
  const StoreKey store_key(std::vector<std::byte>(32, std::byte{7}));
  for (const std::optional<StoreKey>& key : {std::optional<StoreKey>(), std::optional(store_key)}) {
    fs::remove_all(dir_);
    {
      Store store = Store::create(dir_, test_manifest(Party::A), kTestDelta, 0, key);
      add_unit(store, kTestKind, 100);
      add_unit(store, kTestKind, 100);
    }
    const Store store = Store::open(dir_, {.store_key = key});
    const std::uint64_t first = entry_of(store, 0).slot, second = entry_of(store, 100).slot;
    ASSERT_NE(first, second);
    std::string keys = read_file(dir_ / "store.keys");
    std::swap_ranges(keys.begin() + kHeader + first * kSlot,
                     keys.begin() + kHeader + (first + 1) * kSlot,
                     keys.begin() + kHeader + second * kSlot);
    write_private_file(dir_ / "store.keys", keys);
    const KeyTable exchanged(dir_ / "store.keys", kSession, key);
    for (const std::uint64_t slot : {first, second})
      EXPECT_TRUE(mentions(message_of([&] { (void)exchanged.key(slot, "a batch"); }), "corrupt"));
  }
}

class StoreKeyTest : public StoreTest {
 protected:
  static StoreKey key_of(char byte, std::size_t size = 32) {
    return StoreKey(std::vector<std::byte>(size, static_cast<std::byte>(byte)));
  }
  std::string open_message(const std::optional<StoreKey>& key) {
    return message_of([&] { Store::open(dir_, {.store_key = key}); });
  }
  std::string read_message(const std::string& bytes, mode_t mode = 0600) {
    write_private_file(root_ / "key", bytes);
    EXPECT_EQ(::chmod((root_ / "key").c_str(), mode), 0);
    return message_of([&] { (void)StoreKey::read(root_ / "key"); });
  }
};

TEST_F(StoreKeyTest, OpensOnlyWithItsKey) {
  {
    Store store = Store::create(dir_, test_manifest(Party::A), kTestDelta, 0, key_of('k'));
    EXPECT_EQ(store.protection(), KeyProtection::ByStoreKey);
    add_unit(store, kTestKind, 10);
  }
  EXPECT_TRUE(mentions(open_message({}), "is sealed under a store key, but none was given"));
  EXPECT_EQ(remedy_of([&] { Store::open(dir_); }), Remedy::GiveStoreKey);
  for (const StoreKey& wrong : {key_of('l'), key_of('k', 31), key_of('k', 33), key_of('k', 0)})
    EXPECT_TRUE(
        mentions(open_message(wrong), "the store key does not open the store in " + dir_.string()));
  Store store = Store::open(dir_, {.store_key = key_of('k')});
  EXPECT_EQ(store.protection(), KeyProtection::ByStoreKey);
  Reservation reservation = reserve_all(store);
  EXPECT_TRUE(draws(reservation, kTestKind, Party::A, 0, 10));
}

TEST_F(StoreKeyTest, RejectsSuperfluousKey) {
  { EXPECT_EQ(make_store(dir_).protection(), KeyProtection::ByPermissions); }
  EXPECT_TRUE(mentions(open_message(key_of('k')),
                       "the store in " + dir_.string() + " is not sealed under a store key"));
  EXPECT_EQ(remedy_of([&] { Store::open(dir_, {.store_key = key_of('k')}); }),
            Remedy::OmitStoreKey);
  EXPECT_EQ(open_message({}), "");
}

TEST_F(StoreKeyTest, ChecksKeyFiles) {
  EXPECT_EQ(read_message(std::string(16, 'x')), "");
  EXPECT_TRUE(std::ranges::equal(StoreKey::read(root_ / "key").bytes(), key_of('x', 16).bytes()));
  EXPECT_TRUE(
      mentions(read_message(std::string(15, 'x')), "has 15 bytes, at least 16 are required"));
  EXPECT_TRUE(mentions(read_message(""), "has 0 bytes"));
  EXPECT_TRUE(
      mentions(read_message(std::string(32, 'x'), 0640),
               "is open to other users; restrict it with: chmod 600 " + (root_ / "key").string()));
  EXPECT_TRUE(mentions(read_message(std::string(32, 'x'), 0604), "is open to other users"));
  EXPECT_TRUE(mentions(message_of([&] { (void)StoreKey::read(root_ / "none"); }),
                       "cannot open " + (root_ / "none").string()));
  EXPECT_NE(message_of([&] { (void)StoreKey::read(root_); }), "");
}

TEST_F(StoreTest, RejectsCopyUntilAdopted) {
  {
    Store store = make_store(dir_);
    add_unit(store, kTestKind, 100);
  }
  const fs::path copy = root_ / "copy";
  copy_store(dir_, copy);
  for (const Purpose purpose : {Purpose::Inspect, Purpose::Use, Purpose::Make, Purpose::Own}) {
    const std::string message = message_of([&] { Store::open(copy, {.purpose = purpose}); });
    EXPECT_TRUE(mentions(message, "the store in " + copy.string() + " is a copy"));
    EXPECT_TRUE(mentions(message, "adopt it only if the original no longer exists"));
    EXPECT_EQ(remedy_of([&] { Store::open(copy, {.purpose = purpose}); }), Remedy::AdoptStore);
  }
  EXPECT_EQ(message_of([&] { Store::open(copy, {.purpose = Purpose::Own, .is_adopted = true}); }),
            "");
  {
    Store store = Store::open(copy);
    Reservation reservation = reserve_all(store);
    EXPECT_TRUE(draws(reservation, kTestKind, Party::A, 0, 100));
  }
  EXPECT_EQ(message_of([&] { Store::open(dir_); }), "") << "the original is unchanged";
  // A store may be renamed. One replaced file makes it a copy.
  fs::rename(dir_, root_ / "renamed");
  EXPECT_EQ(message_of([&] { Store::open(root_ / "renamed"); }), "");
  fs::copy_file(root_ / "renamed/store.keys", root_ / "renamed/new.keys");
  fs::rename(root_ / "renamed/new.keys", root_ / "renamed/store.keys");
  EXPECT_TRUE(mentions(message_of([&] { Store::open(root_ / "renamed"); }), "is a copy"));
}

// As of the jobs of a daemon.
TEST_F(StoreTest, TableWithoutGlobalKeyHasPlacesThatAreUsedAgain) {
  const fs::path path = root_ / "keys";
  KeyTable::create(path, kSession, {});
  KeyTable keys(path, kSession, {});
  EXPECT_EQ(keys.slots_end(), 0u);
  EXPECT_TRUE(keys.is_erased(0) && keys.is_erased(1));
  const crypto::SealKey first = keys.fresh_key(), second = keys.fresh_key();
  keys.fill(2, std::span(&first, 1));
  EXPECT_EQ(keys.slots_end(), 3u);
  EXPECT_TRUE(keys.is_erased(1));
  EXPECT_FALSE(keys.is_erased(2));
  keys.erase(std::array{std::uint64_t{2}});
  EXPECT_TRUE(keys.is_erased(2));
  keys.fill(2, std::span(&second, 1));
  EXPECT_EQ(KeyTable(path, kSession, {}).key(2, "a job").bytes, second.bytes);
}

}  // namespace
}  // namespace tinyot
