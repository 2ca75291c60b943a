#include "circuitgen/circuit_rounds.h"

#include <utility>

#include "base/error.h"
#include "circuitgen/round_pipeline.h"

namespace tinyot::circuit {
namespace {

class KeptRounds final : public RoundSink {
 public:
  explicit KeptRounds(std::vector<Round>& rounds) : rounds_(rounds) {}
  void round(Round& round) override { rounds_.push_back(std::move(round)); }

 private:
  std::vector<Round>& rounds_;
};

class ObservedRounds final : public RoundSink {
 public:
  ObservedRounds(RoundSink& observer, RoundSink& sink) : observer_(observer), sink_(sink) {}
  void round(Round& round) override {
    observer_.round(round);
    sink_.round(round);
  }

 private:
  RoundSink &observer_, &sink_;
};

}  // namespace

CircuitRounds::CircuitRounds(const Circuit& circuit, std::uint64_t gates, std::size_t lanes,
                             std::size_t window)
    : circuit_(circuit), lanes_(lanes), window_(window), prepared_(gates <= kPreparedMax) {
  if (!prepared_) return;
  KeptRounds kept(rounds_);
  generate_rounds(circuit, lanes, window, kept);
  // The bounds of the last round are those of all: the sink makes room once.
  for (Round& round : rounds_) {
    gates_ += round.gates();
    round.slots = rounds_.back().slots;
    round.invariant_slots = rounds_.back().invariant_slots;
  }
}

void CircuitRounds::visit(RoundSink& sink) const {
  ENSURE(!has_run_);
  if (!prepared_) {
    generate_rounds(circuit_, lanes_, window_, sink);
    return;
  }
  for (Round& round : rounds_) sink.round(round);
}

double CircuitRounds::run(RoundSink& given) {
  ENSURE(!std::exchange(has_run_, true));
  ObservedRounds observed(observer_ != nullptr ? *observer_ : given, given);
  RoundSink& sink = observer_ != nullptr ? static_cast<RoundSink&>(observed) : given;
  if (!prepared_) {
    RoundPipeline pipeline(sink, window_);
    generate_rounds(circuit_, lanes_, window_, pipeline);
    return pipeline.finish();
  }
  for (Round& round : rounds_) sink.round(round);
  rounds_.clear();
  return 0;
}

}  // namespace tinyot::circuit
