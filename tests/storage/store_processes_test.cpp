// Several processes with one store: compatible purposes, and disjoint ranges.
#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "storage/record.h"
#include "tests/storage/process_support.h"
#include "tests/storage/store_support.h"
#include "tests/support/blocked_thread.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

constexpr MaterialKind kShared = MaterialKind::AuthAndsB;

std::string open_message(const std::filesystem::path& dir, Purpose purpose) {
  return message_of([&] { Store::open(dir, {.purpose = purpose}); });
}

// Handles of one process exclude each other as those of several do.
TEST_F(StoreTest, ProcessHasSeveralHandles) {
  Store store = make_store(dir_);
  add_unit(store, kShared, 10);
  for (const Purpose purpose : {Purpose::Make, Purpose::Own})
    EXPECT_TRUE(mentions(open_message(dir_, purpose), ", which adds to it"));
  Store other = Store::open(dir_);
  const Store third = Store::open(dir_, {.purpose = Purpose::Inspect});
  Reservation first = store.reserve({}, counts_of(kShared, 4)),
              second = other.reserve({}, counts_of(kShared, 6));
  EXPECT_TRUE(holds(second.draw(kShared, 6), kShared, Party::A, 4, 6));
  EXPECT_TRUE(holds(first.draw(kShared, 4), kShared, Party::A, 0, 4));
  EXPECT_THROW(other.reserve({}, counts_of(kShared, 1)), OutOfMaterial);
  // A revocation by one handle ends the use by all others.
  other.revoke("a reason");
  EXPECT_TRUE(mentions(message_of([&] { (void)store.global_key(); }), "session is revoked"));
}

// The map grows while other threads read, and handles come and go.
TEST_F(StoreTest, HandlesOfThreadsServeDisjointRanges) {
  constexpr std::size_t kThreads = 4, kUnits = 40;
  constexpr std::uint64_t kUnitObjects = 20000, kRun = 997;
  std::optional<Store> maker = make_store(dir_);
  add_unit(*maker, kShared, kUnitObjects);
  std::atomic<bool> is_made = false;
  std::vector<std::vector<std::uint64_t>> starts(kThreads);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        for (bool is_last = false;;) {
          Store store = Store::open(dir_);
          try {
            Grant grant = store.grant({counts_of(kShared, kRun), {}, false});
            const std::uint64_t start = grant.range.start[kShared];
            Reservation reservation = store.hold(grant);
            EXPECT_TRUE(holds(reservation.draw(kShared, kRun), kShared, Party::A, start, kRun));
            reservation.finish();
            starts[t].push_back(start);
          } catch (const OutOfMaterial&) {
            if (is_last) return;
            is_last = is_made;
          }
        }
      });
    for (std::size_t unit = 1; unit < kUnits; ++unit) add_unit(*maker, kShared, kUnitObjects);
    maker.reset();
    is_made = true;
  }
  std::vector<std::uint64_t> all;
  for (const auto& of_thread : starts) all.insert(all.end(), of_thread.begin(), of_thread.end());
  std::ranges::sort(all);
  ASSERT_EQ(all.size(), kUnits * kUnitObjects / kRun);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], i * kRun);
}

TEST_F(StoreTest, PurposesExcludeEachOtherAsDocumented) {
  { const Store store = make_store(dir_); }
  const std::string by_me =
      "in use by process " + std::to_string(::getpid()) + ", which adds to it";
  const std::string by_others = "in use by other processes or threads; wait until they end";
  // The error of another process that opens the store while this one has it open.
  const auto refusal = [&](Purpose first, Purpose second, const std::string& part) {
    // The child starts before the store is open here.
    const Steps steps;
    const pid_t child = start_child([&] {
      steps.wait_until(1);
      const std::string message = open_message(dir_, second);
      exit_well(part.empty() ? message.empty() : static_cast<bool>(mentions(message, part)));
    });
    const Store store = Store::open(dir_, {.purpose = first});
    steps.reach(1);
    EXPECT_TRUE(ended_well(wait_for(child)))
        << static_cast<int>(first) << " and then " << static_cast<int>(second);
  };
  for (const Purpose first : {Purpose::Inspect, Purpose::Use}) {
    for (const Purpose second : {Purpose::Inspect, Purpose::Use, Purpose::Make})
      refusal(first, second, "");
    refusal(first, Purpose::Own, by_others);
  }
  for (const Purpose second : {Purpose::Inspect, Purpose::Use}) refusal(Purpose::Make, second, "");
  for (const Purpose second : {Purpose::Make, Purpose::Own}) refusal(Purpose::Make, second, by_me);
  for (const Purpose second : {Purpose::Make, Purpose::Own}) refusal(Purpose::Own, second, by_me);
}

TEST_F(StoreTest, OpeningWaitsForExclusiveLock) {
  { const Store store = make_store(dir_); }
  const Steps steps;
  const pid_t child = start_child([&] {
    steps.wait_until(1);
    steps.reach(2);
    exit_well(open_message(dir_, Purpose::Use).empty());
  });
  {
    const Store store = Store::open(dir_, {.purpose = Purpose::Own});
    steps.reach(1);
    steps.wait_until(2);
    test::wait_until_asleep_or_ended(child);
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, WNOHANG), 0) << "the other process does not wait";
  }
  EXPECT_TRUE(ended_well(wait_for(child)));
}

TEST_F(StoreTest, UsesMaterialOfOtherProcessAsMapGrows) {
  constexpr std::uint64_t kUnit = 400000;
  {
    Store store = make_store(dir_);
    add_unit(store, kShared, 1000);
  }
  const Steps steps;
  const pid_t child = start_child([&] {
    Store store = Store::open(dir_);
    steps.reach(1);
    steps.wait_until(2);
    store.refresh();
    Reservation reservation = store.reserve({}, counts_of(kShared, 1000 + kUnit));
    const bool is_right = static_cast<bool>(draws(reservation, kShared, Party::A, 0, 1000 + kUnit));
    reservation.finish();
    steps.reach(3);
    steps.wait_until(4);
    Reservation second = store.reserve({}, counts_of(kShared, 10));
    exit_well(is_right && draws(second, kShared, Party::A, 1000 + kUnit, 10));
  });
  {
    Store store = open_to_make(dir_);
    steps.wait_until(1);
    // The other process has a much smaller map.
    for (int unit = 0; unit < 3; ++unit) add_unit(store, kShared, kUnit);
    EXPECT_GT(store.store_bytes(), std::uint64_t{50} << 20);
    steps.reach(2);
    steps.wait_until(3);
    EXPECT_EQ(store.served(), MaterialCounts{}) << "as of the last refresh";
    store.refresh();
    EXPECT_EQ(store.served(), counts_of(kShared, 1000 + kUnit));
    add_unit(store, kShared, 5);
    steps.reach(4);
  }
  EXPECT_TRUE(ended_well(wait_for(child)));
}

TEST_F(StoreTest, OpeningKeepsUnfinishedUnitOfOtherProcess) {
  { const Store store = make_store(dir_); }
  const Steps steps;
  const pid_t child = start_child([&] {
    steps.wait_until(1);
    {
      Store store = Store::open(dir_);
      if (store.bytes_of(kShared) < (std::uint64_t{16} << 20)) exit_well(false);
    }
    steps.reach(2);
    exit_well(true);
  });
  Store store = open_to_make(dir_);
  constexpr std::size_t kHalf = 1500000;
  store.pour(test_batch(kShared, Party::A, 0, kHalf));
  EXPECT_GT(store.bytes_of(kShared), std::uint64_t{16} << 20) << "nothing is committed yet";
  steps.reach(1);
  steps.wait_until(2);
  EXPECT_TRUE(ended_well(wait_for(child)));
  store.finish_unit();
  unlock_all(store);
  Reservation reservation = reserve_all(store);
  EXPECT_TRUE(draws(reservation, kShared, Party::A, 0, kHalf));
}

// LMDB reuses no page that a reader could see, and removes killed readers only on request.
TEST_F(StoreTest, KilledReaderDoesNotGrowFile) {
  { const Store store = make_store(dir_); }
  const Steps steps;
  const pid_t child = start_child([&] {
    steps.wait_until(1);
    Store::open(dir_, {.purpose = Purpose::Inspect}).read([](const ReadTransaction&) {
      kill_this_process();
    });
  });
  Store store = open_to_make(dir_);
  const auto make_and_serve = [&](int units) {
    for (int i = 0; i < units; ++i) {
      add_unit(store, kShared, 50000);
      reserve_all(store).finish();
    }
    return store.store_bytes();
  };
  const std::uint64_t alone = make_and_serve(4);
  steps.reach(1);
  EXPECT_TRUE(was_killed(wait_for(child)));
  EXPECT_LT(make_and_serve(8), alone + alone / 2);
}

// Counts how often each object is served, over all processes.
struct Ledger {
  static constexpr std::uint64_t kObjects = 120000;
  std::atomic<std::uint8_t> served[kObjects];

  // Records a range. Returns whether all of it is served for the first time.
  bool record(std::uint64_t first, std::uint64_t count) {
    bool is_first = first + count <= kObjects;
    for (std::uint64_t i = first; is_first && i < first + count; ++i)
      is_first = served[i].fetch_add(1) == 0;
    return is_first;
  }
  std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (const auto& object : served) sum += object;
    return sum;
  }
};

// Draws ranges of various sizes until the store is empty. Exits with 0 if all objects were correct
// and served once.
[[noreturn]] void draw_until_empty(const std::filesystem::path& dir, Ledger& ledger,
                                   std::uint64_t seed, bool is_made_meanwhile) {
  Store store = Store::open(dir);
  for (std::uint64_t round = 0;; ++round) {
    const std::uint64_t count = 1 + word_of(kShared, seed, round) % 2500;
    try {
      Reservation reservation = store.reserve({}, counts_of(kShared, count));
      const std::uint64_t start = reservation.start()[kShared];
      if (!draws(reservation, kShared, Party::A, start, count / 2)) exit_well(false);
      if (!draws(reservation, kShared, Party::A, start + count / 2, count - count / 2))
        exit_well(false);
      if (!ledger.record(start, count)) exit_well(false);
    } catch (const OutOfMaterial&) {
      if (!is_made_meanwhile ||
          (store.manifest().state == StoreState::Complete && store.left()[kShared] < 2500))
        exit_well(true);
      ::usleep(1000);
      store.refresh();
    }
  }
}

TEST_F(StoreTest, ConcurrentProcessesGetDisjointRanges) {
  {
    Store store = make_store(dir_);
    for (std::uint64_t unit = 0; unit < 3; ++unit) add_unit(store, kShared, Ledger::kObjects / 3);
  }
  const Shared<Ledger> ledger;
  std::vector<pid_t> children;
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    children.push_back(start_child([&] { draw_until_empty(dir_, *ledger, seed, false); }));
  for (const pid_t child : children) EXPECT_TRUE(ended_well(wait_for(child)));
  Store store = Store::open(dir_);
  EXPECT_EQ(ledger->total(), store.served()[kShared]) << "nothing is skipped";
  EXPECT_GT(ledger->total(), Ledger::kObjects - 2500);
  EXPECT_EQ(store.burnt(), MaterialCounts{});
}

TEST_F(StoreTest, ProcessesDrawDuringMaking) {
  { const Store store = make_store(dir_); }
  const Shared<Ledger> ledger;
  std::vector<pid_t> children;
  for (std::uint64_t seed = 1; seed <= 2; ++seed)
    children.push_back(start_child([&] { draw_until_empty(dir_, *ledger, seed, true); }));
  Store store = open_to_make(dir_);
  for (std::uint64_t unit = 0; unit < 10; ++unit) add_unit(store, kShared, Ledger::kObjects / 10);
  store.update_manifest([](Manifest& manifest) { manifest.state = StoreState::Complete; });
  for (const pid_t child : children) EXPECT_TRUE(ended_well(wait_for(child)));
  store.refresh();
  EXPECT_EQ(ledger->total(), store.served()[kShared]);
  EXPECT_EQ(store.made(), counts_of(kShared, Ledger::kObjects));
  EXPECT_GT(ledger->total(), Ledger::kObjects - 5000);
  Reservation reservation = reserve_all(store);
  EXPECT_TRUE(
      draws(reservation, kShared, Party::A, ledger->total(), Ledger::kObjects - ledger->total()));
}

TEST_F(StoreTest, ReclaimsReservationsOfCrashedProcess) {
  {
    Store store = make_store(dir_);
    add_unit(store, kShared, 1000);
  }
  const Steps steps;
  const pid_t other = start_child([&] {
    Store store = Store::open(dir_);
    Reservation reservation = store.reserve({}, counts_of(kShared, 100));
    steps.reach(1);
    steps.wait_until(2);
    exit_well(static_cast<bool>(draws(reservation, kShared, Party::A, 0, 100)));
  });
  const pid_t killed = start_child([&] {
    steps.wait_until(1);
    Store store = Store::open(dir_);
    (void)store.grant({.counts = counts_of(kShared, 200), .at_least = {}});
    kill_this_process();
  });
  ASSERT_TRUE(was_killed(wait_for(killed)));
  {
    // Another process has the store open, so its reservations stay.
    Store store = Store::open(dir_);
    EXPECT_EQ(store.served(), counts_of(kShared, 300));
    EXPECT_GT(store.bytes_of(kShared), material::bytes_of(kShared, Party::A, 990));
  }
  steps.reach(2);
  EXPECT_TRUE(ended_well(wait_for(other)));
  Store store = Store::open(dir_);
  EXPECT_EQ(store.bytes_of(kShared), material::bytes_of(kShared, Party::A, 700));
  Reservation reservation = reserve_all(store);
  EXPECT_TRUE(draws(reservation, kShared, Party::A, 300, 700));
}

TEST_F(StoreTest, RevocationReachesOpenHandles) {
  {
    Store store = make_store(dir_);
    add_unit(store, kShared, 1000);
  }
  const Steps steps;
  const pid_t child = start_child([&] {
    Store store = Store::open(dir_);
    Reservation reservation = store.reserve({}, counts_of(kShared, 100));
    steps.reach(1);
    steps.wait_until(2);
    const bool is_reported = mentions(message_of([&] { reservation.draw(kShared, 1); }),
                                      "session is revoked: cheating") &&
                             mentions(message_of([&] { store.reserve({}, counts_of(kShared, 1)); }),
                                      "session is revoked: cheating");
    exit_well(is_reported);
  });
  steps.wait_until(1);
  Store::open(dir_).revoke("cheating");
  steps.reach(2);
  EXPECT_TRUE(ended_well(wait_for(child)));
}

}  // namespace
}  // namespace tinyot
