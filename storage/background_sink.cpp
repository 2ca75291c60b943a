#include "storage/background_sink.h"

#include <time.h>

#include <chrono>
#include <utility>

namespace tinyot {
namespace {

double cpu_seconds_of_thread() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

BackgroundSink::BackgroundSink(MaterialSink& sink) : sink_(sink), thread_([this] { work(); }) {}

BackgroundSink::~BackgroundSink() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BackgroundSink::pour(MaterialBatch batch) {
  const std::uint64_t bytes = bytes_of(batch);
  add(std::move(batch), bytes);
}

void BackgroundSink::finish_unit() { add(std::nullopt, 0); }

void BackgroundSink::add(Step step, std::uint64_t bytes) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return failure_ || bytes == 0 || (waiting_bytes_ <= kWaitingBytesMax && waiting_units_ == 0); });
  rethrow_failure();
  waiting_units_ += !step;
  steps_.push_back(std::move(step));
  waiting_bytes_ += bytes;
  changed_.notify_all();
}

void BackgroundSink::flush() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return failure_ || (steps_.empty() && !busy_); });
  rethrow_failure();
}

void BackgroundSink::rethrow_failure() {
  if (failure_) std::rethrow_exception(failure_);
}

BackgroundSink::Cost BackgroundSink::cost() {
  const std::lock_guard lock(mutex_);
  return cost_;
}

void BackgroundSink::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ends_ || !steps_.empty(); });
    if (steps_.empty() || failure_) return;
    Step step = std::move(steps_.front());
    steps_.pop_front();
    busy_ = true;
    lock.unlock();
    const auto begin = std::chrono::steady_clock::now();
    const std::uint64_t bytes = step ? bytes_of(*step) : 0;
    std::exception_ptr failure;
    try {
      if (step)
        sink_.pour(std::move(*step));
      else
        sink_.finish_unit();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    busy_ = false;
    waiting_bytes_ -= bytes;
    waiting_units_ -= !step;
    failure_ = failure;
    cost_.wall_s += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    cost_.cpu_s = cpu_seconds_of_thread();
    changed_.notify_all();
    if (failure_) return;
  }
}

}  // namespace tinyot
