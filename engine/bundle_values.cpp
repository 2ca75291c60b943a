#include "engine/bundle_values.h"

#include <algorithm>

#include "base/error.h"
#include "base/suggestion.h"
#include "engine/loaded_circuit.h"

namespace tinyot::engine {

LaneMatrix bundle_values(const circuit::InputBundle& bundle, std::size_t lanes,
                         const Values& values) {
  const std::size_t count = bundle.same_in_all_lanes ? 1 : lanes;
  if (values.lanes(bundle.name) != count)
    throw UsageError("input " + bundle.name + " has " + std::to_string(values.lanes(bundle.name)) +
                     " values instead of " + std::to_string(count));
  const LaneMatrix& given = values.at(bundle.name);
  if (given.bits() == bundle.bits) return given;
  LaneMatrix result(count, bundle.bits);
  for (std::size_t lane = 0; lane < count; ++lane)
    if (!result.assign(lane, given[lane].bytes()))
      throw UsageError("a value of input " + bundle.name + " has more than " +
                       std::to_string(bundle.bits) + " bits");
  return result;
}

void check_lanes(std::size_t lanes) {
  if (lanes < 1 || lanes > LoadedCircuit::kLanesMax)
    throw UsageError("lanes are out of range: 1 to 2^24");
}

void check_names(const circuit::CircuitInfo& info, const Values& values) {
  std::vector<std::string> known;
  std::string listed;
  for (const circuit::InputBundle& bundle : info.inputs) {
    known.push_back(bundle.name);
    listed += (listed.empty() ? "" : ", ") + bundle.name;
  }
  for (const std::string& name : values.names())
    if (std::ranges::find(known, name) == known.end())
      throw UsageError("the circuit has no input " + name + did_you_mean(name, known) +
                       "; it has " + listed);
}

online::BundleValues input_values(const circuit::CircuitInfo& info, Party party, std::size_t lanes,
                                  const Values& values) {
  check_lanes(lanes);
  check_names(info, values);  // before one is missing whose name has been mistyped
  online::BundleValues result(info.inputs.size());
  for (std::size_t b = 0; b < info.inputs.size(); ++b) {
    const circuit::InputBundle& bundle = info.inputs[b];
    const bool gives_it = gives(bundle.source, party), is_given = values.contains(bundle.name);
    if (gives_it && !is_given) throw UsageError("input " + bundle.name + " is missing");
    if (!gives_it && is_given)
      throw UsageError(
          "input " + bundle.name +
          (owner_of(bundle.source) ? " belongs to the peer" : " takes a shared value"));
    if (gives_it) result[b] = bundle_values(bundle, lanes, values);
  }
  return result;
}

Values output_values(const circuit::CircuitInfo& info, online::BundleValues outputs) {
  Values values;
  for (std::size_t b = 0; b < info.outputs.size(); ++b)
    if (outputs[b]) values.set(info.outputs[b].name, std::move(*outputs[b]));
  return values;
}

}  // namespace tinyot::engine
