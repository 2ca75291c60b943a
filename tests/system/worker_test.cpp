#include "system/worker.h"

#include <gtest/gtest.h>

#include <future>
#include <stdexcept>
#include <vector>

#include "tests/support/blocked_thread.h"

namespace tinyot::system {
namespace {

using Counts = Worker<int>::Counts;

TEST(Worker, ProcessesItemsInOrder) {
  std::vector<int> done;
  Worker<int> worker(3, Counts::UntilTaken, [&](int& item) { done.push_back(item); });
  std::vector<int> pushed;
  for (int i = 0; i < 1000; ++i) {
    worker.push(i, static_cast<std::uint64_t>(i % 7));
    pushed.push_back(i);
  }
  worker.flush();
  EXPECT_EQ(done, pushed);
  worker.push(1000, 100);  // heavier than all that may wait
  worker.finish();
  EXPECT_EQ(done.back(), 1000);
}

TEST(Worker, ProcessesWhatIsQueuedWhenItEnds) {
  int sum = 0;
  {
    Worker<int> worker(100, Counts::UntilProcessed, [&](int& item) { sum += item; });
    for (int i = 1; i <= 100; ++i) worker.push(i, 1);
  }
  EXPECT_EQ(sum, 5050);
}

// Its worker waits in the first item until it is released.
struct Held {
  explicit Held(Counts counts)
      : worker(2, counts, [this](int& item) {
          if (item == 0) {
            entered.set_value();
            released.get_future().wait();
          }
          done.push_back(item);
        }) {
    worker.push(0, 2);
    entered.get_future().wait();
  }
  // Another push waits until the worker is released.
  void expect_full(std::uint64_t weight) {
    test::BlockedThread push([&] { worker.push(1, weight); });
    released.set_value();
  }
  std::promise<void> entered, released;
  std::vector<int> done;
  Worker<int> worker;
};

TEST(Worker, ItemInProgressMakesRoomOrNot) {
  Held taken(Counts::UntilTaken);
  taken.worker.push(1, 2);
  taken.expect_full(1);
  Held processed(Counts::UntilProcessed);
  processed.worker.push_at_once(5, 1);
  processed.expect_full(1);
  processed.worker.flush();
  EXPECT_EQ(processed.done, (std::vector<int>{0, 5, 1}));
}

TEST(Worker, DropsWhatWaits) {
  Held held(Counts::UntilTaken);
  held.worker.push(1, 2);
  held.worker.drop();
  held.worker.push(2, 2);
  held.released.set_value();
  held.worker.finish();
  EXPECT_EQ(held.done, (std::vector<int>{0, 2}));
}

TEST(Worker, ReportsAFailureAtEachLaterCall) {
  std::vector<int> done;
  Worker<int> worker(1, Counts::UntilProcessed, [&](int& item) {
    if (item == 3) throw std::runtime_error("the fourth item");
    done.push_back(item);
  });
  EXPECT_THROW(for (int i = 0; i < 1000; ++i) worker.push(i, 1), std::runtime_error);
  EXPECT_THROW(worker.push_at_once(1, 0), std::runtime_error);
  EXPECT_THROW(worker.flush(), std::runtime_error);
  EXPECT_THROW(worker.finish(), std::runtime_error);
  EXPECT_EQ(done, (std::vector<int>{0, 1, 2}));
}

}  // namespace
}  // namespace tinyot::system
