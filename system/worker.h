// A queue with a worker: items are processed in order, on a thread of its own, while further ones
// are added.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "system/clock.h"

namespace tinyot::system {

// Of a worker's thread, in seconds: the time for which it has processed items, and its CPU time.
struct WorkerCost {
  double wall_s = 0, cpu_s = 0;
};

template <class Item>
class Worker {
 public:
  // An item counts with its weight from push() until it is...
  enum class Counts {
    UntilTaken,      // taken out of the queue
    UntilProcessed,  // processed
  };

  // `process` is called on the worker's thread; it may throw, and nothing is processed after that.
  Worker(std::uint64_t weight_max, Counts counts, std::function<void(Item&)> process)
      : weight_max_(weight_max), counts_(counts), process_(std::move(process)),
        thread_([this] { work(); }) {}
  // Processes what is queued, unless an item has failed or drop() was called.
  ~Worker() { end(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Waits until there is room: until the items that count weigh no more than weight_max with this
  // one, or there are none. Fails: with the failure of an earlier item.
  void push(Item item, std::uint64_t weight) {
    std::unique_lock lock(mutex_);
    advanced_.wait(lock,
                   [&] { return failure_ || weight_ == 0 || weight_ + weight <= weight_max_; });
    add(std::move(item), weight, std::move(lock));
  }
  // Adds an item without waiting, of any weight. Fails: as push().
  void push_at_once(Item item, std::uint64_t weight) {
    add(std::move(item), weight, std::unique_lock(mutex_));
  }

  // Waits until all items have been processed. Fails: with the failure of one of them.
  void flush() {
    std::unique_lock lock(mutex_);
    advanced_.wait(lock, [&] { return failure_ || (queue_.empty() && !is_processing_); });
    rethrow_failure();
  }

  // Forgets the items that wait.
  void drop() {
    const std::lock_guard lock(mutex_);
    for (const Entry& entry : queue_) weight_ -= entry.weight;
    queue_.clear();
    advanced_.notify_all();
  }

  // Waits as flush(), and ends the thread: nothing is pushed after that.
  void finish() {
    end();
    rethrow_failure();
  }

  WorkerCost cost() {
    const std::lock_guard lock(mutex_);
    if (!has_ended_) cost_.cpu_s = cpu_seconds_of(thread_.native_handle());
    return cost_;
  }

 private:
  struct Entry {
    Item item;
    std::uint64_t weight;
  };

  // The thread that is woken finds the mutex free.
  void add(Item item, std::uint64_t weight, std::unique_lock<std::mutex> lock) {
    rethrow_failure();
    queue_.push_back({std::move(item), weight});
    weight_ += weight;
    lock.unlock();
    added_.notify_one();
  }

  void end() {
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
    }
    added_.notify_one();
    if (thread_.joinable()) thread_.join();
  }

  void rethrow_failure() const {
    if (failure_) std::rethrow_exception(failure_);
  }

  void work() {
    std::unique_lock lock(mutex_);
    while (!failure_) {
      added_.wait(lock, [&] { return is_ending_ || !queue_.empty(); });
      if (queue_.empty()) break;
      Entry entry = std::move(queue_.front());
      queue_.pop_front();
      is_processing_ = true;
      if (counts_ == Counts::UntilTaken) weight_ -= entry.weight;
      lock.unlock();
      if (counts_ == Counts::UntilTaken) advanced_.notify_all();
      const auto begin = std::chrono::steady_clock::now();
      std::exception_ptr failure;
      try {
        process_(entry.item);
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      is_processing_ = false;
      cost_.wall_s +=
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      failure_ = failure;
      if (counts_ == Counts::UntilProcessed) weight_ -= entry.weight;
      if (counts_ == Counts::UntilProcessed || queue_.empty() || failure_) advanced_.notify_all();
    }
    cost_.cpu_s = thread_cpu_seconds();
    has_ended_ = true;
  }

  const std::uint64_t weight_max_;
  const Counts counts_;
  const std::function<void(Item&)> process_;
  std::mutex mutex_;
  std::condition_variable added_;     // an item, or the end
  std::condition_variable advanced_;  // the worker
  std::deque<Entry> queue_;
  std::uint64_t weight_ = 0;
  bool is_processing_ = false, is_ending_ = false, has_ended_ = false;
  std::exception_ptr failure_;
  WorkerCost cost_;
  std::thread thread_;  // last: it uses all other members
};

}  // namespace tinyot::system
