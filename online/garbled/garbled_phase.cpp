#include "online/garbled/garbled_phase.h"

#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "online/garbled/garbled_cost.h"
#include "online/garbled/garbled_run.h"
#include "online/garbled/prepared_run.h"
#include "online/interactive/runtime.h"

namespace tinyot::online {
namespace {

class GarbledEvaluation final : public OnlineEvaluation {
 public:
  explicit GarbledEvaluation(OnlineSetting setting) : setting_(std::move(setting)) {}

  void prepare() override {
    if (!setting_.preparation) return;
    prepared_.emplace(setting_.session, setting_.source, setting_.wanted, setting_.rounds,
                      setting_.shared, *setting_.preparation);
    prepared_->prepare();
  }

 private:
  Evaluation evaluate(const BundleValues& inputs, const std::function<void()>& agree) override {
    if (prepared_) return prepared_->finish(inputs, setting_.progress, agree);
    agree();
    return run_garbled(setting_.session, setting_.source, setting_.wanted, setting_.rounds, inputs,
                       setting_.shared, setting_.progress);
  }

  OnlineSetting setting_;
  std::optional<PreparedRun> prepared_;
};

Preparation preparation_for(std::uint64_t ands, std::uint32_t sigma,
                            std::optional<RowCheck> wanted) {
  constexpr std::uint32_t kEarlySigmaMax = 112;  // rho is below the bits of a block
  if (ands > kPreparedAndsMax)
    throw UsageError("a garbled run whose inputs come later has at most " +
                     std::to_string(kPreparedAndsMax) + " ANDs, as its rows stay in memory; this " +
                     "one has " + std::to_string(ands));
  if (wanted == RowCheck::Early && sigma > kEarlySigmaMax)
    throw UsageError("early rows reach at most sigma = " + std::to_string(kEarlySigmaMax) +
                     ", and the material has sigma = " + std::to_string(sigma) +
                     ": take the batched row check");
  return {
      .row_check = wanted.value_or(sigma > kEarlySigmaMax ? RowCheck::Batched : RowCheck::Early),
      .sigma = sigma};
}

}  // namespace

constinit const OnlinePhaseEntry kGarbledPhase = {
    .phase = OnlinePhase::Garbled,
    .name = "garbled",
    .runs_on = [](AndMaterial form) { return form == AndMaterial::Garbling; },
    .material_for =
        [](const circuit::CircuitInfo& info, std::uint64_t ands, AndMaterial, std::size_t lanes,
           const SharedValues& shared) { return garbled_material_for(info, ands, lanes, shared); },
    .preparation_for = preparation_for,
    .window_for = window_for,
    .make = [](OnlineSetting setting) -> std::unique_ptr<OnlineEvaluation> {
      return std::make_unique<GarbledEvaluation>(std::move(setting));
    },
    .count_cost = [](const circuit::CircuitInfo& info, std::size_t lanes,
                     AndMaterial) { return count_garbled_cost(info, lanes); },
    .and_s = [](std::size_t lanes) { return lanes < kWideLanes ? 0.3e-6 : 0.12e-6; },
};

}  // namespace tinyot::online
