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
  std::vector<net::Parameter> compared;  // the digests of public values
};
RunInputs run_inputs(const circuit::CircuitInfo& info, Party party, std::size_t lanes,
                     const Values& values);

struct RunShared {
  online::SharedValues values;
  std::vector<std::shared_ptr<const online::SharedValue>> owners;
  std::vector<net::Parameter> compared;  // their origins
};
// `connection` is what the origins of its shared values begin with.
RunShared run_shared(const circuit::CircuitInfo& info, std::size_t lanes,
                     const SharedInputs& shared, const std::string& connection);

}  // namespace tinyot::engine
