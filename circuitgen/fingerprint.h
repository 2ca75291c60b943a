// The canonical encoding of a circuit, which its fingerprint is the hash of (engine hashes it), and
// what else the first generation of a circuit finds out.
//
// Two circuits have the same encoding if and only if they have the same interface and, in the same
// order, the same gates with the same operands; or if they are the same built-in circuit in the
// same revision. The name of a circuit, the numbers of wires, copies, the places of inputs,
// constants and outputs in the stream, and the format of a file are not part of it. Numbers are
// LEB128, texts have their length before them:
//
//   interface   the number of inputs; of each its name, bits, source ("A", "B", "shared" or
//               "public"), format ("bytes", "integer" or "msb-integer") and "lanes" or "common";
//               the number of outputs; of each its name, bits, receivers ("A", "B", "both" or
//               "none") and format
//   body        of a built-in circuit "built-in", its name with all parameters, and the revision of
//               its generator; of any other "gates", each gate and bracket, 0, and the reference of
//               each output bit
//   gate        4 r + 1 (XOR), 2 (AND) or 3 (NOT), where r is the reference of the first operand
//               (canonical_stream.h); then the reference of the second
//   bracket     of a group's begin 4; of its end 8, the number of results, and their references
//
// No encoding is the beginning of another one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "circuitgen/cost.h"
#include "circuitgen/gate_record.h"
#include "tinyot/circuit/gate.h"

namespace tinyot::circuit {

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void add(std::span<const std::byte> bytes) = 0;
};

void encode_interface(const CircuitInfo& info, ByteSink& out);

// The body of a built-in circuit; `name` has all parameters.
void encode_built_in(const std::string& name, std::uint64_t revision, ByteSink& out);

struct FirstGeneration {
  CircuitCost cost;
  GateRecord record;
};

// Generates the circuit, and encodes the body of a circuit that is not built in. Memory: O(live
// wires + outputs). Fails: as generate(); std::logic_error by ENSURE on a malformed stream.
FirstGeneration encode_gates(const Circuit& circuit, ByteSink& out);

}  // namespace tinyot::circuit
