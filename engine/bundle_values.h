// Values by the names of their bundles as the online phase takes and gives them: by bundle.
//
// Fails: UsageError naming the bundle, for values that are missing, superfluous or of the wrong
// shape.
#pragma once

#include "online/values.h"
#include "tinyot/circuit/gate.h"
#include "tinyot/values.h"

namespace tinyot::engine {

// The values of one bundle of a circuit, which satisfy its conditions and have no other sign than
// the circuit reads.
LaneMatrix bundle_values(const circuit::CircuitInfo& info, const circuit::InputBundle& bundle,
                         std::size_t lanes, const Values& values);
// Those of the bundles that this party gives, all of them and no others.
online::BundleValues input_values(const circuit::CircuitInfo& info, Party party, std::size_t lanes,
                                  const Values& values);
Values output_values(const circuit::CircuitInfo& info, online::BundleValues outputs);

void check_lanes(std::size_t lanes);
void check_names(const circuit::CircuitInfo& info, const Values& values);

}  // namespace tinyot::engine
