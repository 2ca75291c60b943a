// The outputs of a job on their way to its client: each value is copied once, from the job into the
// message.
#pragma once

#include <functional>
#include <vector>

#include "tinyot/circuit/gate.h"
#include "tinyot/v1/party.pb.h"
#include "tinyot/values.h"

namespace tinyot::service {

// Makes the messages of a result, one after the other in `part`, which is wiped before return, and
// calls `write` with each. Returns false once that does.
bool write_outputs(const Values& outputs, const std::vector<circuit::OutputBundle>& bundles,
                   v1::ResultPart& part, const std::function<bool(const v1::ResultPart&)>& write);

}  // namespace tinyot::service
