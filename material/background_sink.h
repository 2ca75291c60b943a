// Pours into another sink from a thread of its own, so that the next unit is computed while the
// previous one is written and synced.
//
// finish_unit() may return before the unit is finished in the sink. The sink finishes it before it
// receives anything of the next unit; flush() waits for it. A failure of the sink is reported by
// the next call. Neither the unit that failed nor any later unit counts then.
#pragma once

#include "material/material.h"
#include "system/worker.h"

namespace tinyot::material {

class BackgroundSink final : public Sink {
 public:
  // pour() blocks while more bytes than this are queued, or a finished unit is.
  static constexpr std::uint64_t kWaitingBytesMax = kWaitingBytes;

  // `sink` is used by this object alone during its lifetime.
  explicit BackgroundSink(Sink& sink);

  void pour(Batch batch) override;
  void add_reference_bits(Batch bits) override;
  void finish_unit() override;
  // Returns when everything is in the sink. Fails: with the sink's exception.
  void flush() { worker_.flush(); }

  // Time spent in the sink so far.
  using Cost = system::WorkerCost;
  Cost cost() { return worker_.cost(); }

 private:
  enum class StepKind { Pour, AddReferenceBits, FinishUnit };
  struct Step {
    StepKind kind;
    Batch batch = {};
  };
  static void run(Sink& sink, Step& step);

  system::Worker<Step> worker_;  // writes what is queued when it ends, unless the sink has failed
};

}  // namespace tinyot::material
