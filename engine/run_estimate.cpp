#include "engine/run_estimate.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "circuitgen/layering.h"
#include "engine/top_up.h"
#include "engine/two_party_harness.h"
#include "engine/window_choice.h"
#include "system/temporary_directory.h"
#include "tinyot/preprocess.h"
#include "tinyot/run.h"

namespace tinyot::engine {
namespace {

// ANDs of a measured run: about as many as are made in a second.
constexpr std::uint64_t kSampleTriples = std::uint64_t{1} << 19,
                        kSamplePairs = std::uint64_t{1} << 15;
constexpr std::size_t kSampleRuns = 3;
constexpr std::uint64_t kSampleWidthMax = 65536, kSampleDepthMax = 4096;

struct Counters final : circuit::RoundSink {
  void round(circuit::Round& round) override {
    for (online::RunCostCounter* counter : of) counter->round(round);
  }
  std::vector<online::RunCostCounter*> of;
};

// Two ANDs of each result of the round before. Returns the number of slots.
std::uint32_t set_ands(std::uint64_t count, circuit::Slot first,
                       std::vector<circuit::RoundAnd>& ands) {
  ands.clear();
  for (std::uint64_t i = 0; i < count; ++i) {
    const circuit::Slot slot = first | static_cast<circuit::Slot>(i / 2);
    ands.push_back({.out = slot, .in0 = slot, .in1 = slot});
  }
  return static_cast<std::uint32_t>((count + 1) / 2);
}

// A circuit, on its lanes, whose run is small enough to be measured.
LoadedCircuit sample_of(const LoadedCircuit& circuit, const RunEstimate& estimate,
                        AndMaterial form) {
  const std::uint64_t most = form == AndMaterial::AandAot ? kSamplePairs : kSampleTriples;
  const circuit::CircuitCost& cost = circuit.cost();
  std::size_t lanes = circuit.lanes();
  const auto ands_on = [&](std::size_t count) {
    return online::ands_for(*estimate.phase, cost, count);
  };
  while (lanes > 1 && ands_on(lanes) > most) lanes /= 2;
  if (ands_on(lanes) <= most) return circuit.on_lanes(lanes);
  const std::uint64_t rounds = std::max<std::uint64_t>(estimate.cost.and_rounds, 1),
                      width = std::clamp<std::uint64_t>(ands_on(1) / rounds, 1,
                                                        std::min(kSampleWidthMax, most));
  lanes = std::clamp<std::size_t>(most / width, 1, circuit.lanes());
  const std::uint64_t depth =
      std::clamp<std::uint64_t>(most / (width * lanes), 1, std::min(rounds, kSampleDepthMax));
  auto random = LoadedCircuit::generated(
      "random:width=" + std::to_string(width) + ",depth=" + std::to_string(depth), lanes);
  ENSURE(random);
  return std::move(*random);
}

const offline::ProfileEntry& fastest_for(AndMaterial form) {
  const offline::ProfileEntry* fastest = nullptr;
  for (const offline::ProfileEntry* entry : offline::profiles())
    if (std::ranges::find(entry->materials, form) != entry->materials.end() &&
        (fastest == nullptr || entry->speed > fastest->speed))
      fastest = entry;
  ENSURE(fastest != nullptr);
  return *fastest;
}

// Material for the sample's runs, made in the fastest way there is.
PreprocessRequest material_request(const LoadedCircuit& sample, AndMaterial form) {
  const offline::ProfileEntry& profile = fastest_for(form);
  PreprocessRequest request;
  request.parameters.profile = profile.profile;
  request.parameters.own = profile.fastest;
  request.parameters.material = form;
  const Demand demand = demand_of_runs(sample, form, kSampleRuns);
  request.ands = demand.ands;
  request.inputs = demand.inputs;
  return request;
}

// Of those phases on the material that `is_wanted` returns true for.
std::vector<RunEstimate> estimate_layered(
    const LoadedCircuit& circuit, AndMaterial form, std::optional<std::uint64_t> window,
    std::chrono::nanoseconds round_trip,
    const std::function<bool(const online::OnlinePhaseEntry&)>& is_wanted,
    const PreparationBy& preparation_by) {
  auto phases = online::phases_on(form, {});
  std::erase_if(phases, [&](const online::OnlinePhaseEntry* phase) { return !is_wanted(*phase); });
  if (phases.empty()) return {};
  circuit::CircuitRounds rounds =
      circuit.rounds(window ? *window : fastest_window(circuit, *phases.front(), form, round_trip));
  return estimate_runs(circuit, rounds, phases, form, preparation_by);
}

Values zeros(const LoadedCircuit& circuit, Party me) {
  Values values;
  for (const circuit::InputBundle& bundle : circuit.info().inputs)
    if (gives(bundle.source, me))
      values.set(bundle.name,
                 LaneMatrix(bundle.same_in_all_lanes ? 1 : circuit.lanes(), bundle.bits));
  return values;
}

}  // namespace

MaterialCounts material_of_run(const LoadedCircuit& circuit, const circuit::CircuitCost* cost,
                               std::uint64_t ands, AndMaterial form) {
  MaterialCounts counts;
  for (const online::OnlinePhaseEntry* phase : online::phases_on(form, {})) {
    const std::uint64_t of_phase =
        cost != nullptr ? online::ands_for(*phase, *cost, circuit.lanes()) : ands;
    counts.raise_to(phase->material_for(circuit.info(), of_phase, form, circuit.lanes(), {}));
  }
  return counts;
}

MaterialCounts material_of_run(const LoadedCircuit& circuit, std::uint64_t ands, AndMaterial form) {
  return material_of_run(circuit, circuit.known_cost(), ands, form);
}

Demand demand_of_runs(const LoadedCircuit& circuit, AndMaterial form, std::uint64_t runs) {
  const Demand of_run = demand_for(material_of_run(circuit, &circuit.cost(), 0, form), form);
  return {std::max<std::uint64_t>(runs * of_run.ands, 1), runs * of_run.inputs};
}

double RunEstimate::link_s(const net::LinkShape& link) const {
  const double latency_s = std::chrono::duration<double>(link.rtt).count() / 2;
  const auto bytes = static_cast<double>(std::ranges::max(cost.bytes_sent));
  return static_cast<double>(std::ranges::max(cost.half_round_trips)) * latency_s +
         (link.bits_per_s > 0 ? 8 * bytes / link.bits_per_s : 0);
}

std::vector<RunEstimate> estimate_runs(const LoadedCircuit& circuit, circuit::CircuitRounds& rounds,
                                       std::span<const online::OnlinePhaseEntry* const> phases,
                                       AndMaterial form, const PreparationBy& preparation_by) {
  std::vector<std::unique_ptr<online::RunCostCounter>> counters(phases.size());
  for (const circuit::GroupsAs groups :
       {circuit::GroupsAs::Gates, circuit::GroupsAs::Polynomials}) {
    std::optional<circuit::CircuitRounds> others;
    Counters of_way;
    for (std::size_t i = 0; i < phases.size(); ++i) {
      if (circuit.layered_as(phases[i]->groups) != groups) continue;
      if (groups != rounds.groups() && !others)
        others.emplace(circuit.rounds(rounds.window(), groups));
      counters[i] =
          phases[i]->count_cost(circuit.info(), circuit.lanes(), form, preparation_by(*phases[i]),
                                (others ? *others : rounds).layered());
      of_way.of.push_back(counters[i].get());
    }
    if (!of_way.of.empty()) (others ? *others : rounds).visit(of_way);
  }
  std::vector<RunEstimate> estimates;
  for (std::size_t i = 0; i < phases.size(); ++i)
    estimates.push_back(
        {phases[i], rounds.window(), counters[i]->finish(), preparation_by(*phases[i])});
  return estimates;
}

RunEstimate estimate_from_depth(const LoadedCircuit& circuit, std::size_t window,
                                const online::OnlinePhaseEntry& phase, AndMaterial form,
                                const std::optional<online::Preparation>& preparation) {
  const circuit::CircuitCost& cost = circuit.cost();
  const bool is_by_gates = phase.groups == circuit::GroupsAs::Gates;
  const std::uint64_t ands = is_by_gates ? cost.ands : cost.products,
                      invariant = is_by_gates ? cost.invariant_ands : cost.invariant_products,
                      depth = is_by_gates ? cost.and_depth : cost.product_depth,
                      rounds = std::max({depth, ands / window, std::uint64_t{1}});
  const auto counter =
      phase.count_cost(circuit.info(), circuit.lanes(), form, preparation, nullptr);
  circuit::Round round;
  for (std::uint32_t bundle = 0; bundle < circuit.info().inputs.size(); ++bundle)
    for (std::uint32_t bit = 0; bit < circuit.info().inputs[bundle].bits; ++bit)
      round.inputs.push_back({bundle, bit, {}});
  for (std::uint64_t at = 0; at < rounds; ++at) {
    const auto part = [&](std::uint64_t of) { return of * (at + 1) / rounds - of * at / rounds; };
    round.invariant_slots = set_ands(part(invariant), circuit::kInvariantBit, round.invariant_ands);
    round.slots = set_ands(part(ands - invariant), 0, round.ands);
    counter->round(round);
    round.inputs.clear();
  }
  return {&phase, window, counter->finish(), preparation};
}

std::vector<RunEstimate> estimate_runs(const LoadedCircuit& circuit, AndMaterial form,
                                       std::optional<std::uint64_t> window,
                                       std::chrono::nanoseconds round_trip) {
  const online::RunSize size = online::size_of_run(circuit.info(), circuit.cost(), circuit.lanes());
  return estimate_layered(
      circuit, form, window, round_trip,
      [&](const online::OnlinePhaseEntry& phase) { return can_run(phase, size); }, not_prepared);
}

std::vector<RunEstimate> estimate_prepared_runs(const LoadedCircuit& circuit, AndMaterial form,
                                                std::optional<std::uint64_t> window,
                                                std::chrono::nanoseconds round_trip,
                                                std::uint32_t sigma) {
  const online::RunSize size = online::size_of_run(circuit.info(), circuit.cost(), circuit.lanes());
  const auto preparation_by =
      [&](const online::OnlinePhaseEntry& phase) -> std::optional<online::Preparation> {
    if (!can_run(phase, size)) return std::nullopt;
    try {
      return phase.preparation_for(size, sigma, {});
    } catch (const UsageError&) {
      return std::nullopt;
    }
  };
  return estimate_layered(
      circuit, form, window, round_trip,
      [&](const online::OnlinePhaseEntry& phase) { return preparation_by(phase).has_value(); },
      preparation_by);
}

RunComputation measure_computation(const LoadedCircuit& circuit, const RunEstimate& estimate,
                                   AndMaterial form, const net::TcpTimeouts& timeouts) {
  const LoadedCircuit sample = sample_of(circuit, estimate, form);
  const system::TemporaryDirectory dir;
  preprocess_as_both(material_request(sample, form), dir.path(), timeouts);
  std::vector<RunResult> runs;
  for (std::size_t i = 0; i < kSampleRuns; ++i)
    runs.push_back(slower_of(as_both_parties(timeouts, [&](Party party, const Endpoint& endpoint) {
      const RunRequest request{.party = party,
                               .endpoint = endpoint,
                               .stores = {store_in(dir.path(), party)},
                               .phase = estimate.phase->phase};
      return run(request, sample.circuit(), zeros(sample, party), sample.lanes());
    })));
  std::ranges::sort(runs, {}, &RunResult::wall_s);
  const RunResult& median = runs[kSampleRuns / 2];
  const double scale = static_cast<double>(estimate.cost.ands) /
                       static_cast<double>(std::max<std::uint64_t>(
                           online::ands_for(*estimate.phase, sample.cost(), sample.lanes()), 1));
  return {scale * median.blocks_s,
          scale * std::max(0.0, median.wall_s - median.blocks_s - median.wire_wait_s)};
}

double estimated_s(const RunEstimate& estimate, const RunComputation& computation,
                   const net::LinkShape& link) {
  return computation.between_s + std::max(computation.while_waiting_s, estimate.link_s(link));
}

}  // namespace tinyot::engine
