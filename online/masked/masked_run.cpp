#include "online/masked/masked_run.h"

#include <string>
#include <utility>

#include "base/error.h"
#include "online/masked/masked_steps.h"
#include "online/masked/plan_cache.h"
#include "online/runtime.h"

namespace tinyot::online {
namespace {

void require_kept(std::uint64_t count, std::uint64_t most, const std::string& name) {
  if (count > most)
    throw UsageError("a masked run has at most " + std::to_string(most) + " " + name +
                     ", as they stay in memory; this one has " + std::to_string(count) +
                     ": take another online phase, or fewer lanes");
}

}  // namespace

void require_masked_size(const RunSize& size) {
  require_kept(size.products, kMaskedAndsMax, "ANDs in all lanes");
  require_kept(size.local_gates, kMaskedLocalGatesMax, "XORs, NOTs and groups");
}

MaskedRun::MaskedRun(checks::Session& session, material::Source& source,
                     const MaterialCounts& wanted, circuit::CircuitRounds& rounds,
                     const SharedValues& shared, std::size_t atoms_max)
    : session_(session), rounds_(rounds), info_(rounds.circuit().info()), shared_(shared),
      lanes_(rounds.lanes()), atoms_max_(atoms_max), material_(source, wanted) {
  check_shared_inputs(info_, {WireForm::MacShare}, lanes_.count(), shared);
}

void MaskedRun::sweep() {
  const net::PhaseLog::Scope phase(session_.log(), session_.channel(), "masks", lanes_.count());
  PlanCache& cache = PlanCache::of_process();
  const bool has_usual_plan = atoms_max_ == MaskPlanner::kAtomsMax;
  sweep_.emplace(session_, material_, info_, lanes_, shared_,
                 has_usual_plan ? cache.plan(rounds_.layered()) : nullptr, atoms_max_);
  session_.log().add({.name = "masks", .cpu_s = rounds_.run(*sweep_)});
  if (has_usual_plan && rounds_.layered()) cache.keep(rounds_.layered(), sweep_->plan());
}

void MaskedRun::prepare() {
  sweep();
  sweep_->receive_all();
  (void)checks::settle_transcripts(session_);
  is_prepared_ = true;
}

Evaluation MaskedRun::finish(const BundleValues& inputs, const RunProgress& progress,
                             const std::function<void()>& agree) {
  ENSURE(!std::exchange(is_finished_, true));
  check_inputs(session_.me(), info_, lanes_.count(), inputs);
  if (!is_prepared_) {
    agree();
    sweep();
  }
  MaskedSteps::FirstFlights flights{{}, agree, [] {}};
  if (!is_prepared_)
    flights = {sweep_->opened_bits(), [this] { sweep_->receive_wires(); },
               [this] { sweep_->receive_all(); }};
  MaskedSteps steps(session_, info_, lanes_, sweep_->rounds(), inputs, std::move(flights));
  Runtime runtime(session_, steps, WireForm::MacShare, info_, lanes_.count(), inputs, shared_,
                  progress);
  {
    const net::PhaseLog::Scope phase(session_.log(), session_.channel(), "gates", lanes_.count());
    for (circuit::Round& round : sweep_->gates()) {
      runtime.round(round);
      round = {};
    }
    runtime.finish_blocks();
  }
  const net::PhaseLog::Scope phase(session_.log(), session_.channel(), "outputs", lanes_.count());
  Evaluation result = runtime.reveal_outputs(material_);
  result.half_round_trips = steps.count_half_round_trips();
  return result;
}

}  // namespace tinyot::online
