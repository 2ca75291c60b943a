// Processes that die inside a store, and what the next one finds.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "storage/record.h"
#include "tests/storage/store_support.h"

namespace tinyot {
namespace {

constexpr MaterialKind kKind = MaterialKind::AuthAndsA;

// Runs `body` in a process of its own; its wait status. A body that returns, or throws, ends the process with status 1.
template <class Body>
int status_of_child(const Body& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      body();
    } catch (const std::exception&) {
    }
    ::_exit(1);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

void kill_this_process() { ::kill(::getpid(), SIGKILL); }

bool was_killed(int status) { return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL; }

void expect_good(Store& store, std::uint64_t position, std::uint64_t made) {
  EXPECT_EQ(store.position(), counts_of(kKind, position));
  EXPECT_EQ(store.made(), counts_of(kKind, made));
  add_unit(store, kKind, 1000);
  Reservation reservation = store.reserve(store.position(), counts_of(kKind, made + 1000 - position));
  EXPECT_TRUE(holds(reservation.draw(kKind, made + 1000 - position), kKind, Party::A, position, made + 1000 - position));
}

TEST_F(StoreTest, KilledBetweenPourAndFinish) {
  {
    Store store = make_store(dir_);
    add_unit(store, kKind, 500);
  }
  ASSERT_TRUE(was_killed(status_of_child([&] {
    Store store = Store::open(dir_);
    // Enough for a commit inside the unit.
    for (int i = 0; i < 4; ++i) store.pour(test_batch(kKind, Party::A, 7, 500000));
    if (store.bytes_of(kKind) < (std::uint64_t{60} << 20)) return;
    kill_this_process();
  })));
  Store store = Store::open(dir_);
  EXPECT_EQ(store.manifest().units_made, 1u);
  expect_good(store, 0, 500);
}

TEST_F(StoreTest, KilledRightAfterFinish) {
  ASSERT_TRUE(was_killed(status_of_child([&] {
    Store store = make_store(dir_);
    add_unit(store, kKind, 500);
    kill_this_process();
  })));
  Store store = Store::open(dir_);
  EXPECT_EQ(store.manifest().units_made, 1u);
  expect_good(store, 0, 500);
}

TEST_F(StoreTest, KilledAfterReserveServesTheRestOnly) {
  {
    Store store = make_store(dir_);
    add_unit(store, kKind, 3 * record_capacity(kKind));
  }
  const std::uint64_t reserved = record_capacity(kKind) + 11;
  ASSERT_TRUE(was_killed(status_of_child([&] {
    Store store = Store::open(dir_);
    Reservation reservation = store.reserve({}, counts_of(kKind, reserved));
    (void)reservation.draw(kKind, 5);
    kill_this_process();
  })));
  Store store = Store::open(dir_);
  // The record behind the position is gone.
  EXPECT_LT(store.bytes_of(kKind), (std::uint64_t{2} << 20) + 65536);
  expect_good(store, reserved, 3 * record_capacity(kKind));
}

TEST_F(StoreTest, KilledAtRandomMomentsOfPouringAndServing) {
  { Store store = make_store(dir_); }
  std::uint64_t made = 0, position = 0;
  for (int round = 0; round < 30; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        for (;;) {
          Store store = Store::open(dir_);
          store.pour(test_batch(kKind, Party::A, store.made()[kKind], 2000));
          store.pour(test_batch(kKind, Party::A, store.made()[kKind] + 2000, 40000));
          store.finish_unit();
          Reservation reservation = store.reserve(store.position(), counts_of(kKind, 12345));
          (void)reservation.draw(kKind, 12345);
        }
      } catch (const std::exception&) {
      }
      ::_exit(1);
    }
    ::usleep(static_cast<useconds_t>(1000 + word_of(kKind, 0, static_cast<unsigned>(round)) % 60000));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(was_killed(status));
    Store store = Store::open(dir_);
    EXPECT_GE(store.made()[kKind], made);
    EXPECT_GE(store.position()[kKind], position);
    made = store.made()[kKind];
    position = store.position()[kKind];
    EXPECT_EQ(made, store.manifest().units_made * 42000);
    EXPECT_EQ(position % 12345, static_cast<std::uint64_t>(round) % 12345);
    // One object a round, so that positions do not stay on the same raster.
    if (made > position) {
      Reservation reservation = store.reserve(store.position(), counts_of(kKind, 1));
      EXPECT_TRUE(holds(reservation.draw(kKind, 1), kKind, Party::A, position, 1));
      ++position;
    } else {
      add_unit(store, kKind, 42000);
      made += 42000;
      (void)store.reserve(store.position(), counts_of(kKind, 1));
      ++position;
    }
  }
  Store store = Store::open(dir_);
  expect_good(store, position, made);
}

TEST_F(StoreTest, KilledWhileBeingMade) {
  std::filesystem::create_directory(dir_);
  std::filesystem::permissions(dir_, std::filesystem::perms::owner_all);
  // What a start leaves that died before the database had its name.
  write_file(dir_ / "global.key", "TINY");
  write_file(dir_ / "material.mdb.new", std::string(5000, 'x'));
  EXPECT_TRUE(mentions(message_of([&] { Store::open(dir_); }), "no store in"));
  Store store = make_store(dir_);
  add_unit(store, kKind, 500);
  expect_good(store, 0, 500);
}

TEST_F(StoreTest, DeathWithoutTheWipeIsCompletedByTheNextOpening) {
  const std::string whole = [&] {
    const Store store = make_store(dir_);
    return read_file(dir_ / "global.key");
  }();
  Store::open(dir_).mark_dead("combiner openings");
  const std::string wiped = read_file(dir_ / "global.key");
  write_file(dir_ / "global.key", whole);
  EXPECT_EQ(Store::open(dir_).manifest().dead_reason, "combiner openings");
  EXPECT_EQ(read_file(dir_ / "global.key"), wiped);
}

TEST_F(StoreTest, FullDiskKeepsWhatIsCommitted) {
  {
    Store store = make_store(dir_);
    add_unit(store, kKind, 500);
  }
  const int status = status_of_child([&] {
    // The kernel refuses to make a file larger than this, as it does on a full disk.
    const rlimit limit{8 << 20, 8 << 20};
    ::signal(SIGXFSZ, SIG_IGN);
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return;
    Store store = Store::open(dir_);
    const std::string message = message_of([&] {
      for (;;) add_unit(store, kKind, 50000);
    });
    const bool is_told = mentions(message, "disk full") && mentions(message, "bytes more");
    // Material that is there is still served.
    const bool is_served = holds(store.reserve({}, counts_of(kKind, 200)).draw(kKind, 200), kKind, Party::A, 0, 200);
    ::_exit(is_told && is_served && store.made()[kKind] >= 50500 ? 0 : 2);
  });
  EXPECT_EQ(status, 0);
  Store store = Store::open(dir_);
  expect_good(store, 200, store.made()[kKind]);
}

}  // namespace
}  // namespace tinyot
