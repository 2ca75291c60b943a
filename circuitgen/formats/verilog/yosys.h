// Synthesis of a Verilog design by Yosys, which runs as a confined process.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "circuitgen/formats/verilog/netlist.h"
#include "system/confinement.h"

namespace tinyot::circuit {

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
system::Confinement confined_yosys();

// Takes what Yosys warns of.
using Warn = std::function<void(const std::string& text)>;

// The module `top`, synthesised in each of the ways that may serve the goal. Fails: UsageError with
// the errors of Yosys, which name file and line, or with the limit that has ended it; if `top` is
// not a name.
std::vector<Synthesis> synthesise(const system::Confinement& yosys, const Design& design, Goal goal,
                                  const system::Limits& limits, const Warn& warn = {});

}  // namespace tinyot::circuit
