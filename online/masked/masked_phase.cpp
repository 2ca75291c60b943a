#include "online/masked/masked_phase.h"

#include <memory>
#include <utility>

#include "base/error.h"
#include "online/folded_triples.h"
#include "online/masked/masked_cost.h"
#include "online/masked/masked_run.h"
#include "online/runtime.h"

namespace tinyot::online {
namespace {

class MaskedEvaluation final : public OnlineEvaluation {
 public:
  explicit MaskedEvaluation(OnlineSetting setting)
      : setting_(std::move(setting)), folded_(setting_),
        run_(setting_.session, folded_.source(), setting_.wanted, setting_.rounds,
             setting_.shared) {}

  void prepare() override {
    if (setting_.preparation) run_.prepare();
  }

 private:
  Evaluation evaluate(const BundleValues& inputs, const std::function<void()>& agree) override {
    return run_.finish(inputs, setting_.progress, agree);
  }

  OnlineSetting setting_;
  FoldedTriples folded_;
  MaskedRun run_;
};

// The triple of each product and what has been opened with it, the masks of groups, aBits of
// inputs, the layers of the circuit and their plan, and what does not depend on the size.
std::uint64_t kept_bytes(const RunSize& size) {
  return 49 * size.products + 17 * size.group_parts + 48 * size.value_bits + 96 * size.gates +
         (256 << 10);
}

double and_s(std::size_t lanes, const std::optional<Preparation>& preparation) {
  if (preparation) return lanes < kWideLanes ? 0.1e-6 : 0.018e-6;
  return lanes < kWideLanes ? 0.3e-6 : 0.06e-6;
}

}  // namespace

constinit const OnlinePhaseEntry kMaskedPhase = {
    .phase = OnlinePhase::Masked,
    .name = "masked",
    .runs_on =
        [](AndMaterial form) {
          return form == AndMaterial::Triples || form == AndMaterial::Garbling;
        },
    .is_chosen_to_prepare_alone = true,
    .groups = circuit::GroupsAs::Polynomials,
    .material_for = [](const circuit::CircuitInfo& info, std::uint64_t ands, AndMaterial form,
                       std::size_t lanes,
                       const SharedValues&) { return material_for(info, ands, form, lanes); },
    .require_size = require_masked_size,
    .preparation_for =
        [](const RunSize&, std::uint32_t sigma, std::optional<RowCheck> wanted) {
          if (wanted)
            throw UsageError("a row check is of garbled rows, and the masked phase has none");
          return Preparation{.row_check = {}, .sigma = sigma};
        },
    .kept_bytes = kept_bytes,
    .windows_for = windows_for,
    .make = [](OnlineSetting setting) -> std::unique_ptr<OnlineEvaluation> {
      return std::make_unique<MaskedEvaluation>(std::move(setting));
    },
    .count_cost =
        [](const circuit::CircuitInfo& info, std::size_t lanes, AndMaterial,
           const std::optional<Preparation>& preparation,
           const std::shared_ptr<const circuit::LayeredCircuit>& layered) {
          return count_masked_cost(info, lanes, preparation.has_value(), layered);
        },
    .and_s = and_s,
};

}  // namespace tinyot::online
