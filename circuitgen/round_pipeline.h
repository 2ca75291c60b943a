// Evaluation of rounds on a thread of its own while later ones are being layered.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "circuitgen/layering.h"
#include "system/worker.h"

namespace tinyot::circuit {

// Passes rounds to `sink` in order, on its own thread; up to `gates_ahead` gates wait, or one round
// if it is larger. Small rounds go over in batches, whose memory comes back. If the sink throws, a
// later call of round(), or finish(), throws the same.
class RoundPipeline final : public RoundSink {
 public:
  RoundPipeline(RoundSink& sink, std::size_t gates_ahead);
  // Waits for a batch in progress and drops those that wait.
  ~RoundPipeline() override { worker_.drop(); }

  void round(Round& round) override;
  // Waits until the sink has processed every round. Returns the CPU time of its thread in seconds.
  double finish();

 private:
  struct Batch {
    std::vector<Round> rounds;  // those that are used, and then spare ones
    std::size_t used = 0;
  };
  void push();
  void release(Batch batch);

  const std::size_t batch_gates_;
  Batch batch_;  // to be pushed
  std::size_t gates_ = 0;
  std::mutex mutex_;
  std::vector<Batch> spare_;
  system::Worker<Batch> worker_;  // last: its thread uses all other members
};

}  // namespace tinyot::circuit
