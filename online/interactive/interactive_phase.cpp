#include "online/interactive/interactive_phase.h"

#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "online/folded_triples.h"
#include "online/interactive/interactive_cost.h"
#include "online/interactive/interactive_run.h"
#include "online/runtime.h"

namespace tinyot::online {
namespace {

// Every message depends on an input, so that nothing is sent before they are known.
class InteractiveEvaluation final : public OnlineEvaluation {
 public:
  explicit InteractiveEvaluation(OnlineSetting setting)
      : setting_(std::move(setting)), folded_(setting_),
        cost_(count_interactive_cost(setting_.rounds.circuit().info(), setting_.rounds.lanes(),
                                     setting_.form)) {}

  void prepare() override {}

 private:
  Evaluation evaluate(const BundleValues& inputs, const std::function<void()>& agree) override {
    agree();
    setting_.rounds.observe(*cost_);
    Evaluation result =
        run_circuit(setting_.session, folded_.source(), setting_.wanted, setting_.form,
                    setting_.rounds, inputs, setting_.shared, setting_.progress);
    result.half_round_trips = cost_->finish().half_round_trips;
    return result;
  }

  OnlineSetting setting_;
  FoldedTriples folded_;
  std::unique_ptr<RunCostCounter> cost_;
};

}  // namespace

constinit const OnlinePhaseEntry kInteractivePhase = {
    .phase = OnlinePhase::Interactive,
    .name = "interactive",
    .runs_on = [](AndMaterial) { return true; },
    .material_for = [](const circuit::CircuitInfo& info, std::uint64_t ands, AndMaterial form,
                       std::size_t lanes,
                       const SharedValues&) { return material_for(info, ands, form, lanes); },
    .preparation_for =
        [](const RunSize&, std::uint32_t sigma, std::optional<RowCheck> wanted) {
          if (wanted)
            throw UsageError("a row check is of garbled rows, and the interactive phase has none");
          return Preparation{.row_check = {}, .sigma = sigma};
        },
    .kept_bytes = [](const RunSize&) { return std::uint64_t{0}; },
    .windows_for = windows_for,
    .make = [](OnlineSetting setting) -> std::unique_ptr<OnlineEvaluation> {
      return std::make_unique<InteractiveEvaluation>(std::move(setting));
    },
    // Nothing is done before the inputs are known.
    .count_cost =
        [](const circuit::CircuitInfo& info, std::size_t lanes, AndMaterial form,
           const std::optional<Preparation>&,
           const std::shared_ptr<const circuit::LayeredCircuit>&) {
          return count_interactive_cost(info, lanes, form);
        },
    .and_s =
        [](std::size_t lanes, const std::optional<Preparation>&) {
          return lanes < kWideLanes ? 0.15e-6 : 0.03e-6;
        },
};

}  // namespace tinyot::online
