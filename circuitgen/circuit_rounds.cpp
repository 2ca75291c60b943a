#include "circuitgen/circuit_rounds.h"

#include <limits>
#include <utility>

#include "base/error.h"
#include "circuitgen/round_pipeline.h"

namespace tinyot::circuit {
namespace {

// Passes each round to two sinks, of which the first leaves it as it is.
class BothSinks final : public RoundSink {
 public:
  BothSinks(RoundSink& first, RoundSink& second) : first_(first), second_(second) {}
  void round(Round& round) override {
    first_.round(round);
    second_.round(round);
  }

 private:
  RoundSink &first_, &second_;
};

}  // namespace

CircuitRounds::CircuitRounds(const Circuit& circuit, std::uint64_t gates, std::size_t lanes,
                             std::size_t window, KeptRounds kept, GroupsAs groups)
    : circuit_(circuit), lanes_(lanes), window_(window), groups_(groups), kept_(std::move(kept)) {
  if (kept_.layered || gates > kPreparedMax) return;
  LayeredCircuitMaker maker(std::numeric_limits<std::size_t>::max());
  generate_rounds(circuit, lanes, window, maker, groups);
  kept_.layered = maker.finish();
  if (kept_.keep) kept_.keep(kept_.layered->bytes <= kept_.bytes_max ? kept_.layered : nullptr);
}

// Once without failure, it need not be generated again.
void CircuitRounds::generate(RoundSink& sink) {
  if (kept_.bytes_max == 0) return generate_rounds(circuit_, lanes_, window_, sink, groups_);
  LayeredCircuitMaker maker(kept_.bytes_max);
  BothSinks both(maker, sink);
  generate_rounds(circuit_, lanes_, window_, both, groups_);
  kept_.layered = maker.finish();
  kept_.keep(kept_.layered);
}

// As copies: a sink takes what it may change.
void CircuitRounds::pass(RoundSink& sink) const {
  Round copy;
  for (const Round& round : kept_.layered->rounds) {
    copy = round;
    sink.round(copy);
  }
}

void CircuitRounds::visit(RoundSink& sink) {
  ENSURE(!has_run_);
  if (kept_.layered)
    pass(sink);
  else
    generate(sink);
}

double CircuitRounds::run(RoundSink& given) {
  ENSURE(!std::exchange(has_run_, true));
  BothSinks observed(observer_ != nullptr ? *observer_ : given, given);
  RoundSink& sink = observer_ != nullptr ? static_cast<RoundSink&>(observed) : given;
  if (kept_.layered) {
    pass(sink);
    return 0;
  }
  RoundPipeline pipeline(sink, window_);
  generate(pipeline);
  return pipeline.finish();
}

}  // namespace tinyot::circuit
