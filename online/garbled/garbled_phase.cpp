#include "online/garbled/garbled_phase.h"

#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "online/garbled/garbled_cost.h"
#include "online/garbled/garbled_run.h"
#include "online/garbled/prepared_cost.h"
#include "online/garbled/prepared_run.h"
#include "online/runtime.h"

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
    const auto cost = count_garbled_cost(setting_.rounds.circuit().info(), setting_.rounds.lanes());
    setting_.rounds.observe(*cost);
    Evaluation result = run_garbled(setting_.session, setting_.source, setting_.wanted,
                                    setting_.rounds, inputs, setting_.shared, setting_.progress);
    result.half_round_trips = cost->finish().half_round_trips;
    return result;
  }

  OnlineSetting setting_;
  std::optional<PreparedRun> prepared_;
};

void require_kept(std::uint64_t count, std::uint64_t most, const std::string& name,
                  const std::string& why) {
  if (count > most)
    throw UsageError("a garbled run whose inputs come later has at most " + std::to_string(most) +
                     " " + name + ", as " + why + " in memory; this one has " +
                     std::to_string(count));
}

Preparation preparation_for(const RunSize& size, std::uint32_t sigma,
                            std::optional<RowCheck> wanted) {
  constexpr std::uint32_t kEarlySigmaMax = 112;  // rho is below the bits of a block
  require_kept(size.ands, kPreparedAndsMax, "ANDs", "its rows stay");
  require_kept(size.local_gates, kPreparedLocalGatesMax, "XORs and NOTs", "its gates stay");
  require_kept(size.value_bits, kPreparedValueBitsMax, "bits of inputs and outputs in all lanes",
               "their labels and masks stay");
  if (wanted == RowCheck::Early && sigma > kEarlySigmaMax)
    throw UsageError("early rows reach at most sigma = " + std::to_string(kEarlySigmaMax) +
                     ", and the material has sigma = " + std::to_string(sigma) +
                     ": take the batched row check");
  return {
      .row_check = wanted.value_or(sigma > kEarlySigmaMax ? RowCheck::Batched : RowCheck::Early),
      .sigma = sigma};
}

// Rows and masks of each AND at the party that has more of them, labels and masks of a bit of an
// input or an output, the layers of the circuit, and what does not depend on its size.
std::uint64_t kept_bytes(const RunSize& size) {
  return 160 * size.ands + 48 * size.value_bits + 48 * size.gates + (256 << 10);
}

// Messages are those of chunks, whatever the rounds, and a small window stays in a core's cache:
// one lane of SHA-256 takes 16 % less than with 2^20 gates.
std::vector<std::size_t> garbled_windows_for(std::size_t lanes) {
  constexpr std::size_t kMost = std::size_t{1} << 16;
  return {std::min(window_for(lanes), kMost)};
}

// On one lane between 0.3 us, of wide layers, and 0.7 us, of SHA-256.
double and_s(std::size_t lanes, const std::optional<Preparation>& preparation) {
  if (preparation) return preparation->row_check == RowCheck::Early ? 0.1e-6 : 0.06e-6;
  return lanes < kWideLanes ? 0.5e-6 : 0.12e-6;
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
    .kept_bytes = kept_bytes,
    .windows_for = garbled_windows_for,
    .make = [](OnlineSetting setting) -> std::unique_ptr<OnlineEvaluation> {
      return std::make_unique<GarbledEvaluation>(std::move(setting));
    },
    .count_cost =
        [](const circuit::CircuitInfo& info, std::size_t lanes, AndMaterial,
           const std::optional<Preparation>& preparation,
           const std::shared_ptr<const circuit::LayeredCircuit>&) {
          return preparation ? count_prepared_cost(info, lanes, row_macs_of(*preparation))
                             : count_garbled_cost(info, lanes);
        },
    .and_s = and_s,
};

}  // namespace tinyot::online
