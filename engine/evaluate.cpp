#include "tinyot/evaluate.h"

#include "base/error.h"
#include "circuitgen/cost.h"
#include "circuitgen/evaluate.h"
#include "engine/bundle_values.h"

namespace tinyot::circuit {

GateCounts count_gates(const Circuit& circuit) {
  const CircuitCost cost = cost_of(circuit);
  return {.ands = cost.ands, .xors = cost.xors, .nots = cost.nots, .and_depth = cost.and_depth};
}

void check_inputs(const Circuit& circuit, Party party, const Values& inputs, std::size_t lanes) {
  (void)engine::input_values(circuit.info(), party, lanes, inputs);
}

Values evaluate(const Circuit& circuit, const Values& inputs, std::size_t lanes) {
  const CircuitInfo& info = circuit.info();
  engine::check_lanes(lanes);
  engine::check_names(info, inputs);
  std::vector<LaneMatrix> values;
  for (const InputBundle& bundle : info.inputs) {
    if (!inputs.contains(bundle.name)) throw UsageError("input " + bundle.name + " is missing");
    values.push_back(engine::bundle_values(info, bundle, lanes, inputs));
  }
  std::vector<LaneMatrix> outputs = evaluate(circuit, lanes, values);
  return engine::output_values(
      info, {std::make_move_iterator(outputs.begin()), std::make_move_iterator(outputs.end())});
}

}  // namespace tinyot::circuit
