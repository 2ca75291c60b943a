#include "material/background_sink.h"

#include <utility>

namespace tinyot::material {

BackgroundSink::BackgroundSink(Sink& sink)
    : worker_(kWaitingBytesMax, system::Worker<Step>::Counts::UntilProcessed,
              [&sink](Step& step) { run(sink, step); }) {}

void BackgroundSink::pour(Batch batch) {
  const std::uint64_t bytes = bytes_of(batch);
  worker_.push({StepKind::Pour, std::move(batch)}, bytes);
}

void BackgroundSink::add_reference_bits(Batch bits) {
  const std::uint64_t bytes = bytes_of(bits);
  worker_.push({StepKind::AddReferenceBits, std::move(bits)}, bytes);
}

// Nothing of the next unit is queued until this one is finished.
void BackgroundSink::finish_unit() {
  worker_.push_at_once({StepKind::FinishUnit}, kWaitingBytesMax);
}

void BackgroundSink::run(Sink& sink, Step& step) {
  switch (step.kind) {
    case StepKind::Pour:
      return sink.pour(std::move(step.batch));
    case StepKind::AddReferenceBits:
      return sink.add_reference_bits(std::move(step.batch));
    case StepKind::FinishUnit:
      return sink.finish_unit();
  }
}

}  // namespace tinyot::material
