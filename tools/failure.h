// The end of a command that failed: its message on stderr, its exit status, and its report.
#pragma once

#include <string>

#include "base/error.h"
#include "tools/report.h"

namespace tinyot::tools {

struct Failure {
  ExitStatus status;
  std::string message;
  std::string phase;  // of a network error; else empty
};

// The exception at hand. To be called in a catch block.
Failure current_failure();

// A line on stderr.
void print_failure(const std::string& prefix, const Failure& failure);

// What a command that failed reports as JSON: {"error": {class, phase, message}}, the phase where
// it is known.
Json failure_report(const Failure& failure);
bool is_failure_report(const Json& report);

}  // namespace tinyot::tools
