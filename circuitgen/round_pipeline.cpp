#include "circuitgen/round_pipeline.h"

#include <utility>

namespace tinyot::circuit {
namespace {

std::size_t gates_of(const Round& round) {
  return round.inputs.size() + round.common_local.size() + round.local.size() +
         round.outputs.size() + round.common_ands.size() + round.ands.size();
}

}  // namespace

RoundPipeline::RoundPipeline(RoundSink& sink, std::size_t gates_ahead)
    : worker_(gates_ahead, system::Worker<Round>::Counts::UntilTaken,
              [&sink](Round& round) { sink.round(round); }) {}

void RoundPipeline::round(Round& round) {
  const std::size_t gates = gates_of(round);
  worker_.push(std::move(round), gates);
}

double RoundPipeline::finish() {
  worker_.finish();
  return worker_.cost().cpu_s;
}

}  // namespace tinyot::circuit
