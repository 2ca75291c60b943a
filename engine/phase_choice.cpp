#include "engine/phase_choice.h"

#include <algorithm>
#include <limits>
#include <string>

#include "base/error.h"
#include "net/rate.h"

namespace tinyot {
namespace engine {
namespace {

constexpr net::MessageTag kOnline = net::message_tag("run.online");
constexpr std::string_view kParameter = "online phase";
constexpr double kAssumedBitsPerS = 1e9;

// A wrong choice that costs less is not worth a measurement.
constexpr double kSmallLoss_s = 0.005;

// In place of a phase: B sends for a measurement.
constexpr std::uint64_t kAsksForRate = 0;

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
  const auto phases = eligible();
  ENSURE(phases.size() == 1);
  return *phases.front();
}

std::vector<const online::OnlinePhaseEntry*> PhaseChoice::eligible() const {
  if (are_inputs_later_ || possible_.size() == 1) return possible_;
  auto phases = possible_;
  std::erase_if(phases, [](const online::OnlinePhaseEntry* phase) {
    return phase->is_chosen_to_prepare_alone;
  });
  return phases;
}

void PhaseChoice::set(const online::OnlinePhaseEntry& phase, PhaseChosenBy chosen_by) {
  possible_ = {&phase};
  chosen_by_ = chosen_by;
}

net::Parameter PhaseChoice::parameter() const {
  const bool is_free = possible_.size() > 1;
  return {.name = std::string(kParameter),
          .value = is_free ? "auto" : std::string(phase().name),
          .is_open = is_free};
}

void PhaseChoice::accept(const checks::Agreement& agreement) {
  const auto agreed = std::ranges::find(agreement.parameters, kParameter, &net::Parameter::name);
  if (possible_.size() == 1 || agreed == agreement.parameters.end() || agreed->is_open) return;
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
  // With a window of fewer gates there are more rounds than a phase that waits for each would take,
  // as it chooses a larger one.
  if (cost->gates() <= std::min<std::uint64_t>(LoadedCircuit::kSmallGates, rounds.window())) {
    estimates_ = estimate_runs(circuit, rounds, eligible(), form_, preparation_by);
    return;
  }
  for (const online::OnlinePhaseEntry* phase : eligible())
    estimates_.push_back(
        estimate_from_depth(circuit, rounds.window(), *phase, form_, preparation_by(*phase)));
}

const online::OnlinePhaseEntry& PhaseChoice::follow(net::Channel& channel) const {
  auto told = net::recv_object<std::uint64_t>(channel, kOnline);
  if (told == kAsksForRate) {
    net::send_for_rate(channel);
    told = net::recv_object<std::uint64_t>(channel, kOnline);
  }
  const auto phases = eligible();
  const auto found = std::ranges::find(
      phases, told, [](const online::OnlinePhaseEntry* phase) { return number_of(*phase); });
  if (found == phases.end())
    throw PeerCheated("framing: message run.online names no phase that is possible");
  return **found;
}

const online::OnlinePhaseEntry& PhaseChoice::fastest(net::Channel& channel, net::LinkShape& link,
                                                     const CanHave& can_have) const {
  std::vector<const RunEstimate*> estimates;
  for (const RunEstimate& each : estimates_)
    if (can_have(*each.phase)) estimates.push_back(&each);
  // If there is material for none, the reservation fails.
  if (estimates.empty()) return *possible_.front();
  const auto time_at = [&](const RunEstimate* each, double bits_per_s) {
    return expected_s(*each, lanes_, {link.rtt, bits_per_s});
  };
  const auto fastest_at = [&](double bits_per_s) {
    return *std::ranges::min_element(
        estimates, {}, [&](const RunEstimate* each) { return time_at(each, bits_per_s); });
  };
  // What the choice at one extreme costs at the other one.
  const RunEstimate* const slow = fastest_at(net::kRateLeast);
  const RunEstimate* const fast = fastest_at(net::kRateMost);
  const double loss_s = std::max(time_at(fast, net::kRateLeast) - time_at(slow, net::kRateLeast),
                                 time_at(slow, net::kRateMost) - time_at(fast, net::kRateMost));
  const double measuring_s =
      std::max(kSmallLoss_s, 2 * std::chrono::duration<double>(link.rtt).count());
  if (link.bits_per_s == 0 && loss_s > measuring_s) {
    net::send_object(channel, kOnline, kAsksForRate);
    link.bits_per_s = net::measure_rate(channel);
  }
  return *fastest_at(link.bits_per_s)->phase;
}

void PhaseChoice::choose(net::Channel& channel, Party me, net::LinkShape& link,
                         const CanHave& can_have) {
  possible_ = eligible();
  if (!is_open()) return;
  if (me == Party::B) return set(follow(channel), PhaseChosenBy::Peer);
  set(fastest(channel, link, can_have), PhaseChosenBy::Estimate);
  for (const RunEstimate& each : estimates_)
    expected_s_[each.phase->phase] = expected_s(each, lanes_, link);
  net::send_object(channel, kOnline, number_of(phase()));
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
