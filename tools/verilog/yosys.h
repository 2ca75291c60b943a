// Synthesis of a Verilog design by Yosys, which runs as a process.
#pragma once

#include <string>
#include <vector>

#include "tools/report.h"

namespace tinyot::tools {

// What the synthesis minimises.
enum class Goal { Ands, Depth };

// One way to synthesise a design, and its netlist as write_json writes it.
struct Synthesis {
  std::string name;
  Json design;
};

// The module `top` of the file, synthesised in each of the ways that may serve the goal. Warnings
// of Yosys are logged, unless `quiet`. Fails: UsageError with the errors of Yosys, which name file
// and line; if Yosys is not installed; for a path that it would not take literally.
std::vector<Synthesis> synthesise(const std::string& file, const std::string& top, Goal goal,
                                  bool quiet);

}  // namespace tinyot::tools
