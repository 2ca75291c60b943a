#include "engine/phase_choice.h"

#include <algorithm>
#include <limits>
#include <string>

#include "base/error.h"

namespace tinyot {
namespace engine {
namespace {

constexpr net::MessageTag kOnline = net::message_tag("run.online");
constexpr std::string_view kParameter = "online phase";
constexpr double kAssumedBitsPerS = 1e9;

// As A names a phase to B.
std::uint64_t number_of(const online::OnlinePhaseEntry& phase) {
  return static_cast<std::uint64_t>(phase.phase) + 1;
}

}  // namespace

double expected_s(const RunEstimate& estimate, std::size_t lanes, const net::LinkShape& link) {
  const online::RunCost& cost = estimate.cost;
  const double half_s = std::chrono::duration<double>(link.rtt).count() / 2,
               bits_per_s = link.bits_per_s > 0 ? link.bits_per_s : kAssumedBitsPerS,
               computing_s = static_cast<double>(cost.ands) *
                             estimate.phase->and_s(lanes, estimate.preparation),
               sending_s = 8 * static_cast<double>(std::ranges::max(cost.bytes_sent)) / bits_per_s;
  return static_cast<double>(std::ranges::max(cost.half_round_trips)) * half_s +
         std::max(computing_s, sending_s);
}

PhaseChoice::PhaseChoice(AndMaterial form, std::optional<OnlinePhase> requested)
    : form_(form), possible_(online::phases_on(form, requested)),
      chosen_by_(requested ? PhaseChosenBy::Request : PhaseChosenBy::Material) {}

const online::OnlinePhaseEntry& PhaseChoice::phase() const {
  ENSURE(!is_open());
  return *possible_.front();
}

void PhaseChoice::set(const online::OnlinePhaseEntry& phase, PhaseChosenBy chosen_by) {
  possible_ = {&phase};
  chosen_by_ = chosen_by;
}

net::Parameter PhaseChoice::parameter() const {
  return {.name = std::string(kParameter),
          .value = is_open() ? "auto" : std::string(phase().name),
          .is_open = is_open()};
}

void PhaseChoice::accept(const checks::Agreement& agreement) {
  const auto agreed = std::ranges::find(agreement.parameters, kParameter, &net::Parameter::name);
  if (!is_open() || agreed == agreement.parameters.end() || agreed->is_open) return;
  const auto found = std::ranges::find(possible_, agreed->value, &online::OnlinePhaseEntry::name);
  if (found == possible_.end())
    throw Disagreement(
        "the peer asks for an online phase that this party does not have on its material; run the "
        "same release on both sides");
  set(**found, PhaseChosenBy::Peer);
}

void PhaseChoice::estimate(const LoadedCircuit& circuit, circuit::CircuitRounds& rounds,
                           const PreparationBy& preparation_by) {
  const circuit::CircuitCost* const cost = circuit.known_cost();
  if (!is_open() || cost == nullptr) return;
  lanes_ = circuit.lanes();
  if (cost->gates() <= LoadedCircuit::kSmallGates) {
    estimates_ = estimate_runs(rounds, possible_, form_, preparation_by);
    return;
  }
  for (const online::OnlinePhaseEntry* phase : possible_)
    estimates_.push_back(
        estimate_from_depth(circuit, rounds.window(), *phase, form_, preparation_by(*phase)));
}

void PhaseChoice::choose(net::Channel& channel, Party me, std::chrono::nanoseconds round_trip,
                         const CanHave& can_have) {
  if (!is_open()) return;
  if (me == Party::B) {
    const auto told = net::recv_object<std::uint64_t>(channel, kOnline);
    const auto found = std::ranges::find(
        possible_, told, [](const online::OnlinePhaseEntry* phase) { return number_of(*phase); });
    if (found == possible_.end())
      throw PeerCheated("framing: message run.online names no phase that is possible");
    set(**found, PhaseChosenBy::Peer);
    return;
  }
  // If there is material for none, the reservation fails.
  const online::OnlinePhaseEntry* fastest = possible_.front();
  double least_s = std::numeric_limits<double>::infinity();
  for (const RunEstimate& each : estimates_) {
    const double time_s = expected_s_[each.phase->phase] =
        expected_s(each, lanes_, {round_trip, 0});
    if (time_s >= least_s || !can_have(*each.phase)) continue;
    least_s = time_s;
    fastest = each.phase;
  }
  set(*fastest, PhaseChosenBy::Estimate);
  net::send_object(channel, kOnline, number_of(*fastest));
}

void PhaseChoice::describe(RunResult& result) const {
  result.phase = phase().phase;
  result.phase_chosen_by = chosen_by_;
  result.expected_s = expected_s_;
}

}  // namespace engine

std::string_view name_of(PhaseChosenBy chosen_by) {
  switch (chosen_by) {
    case PhaseChosenBy::Request:
      return "request";
    case PhaseChosenBy::Peer:
      return "peer";
    case PhaseChosenBy::Material:
      return "material";
    case PhaseChosenBy::Estimate:
      return "estimate";
  }
  throw UsageError("there is no such reason for a phase");
}

}  // namespace tinyot
