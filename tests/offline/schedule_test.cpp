// The synchronisation of workers.
#include "offline/unit/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "tests/support/becomes_true.h"
#include "tests/support/blocked_thread.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace std::chrono_literals;

using test::BlockedThread;

BaseOts seeds_of(std::uint64_t number) {
  BaseOts seeds;
  seeds.sent.pairs.push_back({Seed{{number, 0}}, Seed{{number, 1}}});
  return seeds;
}

TEST(CommitOrder, AreTakenInOrder) {
  constexpr std::size_t kUnits = 60, kWorkers = 5;
  CommitOrder turns;
  std::vector<std::size_t> order;
  {
    std::vector<std::jthread> workers;
    for (std::size_t worker = 0; worker < kWorkers; ++worker) {
      workers.emplace_back([&, worker] {
        for (std::size_t unit = worker; unit < kUnits; unit += kWorkers) {
          ASSERT_TRUE(turns.begin(unit));
          order.push_back(unit);
          turns.end(unit);
        }
      });
    }
  }
  EXPECT_EQ(order.size(), kUnits);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(CommitOrder, EndWithTheJob) {
  CommitOrder turns;
  std::jthread waiting([&] { EXPECT_FALSE(turns.begin(2)); });
  turns.end_job_before(3);
  turns.end_job_before(1);
  turns.end_job_before(5);
  EXPECT_TRUE(turns.job_ends_before(1));
  EXPECT_FALSE(turns.job_ends_before(0));
  EXPECT_TRUE(turns.begin(0));
}

TEST(CommitOrder, FailureStopsWaitingAndLaterCalls) {
  CommitOrder turns;
  std::jthread waiting([&] { EXPECT_THROW(turns.begin(1), WorkerStopped); });
  EXPECT_TRUE(turns.begin(0));
  EXPECT_NO_THROW(turns.check());
  turns.stop();
  EXPECT_THROW(turns.check(), WorkerStopped);
  EXPECT_THROW(turns.begin(0), WorkerStopped);
}

TEST(SendPhaseSemaphore, OnlySoManyUnitsAreInTheirBulkPhase) {
  for (const std::size_t at_a_time : {1u, 2u, 3u}) {
    constexpr std::size_t kUnits = 60, kWorkers = 5;
    SendPhaseSemaphore turns(at_a_time);
    std::atomic<std::size_t> now = 0, most = 0, ended = 0;
    {
      std::vector<std::jthread> workers;
      for (std::size_t worker = 0; worker < kWorkers; ++worker) {
        workers.emplace_back([&, worker] {
          for (std::size_t unit = worker; unit < kUnits; unit += kWorkers) {
            turns.begin(unit);
            EXPECT_LT(unit, ended + at_a_time) << "before units with lower numbers";
            const std::size_t in_bulk = ++now;
            for (std::size_t seen = most; seen < in_bulk;)
              most.compare_exchange_weak(seen, in_bulk);
            if (unit % 7 == 0) std::this_thread::sleep_for(1ms);  // some take longer
            --now;
            ++ended;
            turns.end();
          }
        });
      }
    }
    EXPECT_EQ(ended, kUnits);
    EXPECT_LE(most, at_a_time);
  }
}

TEST(SendPhaseSemaphore, BeginInOrder) {
  SendPhaseSemaphore turns(1);
  BlockedThread third([&] { turns.begin(2); });
  BlockedThread second([&] { turns.begin(1); });
  turns.begin(0);
  EXPECT_TRUE(test::becomes_true([&] { return second.is_asleep(); }));
  EXPECT_FALSE(second.has_ended());
  turns.end();
  second.join();
  EXPECT_TRUE(test::becomes_true([&] { return third.is_asleep(); }));
  EXPECT_FALSE(third.has_ended());
  turns.end();
}

TEST(SendPhaseSemaphore, DoNotWaitForUnitsThatHaveEndedTheirs) {
  SendPhaseSemaphore turns(2);
  turns.begin(0);
  turns.begin(1);
  BlockedThread third([&] { turns.begin(2); });
  turns.end();  // of the second; the first one is still in its bulk phase
}

TEST(SendPhaseSemaphore, FailureStopsWaitingAndLaterCalls) {
  SendPhaseSemaphore turns(1);
  std::jthread waiting([&] { EXPECT_THROW(turns.begin(1), WorkerStopped); });
  turns.begin(0);
  turns.stop();
  EXPECT_THROW(turns.begin(0), WorkerStopped);
  turns.end();
  EXPECT_THROW(turns.begin(1), WorkerStopped);
}

TEST(BaseOtQueue, ReturnEachSetOnce) {
  BaseOtQueue lanes;
  std::jthread waiting([&] { EXPECT_EQ(lanes.take(7).sent.pairs.at(0).zero.value.lo, 7u); });
  lanes.put(3, seeds_of(3));
  lanes.put(7, seeds_of(7));
  waiting.join();
  EXPECT_EQ(lanes.take(3).sent.pairs.at(0).zero.value.lo, 3u);
  std::jthread second_take(
      [&] { EXPECT_THROW(lanes.take(3), WorkerStopped) << "a set of base OTs serves one run"; });
  lanes.stop();
}

TEST(BaseOtQueue, TwoSetsForOneRunFailEnsure) {
  BaseOtQueue lanes;
  lanes.put(1, seeds_of(1));
  EXPECT_THROW(lanes.put(1, seeds_of(2)), std::logic_error);
}

}  // namespace
}  // namespace tinyot
