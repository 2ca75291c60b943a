// What `tinyot report` measures: command lines of `tinyot bench`, each belonging to an experiment,
// from which the figures are drawn.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/command_line.h"

namespace tinyot::tools {

struct Measurement {
  std::string experiment;
  Arguments bench;  // after `tinyot bench`
  double seconds;   // that it takes, roughly: for the progress
};

// The whole command line.
std::string command_of(const Measurement& measurement);

enum class Extent { Quick, Full };

// With `weak`, also buckets that miss every sigma.
std::vector<Measurement> measurements(Extent extent, bool weak);

}  // namespace tinyot::tools
