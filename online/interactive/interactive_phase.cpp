#include "online/interactive/interactive_phase.h"

#include <utility>

#include "online/interactive/runtime.h"

namespace tinyot::online {
namespace {

// Every message depends on an input, so that nothing is sent before they are known.
class InteractiveEvaluation final : public OnlineEvaluation {
 public:
  explicit InteractiveEvaluation(OnlineSetting setting) : setting_(std::move(setting)) {}

  void prepare() override {}
  Evaluation finish(const OnlineInputs& inputs) override {
    return run_circuit(setting_.session, setting_.source, setting_.wanted, setting_.form,
                       setting_.rounds, inputs.values, inputs.shared, setting_.progress);
  }

 private:
  OnlineSetting setting_;
};

}  // namespace

constinit const OnlinePhaseEntry kInteractivePhase = {
    .phase = OnlinePhase::Interactive,
    .name = "interactive",
    .runs_on = [](MaterialForm) { return true; },
    .material_for = material_for,
    .window_for = window_for,
    .make = [](OnlineSetting setting) -> std::unique_ptr<OnlineEvaluation> {
      return std::make_unique<InteractiveEvaluation>(std::move(setting));
    },
};

}  // namespace tinyot::online
