// The inputs of a run as the online phase takes them, and what the parties compare of them.
//
// Fails: UsageError naming the bundle, for values that are missing, superfluous or of the wrong
// shape.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "net/handshake.h"
#include "online/values.h"
#include "tinyot/circuit/gate.h"
#include "tinyot/run.h"

namespace tinyot::engine {

struct RunInputs {
  online::BundleValues values;
  online::SharedValues shared;
  std::vector<std::shared_ptr<const online::SharedValue>> owners;  // of the shared values
  // The digests of public values and the origins of shared ones.
  std::vector<net::Parameter> compared;
};

// `connection` is what the origins of its shared values begin with.
RunInputs run_inputs(const circuit::CircuitInfo& info, Party party, std::size_t lanes,
                     const Values& values, const SharedInputs& shared = {},
                     const std::string& connection = {});

}  // namespace tinyot::engine
