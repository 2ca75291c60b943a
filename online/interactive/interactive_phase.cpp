#include "online/interactive/interactive_phase.h"

#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "online/folded_source.h"
#include "online/interactive/interactive_cost.h"
#include "online/interactive/interactive_run.h"

namespace tinyot::online {
namespace {

// Every message depends on an input, so that nothing is sent before they are known.
class InteractiveEvaluation final : public OnlineEvaluation {
 public:
  explicit InteractiveEvaluation(OnlineSetting setting) : setting_(std::move(setting)) {
    if (setting_.form != AndMaterial::Garbling) return;
    folded_.emplace(setting_.source, setting_.session.me(), setting_.session.global_key());
    std::swap(setting_.wanted[MaterialKind::Triples], setting_.wanted[MaterialKind::FullTriples]);
    folded_values_.reserve(setting_.shared.size());
    for (const SharedValue*& value : setting_.shared)
      if (value != nullptr && value->form() == WireForm::HalfShares)
        value = &folded_values_.emplace_back(value->folded());
  }

  void prepare() override {}

 private:
  Evaluation evaluate(const BundleValues& inputs, const std::function<void()>& agree) override {
    agree();
    return run_circuit(setting_.session, folded_ ? *folded_ : setting_.source, setting_.wanted,
                       folded_ ? AndMaterial::Triples : setting_.form, setting_.rounds, inputs,
                       setting_.shared, setting_.progress);
  }

  OnlineSetting setting_;
  // On material for garbling.
  std::optional<FoldedSource> folded_;
  std::vector<SharedValue> folded_values_;
};

}  // namespace

constinit const OnlinePhaseEntry kInteractivePhase = {
    .phase = OnlinePhase::Interactive,
    .name = "interactive",
    .runs_on = [](AndMaterial) { return true; },
    .material_for =
        [](const circuit::CircuitInfo& info, std::uint64_t ands, AndMaterial form,
           std::size_t lanes, const SharedValues&) {
          MaterialCounts counts = material_for(
              info, ands, form == AndMaterial::Garbling ? AndMaterial::Triples : form, lanes);
          if (form == AndMaterial::Garbling)
            std::swap(counts[MaterialKind::Triples], counts[MaterialKind::FullTriples]);
          return counts;
        },
    .preparation_for =
        [](const RunSize&, std::uint32_t sigma, std::optional<RowCheck> wanted) {
          if (wanted)
            throw UsageError("a row check is of garbled rows, and the interactive phase has none");
          return Preparation{.row_check = {}, .sigma = sigma};
        },
    .windows_for = windows_for,
    .make = [](OnlineSetting setting) -> std::unique_ptr<OnlineEvaluation> {
      return std::make_unique<InteractiveEvaluation>(std::move(setting));
    },
    // Nothing is done before the inputs are known.
    .count_cost =
        [](const circuit::CircuitInfo& info, std::size_t lanes, AndMaterial form,
           const std::optional<Preparation>&) { return count_interactive_cost(info, lanes, form); },
    .and_s =
        [](std::size_t lanes, const std::optional<Preparation>&) {
          return lanes < kWideLanes ? 0.15e-6 : 0.03e-6;
        },
};

}  // namespace tinyot::online
