// A circuit of the caller's that is known to do the same each time: each generation is compared
// with the first one, of which there is a record, and no gate goes further before its block has
// been compared. Its events are in canonical order.
#pragma once

#include <memory>
#include <string>

#include "circuitgen/gate_record.h"
#include "tinyot/circuit/gate.h"
#include "tinyot/error.h"

namespace tinyot::circuit {

// For a circuit that is not the same each time.
UsageError not_the_same(const std::string& circuit);

class CheckedCircuit final : public Circuit {
 public:
  CheckedCircuit(std::shared_ptr<const Circuit> circuit, GateRecord record);

  const CircuitInfo& info() const override { return info_; }
  // Fails: not_the_same() if the gates or outputs differ from the first time; then the sink has
  // received only gates that do not. Else as the circuit.
  void generate(GateSink& sink) const override;

 private:
  std::shared_ptr<const Circuit> circuit_;
  CircuitInfo info_;
  GateRecord record_;
};

}  // namespace tinyot::circuit
