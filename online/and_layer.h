// A layer of ANDs over all lanes: gathers the operands from the wires, and has them multiplied by the kind of material there is.
#pragma once

#include <span>

#include "base/material.h"
#include "base/parameters.h"
#include "checks/session.h"
#include "circuitgen/layering.h"
#include "online/wires.h"

namespace tinyot {

// Role: both, symmetric. Evaluates one round's ANDs over all lanes.
// Wire, Fails: as ands_from_pairs or ands_from_triples.
void evaluate_and_layer(Session& session, MaterialSource& source, MaterialForm form, std::span<const RoundAnd> ands, Wires& wires);

}  // namespace tinyot
