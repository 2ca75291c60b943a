#include "online/garbled/garbled_phase.h"

#include <utility>

#include "online/garbled/garbled_cost.h"
#include "online/garbled/garbled_run.h"
#include "online/interactive/runtime.h"

namespace tinyot::online {
namespace {

class GarbledEvaluation final : public OnlineEvaluation {
 public:
  explicit GarbledEvaluation(OnlineSetting setting) : setting_(std::move(setting)) {}

  void prepare() override {}
  Evaluation finish(const OnlineInputs& inputs) override {
    return run_garbled(setting_.session, setting_.source, setting_.wanted, setting_.rounds,
                       inputs.values, inputs.shared, setting_.progress);
  }

 private:
  OnlineSetting setting_;
};

}  // namespace

constinit const OnlinePhaseEntry kGarbledPhase = {
    .phase = OnlinePhase::Garbled,
    .name = "garbled",
    .runs_on = [](AndMaterial form) { return form == AndMaterial::Garbling; },
    .material_for = [](const circuit::CircuitInfo& info, std::uint64_t ands, AndMaterial,
                       std::size_t lanes) { return garbled_material_for(info, ands, lanes); },
    .window_for = window_for,
    .make = [](OnlineSetting setting) -> std::unique_ptr<OnlineEvaluation> {
      return std::make_unique<GarbledEvaluation>(std::move(setting));
    },
    .count_cost = [](const circuit::CircuitInfo& info, std::size_t lanes,
                     AndMaterial) { return count_garbled_cost(info, lanes); },
    .and_s = [](std::size_t lanes) { return lanes < kWideLanes ? 0.3e-6 : 0.12e-6; },
};

}  // namespace tinyot::online
