#include "circuitgen/round_pipeline.h"

#include <utility>

#include "base/cpu_time.h"

namespace tinyot::circuit {
namespace {

std::size_t gates_of(const Round& round) {
  return round.inputs.size() + round.common_local.size() + round.local.size() +
         round.outputs.size() + round.common_ands.size() + round.ands.size();
}

}  // namespace

RoundPipeline::RoundPipeline(RoundSink& sink, std::size_t gates_ahead)
    : sink_(sink), gates_ahead_(gates_ahead), thread_([this] { work(); }) {}

RoundPipeline::~RoundPipeline() {
  {
    const std::lock_guard lock(mutex_);
    dropped_ = true;
  }
  end();
}

void RoundPipeline::round(Round& round) {
  const std::size_t gates = gates_of(round);
  std::unique_lock lock(mutex_);
  changed_.wait(
      lock, [&] { return failure_ || waiting_.empty() || gates_waiting_ + gates <= gates_ahead_; });
  if (failure_) std::rethrow_exception(failure_);
  waiting_.push_back(std::move(round));
  gates_waiting_ += gates;
  lock.unlock();
  changed_.notify_all();
}

double RoundPipeline::finish() {
  end();
  if (failure_) std::rethrow_exception(failure_);
  return cpu_s_;
}

void RoundPipeline::end() {
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void RoundPipeline::work() {
  try {
    for (std::unique_lock lock(mutex_);;) {
      changed_.wait(lock, [&] { return finished_ || !waiting_.empty(); });
      if (dropped_ || waiting_.empty()) break;
      Round round = std::move(waiting_.front());
      waiting_.pop_front();
      gates_waiting_ -= gates_of(round);
      lock.unlock();
      changed_.notify_all();
      sink_.round(round);
      lock.lock();
    }
    cpu_s_ = thread_cpu_seconds();
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
  }
  changed_.notify_all();
}

}  // namespace tinyot::circuit
