#include "online/online_phase.h"

#include <string>

#include "base/error.h"

namespace tinyot::online {

RunSize size_of_run(const circuit::CircuitInfo& info, const circuit::CircuitCost& cost,
                    std::size_t lanes) {
  RunSize size{.ands = cost.ands_of(lanes),
               .products = cost.products_of(lanes),
               .group_parts = cost.group_parts * lanes,
               .gates = cost.gates(),
               .local_gates = cost.xors + cost.nots + cost.groups};
  for (const circuit::InputBundle& bundle : info.inputs)
    size.value_bits += std::uint64_t{bundle.bits} * (bundle.same_in_all_lanes ? 1 : lanes);
  for (const circuit::OutputBundle& bundle : info.outputs)
    size.value_bits += std::uint64_t{bundle.bits} * lanes;
  return size;
}

std::uint64_t ands_for(const OnlinePhaseEntry& phase, const circuit::CircuitCost& cost,
                       std::size_t lanes) {
  return phase.groups == circuit::GroupsAs::Polynomials ? cost.products_of(lanes)
                                                        : cost.ands_of(lanes);
}

bool can_run(const OnlinePhaseEntry& phase, const RunSize& size) {
  try {
    if (phase.require_size != nullptr) phase.require_size(size);
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

std::vector<const OnlinePhaseEntry*> phases_on(AndMaterial form,
                                               std::optional<OnlinePhase> wanted) {
  std::vector<const OnlinePhaseEntry*> phases;
  for (const OnlinePhaseEntry* entry : online_phases())
    if ((!wanted || entry->phase == *wanted) && entry->runs_on(form)) phases.push_back(entry);
  if (phases.empty())
    throw UsageError((wanted ? "the " + std::string(name_of(*wanted)) + " phase does not run on "
                             : "no online phase runs on ") +
                     std::string(name_of(form)));
  return phases;
}

}  // namespace tinyot::online

namespace tinyot {

std::string_view name_of(OnlinePhase phase) {
  for (const online::OnlinePhaseEntry* entry : online::online_phases())
    if (entry->phase == phase) return entry->name;
  throw UsageError("there is no online phase " + std::to_string(static_cast<int>(phase)));
}

std::optional<OnlinePhase> requested_phase(std::string_view name) {
  if (name == "auto") return std::nullopt;
  std::string names = "auto";
  for (const online::OnlinePhaseEntry* entry : online::online_phases()) {
    if (entry->name == name) return entry->phase;
    names += " or " + std::string(entry->name);
  }
  throw UsageError("there is no online phase '" + std::string(name) + "'; it is " + names);
}

std::string_view name_of(RowCheck check) { return check == RowCheck::Early ? "early" : "batched"; }

}  // namespace tinyot
