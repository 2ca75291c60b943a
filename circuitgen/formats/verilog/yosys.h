// Synthesis of a Verilog design by Yosys, which runs as a confined process.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/render/report.h"
#include "circuitgen/formats/verilog/confinement.h"

namespace tinyot::tools {

// What the synthesis minimises.
enum class Goal { Ands, Depth };

// One way to synthesise a design, and its netlist as write_json writes it.
struct Synthesis {
  std::string name;
  Json design;
};

struct Design {
  std::string file;  // its name, for messages
  std::string text;  // see design_text
  std::string top;
};

// Yosys as it is found on PATH. Fails: UsageError if it is not.
Confinement confined_yosys();

// The module `top`, synthesised in each of the ways that may serve the goal. Warnings of Yosys are
// logged, unless `quiet`. Fails: UsageError with the errors of Yosys, which name file and line, or
// with the limit that has ended it; if `top` is not a name.
std::vector<Synthesis> synthesise(const Confinement& yosys, const Design& design, Goal goal,
                                  const system::Limits& limits, bool quiet);

}  // namespace tinyot::tools
