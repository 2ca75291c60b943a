#include "storage/background_sink.h"

#include <chrono>
#include <utility>

#include "base/cpu_time.h"

namespace tinyot::storage {

BackgroundSink::BackgroundSink(MaterialSink& sink) : sink_(sink), thread_([this] { work(); }) {}

BackgroundSink::~BackgroundSink() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BackgroundSink::pour(MaterialBatch batch) { enqueue({StepKind::Pour, std::move(batch)}); }

void BackgroundSink::add_reference_bits(MaterialBatch bits) {
  enqueue({StepKind::AddReferenceBits, std::move(bits)});
}

void BackgroundSink::finish_unit() { enqueue({StepKind::FinishUnit}); }

void BackgroundSink::enqueue(Step step) {
  const std::uint64_t bytes = bytes_of(step.batch);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] {
    return failure_ || bytes == 0 || (waiting_bytes_ <= kWaitingBytesMax && waiting_units_ == 0);
  });
  rethrow_failure();
  waiting_units_ += step.kind == StepKind::FinishUnit;
  steps_.push_back(std::move(step));
  waiting_bytes_ += bytes;
  changed_.notify_all();
}

void BackgroundSink::run(Step step) {
  switch (step.kind) {
    case StepKind::Pour:
      return sink_.pour(std::move(step.batch));
    case StepKind::AddReferenceBits:
      return sink_.add_reference_bits(std::move(step.batch));
    case StepKind::FinishUnit:
      return sink_.finish_unit();
  }
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
    changed_.wait(lock, [&] { return stopping_ || !steps_.empty(); });
    if (steps_.empty() || failure_) return;
    Step step = std::move(steps_.front());
    steps_.pop_front();
    busy_ = true;
    lock.unlock();
    const auto begin = std::chrono::steady_clock::now();
    const std::uint64_t bytes = bytes_of(step.batch);
    const bool ends_unit = step.kind == StepKind::FinishUnit;
    std::exception_ptr failure;
    try {
      run(std::move(step));
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    busy_ = false;
    waiting_bytes_ -= bytes;
    waiting_units_ -= ends_unit;
    failure_ = failure;
    cost_.wall_s += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    cost_.cpu_s = thread_cpu_seconds();
    changed_.notify_all();
    if (failure_) return;
  }
}

}  // namespace tinyot::storage
