// The JSON report of a failed command: {"error": {class, phase, message, remedy}}, without the
// phase or remedy if there is none.
#pragma once

#include "tools/cli/failure.h"
#include "tools/cli/render/report.h"

namespace tinyot::tools {

Json failure_report(const Failure& failure);
// In text, the message on stderr is all there is.
void print_failure(const Failure& failure);
bool is_failure_report(const Json& report);

}  // namespace tinyot::tools
