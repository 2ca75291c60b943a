// Processes that are killed while they use a store, and the state that the next one finds.
#include <sys/resource.h>

#include <algorithm>

#include "storage/record.h"
#include "tests/storage/process_support.h"
#include "tests/storage/store_support.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

void expect_good(Store& store, std::uint64_t position, std::uint64_t made) {
  EXPECT_EQ(store.served(), counts_of(kTestKind, position));
  EXPECT_EQ(store.made(), counts_of(kTestKind, made));
  add_unit(store, kTestKind, 1000);
  Reservation reservation =
      store.reserve(store.served(), counts_of(kTestKind, made + 1000 - position));
  EXPECT_TRUE(holds(reservation.draw(kTestKind, made + 1000 - position), kTestKind, Party::A,
                    position, made + 1000 - position));
}

TEST_F(StoreTest, DropsUnfinishedUnitOfKilledProcess) {
  {
    Store store = make_store(dir_);
    add_unit(store, kTestKind, 500);
  }
  ASSERT_TRUE(was_killed(status_of_child([&] {
    Store store = open_to_make(dir_);
    // Enough for a commit within the unit.
    for (int i = 0; i < 4; ++i) store.pour(test_batch(kTestKind, Party::A, 7, 500000));
    if (store.bytes_of(kTestKind) < (std::uint64_t{60} << 20)) return;
    kill_this_process();
  })));
  Store store = open_to_make(dir_);
  EXPECT_EQ(store.manifest().units_made, 1u);
  expect_good(store, 0, 500);
}

TEST_F(StoreTest, KeepsUnitIfKilledAfterFinish) {
  ASSERT_TRUE(was_killed(status_of_child([&] {
    Store store = make_store(dir_);
    add_unit(store, kTestKind, 500);
    kill_this_process();
  })));
  Store store = open_to_make(dir_);
  EXPECT_EQ(store.manifest().units_made, 1u);
  expect_good(store, 0, 500);
}

TEST_F(StoreTest, ServesOnlyRestIfKilledAfterReserve) {
  {
    Store store = make_store(dir_);
    add_unit(store, kTestKind, 3 * material::full_batch(kTestKind));
  }
  const std::uint64_t reserved = material::full_batch(kTestKind) + 11;
  ASSERT_TRUE(was_killed(status_of_child([&] {
    Store store = Store::open(dir_);
    Reservation reservation = store.reserve({}, counts_of(kTestKind, reserved));
    (void)reservation.draw(kTestKind, 5);
    kill_this_process();
  })));
  Store store = open_to_make(dir_);
  // The record below the position is dropped.
  EXPECT_LT(store.bytes_of(kTestKind), (std::uint64_t{2} << 20) + 65536);
  expect_good(store, reserved, 3 * material::full_batch(kTestKind));
}

TEST_F(StoreOnDiskTest, SurvivesKillsAtRandomTimes) {
  { Store store = make_store(dir_); }
  std::uint64_t made = 0, position = 0;
  for (int round = 0; round < 30; ++round) {
    const pid_t child = start_child([&] {
      for (;;) {
        Store store = open_to_make(dir_);
        store.pour(test_batch(kTestKind, Party::A, store.made()[kTestKind], 2000));
        store.pour(test_batch(kTestKind, Party::A, store.made()[kTestKind] + 2000, 40000));
        store.finish_unit();
        unlock_all(store);
        Reservation reservation = store.reserve(store.served(), counts_of(kTestKind, 12345));
        (void)reservation.draw(kTestKind, 12345);
      }
    });
    ::usleep(static_cast<useconds_t>(1000 +
                                     word_of(kTestKind, 0, static_cast<unsigned>(round)) % 60000));
    ::kill(child, SIGKILL);
    ASSERT_TRUE(was_killed(wait_for(child)));
    Store store = open_to_make(dir_);
    unlock_all(store);
    EXPECT_GE(store.made()[kTestKind], made);
    EXPECT_GE(store.served()[kTestKind], position);
    made = store.made()[kTestKind];
    position = store.served()[kTestKind];
    EXPECT_EQ(made, store.manifest().units_made * 42000);
    EXPECT_EQ(position % 12345, static_cast<std::uint64_t>(round) % 12345);
    // One more object per round, so that positions vary relative to record boundaries.
    if (made > position) {
      Reservation reservation = store.reserve(store.served(), counts_of(kTestKind, 1));
      EXPECT_TRUE(holds(reservation.draw(kTestKind, 1), kTestKind, Party::A, position, 1));
      ++position;
    } else {
      add_unit(store, kTestKind, 42000);
      made += 42000;
      (void)store.reserve(store.served(), counts_of(kTestKind, 1));
      ++position;
    }
  }
  Store store = open_to_make(dir_);
  expect_good(store, position, made);
}

TEST_F(StoreTest, MakesStoreAfterInterruptedCreation) {
  std::filesystem::create_directory(dir_);
  std::filesystem::permissions(dir_, std::filesystem::perms::owner_all);
  // The state left by a process that was killed before the database had its name.
  write_private_file(dir_ / "store.keys", "TINY");
  write_private_file(dir_ / "material.mdb.new", std::string(5000, 'x'));
  EXPECT_TRUE(mentions(message_of([&] { Store::open(dir_); }), "no store in"));
  Store store = make_store(dir_);
  add_unit(store, kTestKind, 500);
  expect_good(store, 0, 500);
}

// New files are not written through existing links with their names.
TEST_F(StoreTest, DoesNotWriteThroughLinks) {
  namespace fs = std::filesystem;
  fs::create_directory(dir_);
  fs::permissions(dir_, fs::perms::owner_all);
  write_private_file(root_ / "elsewhere", "not a store's");
  for (const char* name : {"store.keys", "material.mdb.new"})
    fs::create_symlink(root_ / "elsewhere", dir_ / name);
  {
    Store store = make_store(dir_);
    add_unit(store, kTestKind, 500);
  }
  EXPECT_EQ(read_file(root_ / "elsewhere"), "not a store's");
  for (const auto& entry : fs::directory_iterator(dir_))
    EXPECT_TRUE(fs::is_regular_file(entry.symlink_status())) << entry.path();
  Store store = open_to_make(dir_);
  expect_good(store, 0, 500);
}

TEST_F(StoreTest, OpeningErasesKeysOfRevokedStore) {
  const std::string whole = [&] {
    const Store store = make_store(dir_);
    return read_file(dir_ / "store.keys");
  }();
  Store::open(dir_).revoke("combiner openings");
  const std::string wiped = read_file(dir_ / "store.keys");
  write_private_file(dir_ / "store.keys", whole);
  EXPECT_EQ(Store::open(dir_).manifest().revocation_reason, "combiner openings");
  EXPECT_EQ(read_file(dir_ / "store.keys"), wiped);
}

// The process was killed after some of the 64 KiB blocks were overwritten.
TEST_F(StoreTest, OpeningCompletesInterruptedErasure) {
  std::string whole;
  {
    Store store = make_store(dir_);
    for (int i = 0; i < 20; ++i) add_unit(store, kTestKind, 300);
    whole = read_file(dir_ / "store.keys");
    store.revoke("combiner openings");
  }
  const std::string wiped = read_file(dir_ / "store.keys");
  ASSERT_EQ(wiped.size(), whole.size());
  for (const std::size_t done :
       {std::size_t{0}, std::size_t{128}, std::size_t{200}, whole.size() - 64}) {
    const std::string cut_off = wiped.substr(0, done) + whole.substr(done);
    write_private_file(dir_ / "store.keys", cut_off);
    {
      const Store store = Store::open(dir_, {.purpose = Purpose::Inspect});
      EXPECT_EQ(store.manifest().revocation_reason, "combiner openings");
      EXPECT_FALSE(store.keys_are_gone()) << done;
    }
    EXPECT_EQ(read_file(dir_ / "store.keys"), cut_off) << "Purpose::Inspect changes nothing";
    EXPECT_TRUE(Store::open(dir_).keys_are_gone()) << done;
    EXPECT_EQ(read_file(dir_ / "store.keys"), wiped) << done;
    EXPECT_TRUE(Store::open(dir_, {.purpose = Purpose::Inspect}).keys_are_gone());
  }
}

// The manifest was not written; only the key table shows the revocation.
TEST_F(StoreTest, OpeningCompletesErasureWithoutManifest) {
  {
    Store store = make_store(dir_);
    add_unit(store, kTestKind, 300);
  }
  const std::string whole = read_file(dir_ / "store.keys");
  std::string cut_off = whole;
  cut_off[12] = 3;
  std::fill(cut_off.begin() + 48, cut_off.begin() + 128, '\0');
  write_private_file(dir_ / "store.keys", cut_off);
  EXPECT_TRUE(mentions(message_of([&] { Store::open(dir_, {.purpose = Purpose::Inspect}); }),
                       "are erased"));
  EXPECT_EQ(read_file(dir_ / "store.keys"), cut_off);
  EXPECT_TRUE(mentions(message_of([&] { Store::open(dir_); }), "are erased"));
  EXPECT_EQ(read_file(dir_ / "store.keys").find_first_not_of('\0', 48), std::string::npos);
}

TEST_F(StoreTest, FullDiskKeepsCommittedMaterial) {
  {
    Store store = make_store(dir_);
    add_unit(store, kTestKind, 500);
  }
  const int status = status_of_child([&] {
    // The kernel limits the size of files, which fails like a full disk: room for two units and a
    // reservation.
    const rlimit limit{35 << 20, 35 << 20};
    ::signal(SIGXFSZ, SIG_IGN);
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return;
    Store store = open_to_make(dir_);
    const auto fill = [&] {
      for (;;) add_unit(store, kTestKind, 250000);
    };
    const std::string message = message_of(fill);
    const bool is_reported = mentions(message, "disk full") && mentions(message, "bytes more") &&
                             remedy_of(fill) == Remedy::Resume;
    // Existing material is still served.
    Reservation reservation = store.reserve({}, counts_of(kTestKind, 200));
    exit_well(is_reported && draws(reservation, kTestKind, Party::A, 0, 200) &&
              store.made()[kTestKind] == 500500);
  });
  EXPECT_TRUE(ended_well(status)) << status;
  Store store = open_to_make(dir_);
  expect_good(store, 200, store.made()[kTestKind]);
}

}  // namespace
}  // namespace tinyot
