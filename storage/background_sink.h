// Pours into another sink from a thread of its own, so that the next unit is made while the last
// one is written and synced.
//
// A unit that is finished here is finished there a little later, before anything of the next one is
// taken; flush() waits for it. Whoever is told of a failure is told late, by the next call: nothing
// of the unit that failed then counts, nor of later ones.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "base/material.h"

namespace tinyot::storage {

class BackgroundSink final : public MaterialSink {
 public:
  // While more bytes than this wait, or a finished unit does, whoever pours waits too.
  static constexpr std::uint64_t kWaitingBytesMax = std::uint64_t{64} << 20;

  // Nobody else uses `sink` while this object lives.
  explicit BackgroundSink(MaterialSink& sink);
  // Writes what waits, unless something has failed.
  ~BackgroundSink() override;

  void pour(MaterialBatch batch) override;
  void keep(MaterialBatch bits) override;
  void finish_unit() override;
  // Returns when everything is in the sink. Fails: as the sink has.
  void flush();

  // Seconds that the sink has taken so far, of the clock and of the processor.
  struct Cost {
    double wall_s = 0;
    double cpu_s = 0;
  };
  Cost cost();

 private:
  enum class What { Pour, Keep, FinishUnit };
  struct Step {
    What what;
    MaterialBatch batch = {};
  };

  void add(Step step);
  void take(Step step);
  void work();
  void rethrow_failure();

  MaterialSink& sink_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Step> steps_;
  std::uint64_t waiting_bytes_ = 0;
  std::size_t waiting_units_ = 0;  // finished ones
  bool busy_ = false, ends_ = false;
  Cost cost_;
  std::exception_ptr failure_;
  std::thread thread_;  // last: it uses all the others
};

}  // namespace tinyot::storage
