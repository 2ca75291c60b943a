// Pours into another sink from a thread of its own, so that the next unit is computed while the
// previous one is written and synced.
//
// finish_unit() may return before the unit is finished in the sink. The sink finishes it before it
// receives anything of the next unit; flush() waits for it. A failure of the sink is reported by
// the next call. Neither the unit that failed nor any later unit counts then.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "base/material.h"
#include "storage/record.h"

namespace tinyot::storage {

class BackgroundSink final : public MaterialSink {
 public:
  // pour() blocks while more bytes than this are queued, or a finished unit is.
  static constexpr std::uint64_t kWaitingBytesMax = kWaitingBytes;

  // `sink` is used by this object alone during its lifetime.
  explicit BackgroundSink(MaterialSink& sink);
  // Writes what is queued, unless the sink has failed.
  ~BackgroundSink() override;

  void pour(MaterialBatch batch) override;
  void add_reference_bits(MaterialBatch bits) override;
  void finish_unit() override;
  // Returns when everything is in the sink. Fails: with the sink's exception.
  void flush();

  // Time spent in the sink so far, wall clock and processor, in seconds.
  struct Cost {
    double wall_s = 0;
    double cpu_s = 0;
  };
  Cost cost();

 private:
  enum class StepKind { Pour, AddReferenceBits, FinishUnit };
  struct Step {
    StepKind kind;
    MaterialBatch batch = {};
  };

  void enqueue(Step step);
  void run(Step step);
  void work();
  void rethrow_failure();

  MaterialSink& sink_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Step> steps_;
  std::uint64_t waiting_bytes_ = 0;
  std::size_t waiting_units_ = 0;  // finished ones
  bool busy_ = false, stopping_ = false;
  Cost cost_;
  std::exception_ptr failure_;
  std::thread thread_;  // last: it uses all other members
};

}  // namespace tinyot::storage
