#include "engine/run.h"

#include "engine/run_plan.h"

namespace tinyot::engine {

RunPlan::RunPlan(const RunRequest& run_request, const LoadedCircuit& run_circuit)
    : request(run_request), circuit(run_circuit),
      window(run_request.window.value_or(online::window_for(run_circuit.lanes()))) {}

circuit::CircuitRounds RunPlan::rounds() const {
  const auto& known = circuit.known_cost();
  return circuit::CircuitRounds(circuit.circuit(), known ? known->gates() : ~std::uint64_t{0},
                                circuit.lanes(), window);
}

std::vector<net::Parameter> RunPlan::parameters() const {
  return {{"command", request.live ? "live run" : "run"},
          {"the circuit's inputs and outputs (names, widths, owners, receivers, formats)",
           text_of(circuit.interface_fingerprint()), circuit.shown()},
          {"the circuit's gates", text_of(circuit.fingerprint()), circuit.shown()},
          {"lanes", std::to_string(circuit.lanes())},
          {"window", std::to_string(window)}};
}

RunReport run(const RunRequest& request, const LoadedCircuit& circuit,
              const online::BundleValues& inputs, const std::stop_token& cancel) {
  const RunPlan plan(request, circuit);
  RunReport report =
      request.live ? run_live(plan, inputs, cancel) : run_stored(plan, inputs, cancel);
  report.window = plan.window;
  return report;
}

}  // namespace tinyot::engine
