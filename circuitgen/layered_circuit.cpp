#include "circuitgen/layered_circuit.h"

#include <utility>

namespace tinyot::circuit {
namespace {

template <class Gate>
std::size_t bytes_of(const std::vector<Gate>& gates) {
  constexpr std::size_t kAllocation = 16;  // beside what is asked for
  return gates.empty() ? 0 : gates.size() * sizeof(Gate) + kAllocation;
}

std::size_t bytes_of(const Round& round) {
  return sizeof round + bytes_of(round.inputs) + bytes_of(round.invariant_local) +
         bytes_of(round.local) + bytes_of(round.outputs) + bytes_of(round.invariant_ands) +
         bytes_of(round.invariant_groups) + bytes_of(round.ands) + bytes_of(round.groups);
}

}  // namespace

void LayeredCircuitMaker::round(Round& round) {
  if (!circuit_) return;
  circuit_->gates += round.gates();
  circuit_->bytes += bytes_of(round);
  if (circuit_->bytes > bytes_max_)
    circuit_.reset();
  else
    circuit_->rounds.push_back(round);
}

std::shared_ptr<const LayeredCircuit> LayeredCircuitMaker::finish() {
  if (circuit_)
    for (Round& round : circuit_->rounds) {
      round.slots = circuit_->rounds.back().slots;
      round.invariant_slots = circuit_->rounds.back().invariant_slots;
    }
  return std::exchange(circuit_, nullptr);
}

}  // namespace tinyot::circuit
