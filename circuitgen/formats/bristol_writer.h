// Writes a circuit as a file in the Bristol Fashion format.
//
// The inputs are the first wires, bundle by bundle, whether they are read or not. Each gate writes
// the next wire. An EQW, which costs nothing, copies each output to its place among the last wires.
// The format has no names, sources or receivers of bundles, and no bundles that are the same in all
// lanes: write_description() (file_description.h) adds them. A bundle without bits is omitted.
#pragma once

#include <ostream>

#include "tinyot/circuit/gate.h"

namespace tinyot::circuit {

// Generates the circuit twice, since the header has the number of gates. Memory: O(live wires).
// Fails: as generate(); std::logic_error by ENSURE on a malformed stream, or if the second stream
// differs. Failures of `out` are reported in its state.
void write_bristol_fashion(const Circuit& circuit, std::ostream& out);

}  // namespace tinyot::circuit
