// Evaluation of rounds on a thread of its own while later ones are being layered.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "circuitgen/layering.h"

namespace tinyot::circuit {

// Passes rounds to `sink` in order, on its own thread; up to `gates_ahead` gates wait, or one round
// if it is larger. If the sink throws, the next call of round() or finish() throws the same.
class RoundPipeline final : public RoundSink {
 public:
  RoundPipeline(RoundSink& sink, std::size_t gates_ahead);
  // Waits for a round in progress and drops those that wait.
  ~RoundPipeline() override;
  RoundPipeline(const RoundPipeline&) = delete;
  RoundPipeline& operator=(const RoundPipeline&) = delete;

  void round(Round& round) override;
  // Waits until the sink has processed every round. Returns the CPU time of its thread in seconds.
  double finish();

 private:
  void work();
  void end();

  RoundSink& sink_;
  const std::size_t gates_ahead_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Round> waiting_;
  std::size_t gates_waiting_ = 0;
  bool finished_ = false;  // no further round
  bool dropped_ = false;   // nor those that wait
  std::exception_ptr failure_;
  double cpu_s_ = 0;
  std::thread thread_;
};

}  // namespace tinyot::circuit
