// Each system call of a store fails in turn, or the process is killed at it. Errors are
// StoreErrors, committed material is intact, nothing is served twice, and the store stays usable.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "tests/storage/faults/aftermath.h"
#include "tests/storage/faults/interposed.h"
#include "tests/storage/faults/scenario.h"
#include "tests/storage/process_support.h"
#include "tests/support/blocked_thread.h"
#include "tests/support/layers.h"

namespace tinyot::faults {
namespace {

class FaultTest : public StoreTest {
 protected:
  FaultTest() : StoreTest(directory_in_memory()) {}

  void run_all(Fault fault, std::uint64_t every);
  // Runs the scenario with one fault; returns whether the fault was reached.
  bool run_with(Fault fault, std::uint64_t at);

  std::uint64_t second_tries_ = 0;
};

struct SyncedPaths final : Observer {
  void written(int, std::uint64_t, std::size_t) override {}
  void resized(int) override {}
  void synced(int file) override { paths.push_back(path_of(file)); }

  std::vector<std::string> paths;
};

// Progress of a trial, for failure messages.
std::string text_of(const Ledger& ledger) {
  return "after " + std::to_string(ledger.errors) + " errors, " + std::to_string(ledger.units) +
         " units, " + std::to_string(ledger.units_unlocked) + " unlocked" +
         (ledger.plan > 0 ? ", planned" : "") + (ledger.claim_begun ? ", claimed" : "") +
         (ledger.revocation_begun ? ", being revoked" : "");
}

bool FaultTest::run_with(Fault fault, std::uint64_t at) {
  const Shared<Ledger> ledger;
  const int status = status_of_child([&] {
    Scenario scenario(dir_, *ledger, [&] {
      if (fault != Fault::DiskFails) disarm();
    });
    arm(fault, at);
    const bool is_done = scenario.run();
    ::_exit(calls() < at ? 10 : is_done ? 11 : 12);
  });
  SCOPED_TRACE("fault " + std::to_string(static_cast<int>(fault)) + " at call " +
               std::to_string(at) + ", " + text_of(*ledger));
  const bool is_killed = fault == Fault::Kill || fault == Fault::TornWrite;
  const bool is_reached = !(WIFEXITED(status) && WEXITSTATUS(status) == 10);
  if (is_reached && is_killed) {
    EXPECT_TRUE(was_killed(status));
  } else {
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) >= 10) << status;
  }
  second_tries_ += WIFEXITED(status) && WEXITSTATUS(status) == 11 && ledger->errors > 0;
  EXPECT_STREQ(ledger->violation, "");
  check_aftermath(dir_, *ledger);
  EXPECT_STREQ(ledger->violation, "");
  std::filesystem::remove_all(dir_);
  return is_reached && !HasFailure();
}

#ifdef __SANITIZE_ADDRESS__
constexpr std::uint64_t kSlowness = 3;
#else
constexpr std::uint64_t kSlowness = 1;
#endif

// Each call of the scenario in turn; for some faults only every second or third one, but every one
// with TINYOT_ALL_FAULTS=1.
void FaultTest::run_all(Fault fault, std::uint64_t every) {
  every *= kSlowness;
  if (std::getenv("TINYOT_ALL_FAULTS") != nullptr) every = 1;
  std::uint64_t trials = 0, last = 0;
  for (std::uint64_t at = 1 + static_cast<std::uint64_t>(fault) % every; run_with(fault, at);
       at += every)
    last = at, ++trials;
  EXPECT_GT(last, 100u) << "system calls are not intercepted";
  std::printf("%llu trials, %llu calls per scenario, %llu scenarios completed after an error\n",
              static_cast<unsigned long long>(trials), static_cast<unsigned long long>(last),
              static_cast<unsigned long long>(second_tries_));
  if (fault == Fault::NoSpace || fault == Fault::IoError) {
    EXPECT_GT(second_tries_, trials / 3) << "a store is not usable after an error";
  }
}

TEST_F(FaultTest, CompletesWithoutFaults) {
  const Shared<Ledger> ledger;
  EXPECT_TRUE(ended_well(status_of_child([&] {
    Scenario scenario(dir_, *ledger, [] {});
    exit_well(scenario.run() && ledger->errors == 0);
  })));
  EXPECT_STREQ(ledger->violation, "");
  EXPECT_TRUE(ledger->is_revoked);
  EXPECT_EQ(ledger->units, kUnits);
}

// An entry of a directory survives a power failure only if the directory is synced.
TEST_F(FaultTest, SyncsEveryNewDirectoryIntoParent) {
  const int status = status_of_child([&] {
    SyncedPaths noted;
    observe(&noted);
    const Store store = make_store(root_ / "a" / "b" / "store");
    const std::vector<std::string>& synced = noted.paths;
    const auto place_of = [&](const std::filesystem::path& path) {
      return std::ranges::find(synced, path.string()) - synced.begin();
    };
    const auto size = static_cast<std::ptrdiff_t>(synced.size());
    // From the top down, and before any file of the store is synced.
    exit_well(place_of(root_) < place_of(root_ / "a") &&
              place_of(root_ / "a") < place_of(root_ / "a" / "b") &&
              place_of(root_ / "a" / "b") < place_of(root_ / "a" / "b" / "store" / "store.keys") &&
              place_of(root_ / "a" / "b" / "store") < size);
  });
  EXPECT_TRUE(ended_well(status));
}

// Two processes enlarge the file at once, and fallocate() is not supported: the second must not
// truncate what the first has written.
TEST_F(FaultTest, DoesNotTruncateFileEnlargedByOtherProcess) {
  constexpr std::size_t kUnit = 400000;
  {
    Store store = make_store(dir_);
    store.pour(test_batch(kAnds, Party::A, 0, 100));
    store.finish_unit();
    unlock_all(store);
  }
  const Steps steps;
  const pid_t slow = start_child([&] {
    Store store = Store::open(dir_);
    allocate_nothing([&] {
      steps.reach(1);
      steps.wait_until(2);
    });
    Reservation reservation = store.reserve({}, counts_of(kAnds, 10));
    exit_well(static_cast<bool>(draws(reservation, kAnds, Party::A, 0, 10)));
  });
  steps.wait_until(1);
  const pid_t maker = start_child([&] {
    Store store = open_to_make(dir_);
    store.pour(test_batch(kAnds, Party::A, 100, kUnit));
    store.finish_unit();
    unlock_all(store);
    exit_well(true);
  });
  // It waits for the other process, or has enlarged the file.
  test::wait_until_asleep_or_ended(maker);
  steps.reach(2);
  EXPECT_TRUE(ended_well(wait_for(maker)));
  EXPECT_TRUE(ended_well(wait_for(slow)));
  Store store = Store::open(dir_);
  Reservation rest = reserve_all(store);
  EXPECT_TRUE(draws(rest, kAnds, Party::A, 10, 90 + kUnit));
}

TEST_F(FaultTest, SurvivesFullDisk) { run_all(Fault::NoSpace, 1); }
TEST_F(FaultTest, SurvivesIoError) { run_all(Fault::IoError, 3); }
TEST_F(FaultTest, SurvivesShortWrite) { run_all(Fault::ShortWrite, 3); }
TEST_F(FaultTest, SurvivesFailedDisk) { run_all(Fault::DiskFails, 3); }
TEST_F(FaultTest, SurvivesKill) { run_all(Fault::Kill, 1); }
TEST_F(FaultTest, SurvivesKillInsideWrite) { run_all(Fault::TornWrite, 2); }

}  // namespace
}  // namespace tinyot::faults
