#include "circuitgen/round_pipeline.h"

#include <algorithm>
#include <utility>

namespace tinyot::circuit {
namespace {

// As many pass through the queue in little time, and are a small part of a window.
constexpr std::size_t kBatchGates = 4096;

}  // namespace

RoundPipeline::RoundPipeline(RoundSink& sink, std::size_t gates_ahead)
    : batch_gates_(std::clamp<std::size_t>(gates_ahead / 8, 1, kBatchGates)),
      worker_(gates_ahead, system::Worker<Batch>::Counts::UntilTaken, [&](Batch& batch) {
        for (std::size_t i = 0; i < batch.used; ++i) sink.round(batch.rounds[i]);
        release(std::move(batch));
      }) {}

void RoundPipeline::round(Round& round) {
  gates_ += round.gates();
  if (batch_.used == batch_.rounds.size()) batch_.rounds.emplace_back();
  std::swap(batch_.rounds[batch_.used++], round);
  if (gates_ >= batch_gates_) push();
}

void RoundPipeline::push() {
  Batch next;
  {
    const std::lock_guard lock(mutex_);
    if (!spare_.empty()) {
      next = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  worker_.push(std::exchange(batch_, std::move(next)), std::exchange(gates_, 0));
}

void RoundPipeline::release(Batch batch) {
  batch.used = 0;
  for (Round& round : batch.rounds)
    if (!round.is_reusable()) round = {};
  const std::lock_guard lock(mutex_);
  spare_.push_back(std::move(batch));
}

double RoundPipeline::finish() {
  if (batch_.used > 0) push();
  worker_.finish();
  return worker_.cost().cpu_s;
}

}  // namespace tinyot::circuit
