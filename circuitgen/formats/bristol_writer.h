// Any circuit as a file in the Bristol Fashion format.
//
// The inputs are the first wires, bundle by bundle, read or not. A gate writes the next wire, and
// every output is copied to its place among the last wires by an EQW, which costs nothing. Names,
// owners and receivers of bundles and what is the same in all lanes are not in the format and get
// lost. A bundle without bits is left out.
#pragma once

#include <ostream>

#include "circuitgen/gate.h"

namespace tinyot::circuit {

// The circuit is generated twice, since the header says how many gates follow. Memory: O(live
// wires). Fails: what generate() fails with; std::logic_error by ENSURE on a malformed stream, or
// if the second one is another. If `out` fails, its state says so.
void write_bristol_fashion(const Circuit& circuit, std::ostream& out);

}  // namespace tinyot::circuit
