// Evaluation of rounds on a thread of its own while later ones are being layered.
#pragma once

#include <cstddef>

#include "circuitgen/layering.h"
#include "system/worker.h"

namespace tinyot::circuit {

// Passes rounds to `sink` in order, on its own thread; up to `gates_ahead` gates wait, or one round
// if it is larger. If the sink throws, the next call of round() or finish() throws the same.
class RoundPipeline final : public RoundSink {
 public:
  RoundPipeline(RoundSink& sink, std::size_t gates_ahead);
  // Waits for a round in progress and drops those that wait.
  ~RoundPipeline() override { worker_.drop(); }

  void round(Round& round) override;
  // Waits until the sink has processed every round. Returns the CPU time of its thread in seconds.
  double finish();

 private:
  system::Worker<Round> worker_;
};

}  // namespace tinyot::circuit
