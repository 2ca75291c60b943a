// The circuit of the recorded sessions, and its gates as text.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/support/layers.h"
#include "tinyot/circuit/gate.h"

namespace tinyot::test {

// Inputs of A, of B, of B for all lanes, and of both; three layers of ANDs, one of them for all
// lanes, with a group of three factors; outputs to A, to B and to both.
std::unique_ptr<circuit::Circuit> vector_circuit();

// A line for each gate, in the order of the stream.
std::vector<std::string> gates_as_text(const circuit::Circuit& circuit);

}  // namespace tinyot::test
