// A netlist as Yosys writes it with write_json: the cells between the ports of one module.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tinyot::circuit {

using Json = nlohmann::ordered_json;

using Net = std::uint32_t;  // 0 and 1 are the constants; an undefined bit is 0
inline constexpr Net kFirstNet = 2;
using Nets = std::vector<Net>;  // lowest bit first

struct Cell {
  std::string name, type;
  std::string source;                             // file and lines in the design; may be empty
  std::map<std::string, std::string> parameters;  // in binary, highest bit first; or text
  std::map<std::string, Nets> inputs, outputs;    // by port

  // A number, of at most 64 bits. Fails: UsageError if there is none.
  std::uint64_t number(const std::string& parameter) const;
  // Fails: UsageError if there is none.
  const std::string& text(const std::string& parameter) const;
  const Nets& input(const std::string& port) const;
};

// Throws a UsageError that names the cell and its place.
[[noreturn]] void refuse(const Cell& cell, const std::string& reason);

struct DesignPort {
  std::string name;
  bool is_input = false;
  Nets nets;
  std::map<std::string, std::string> attributes;
  bool is_signed = false;
};

struct Netlist {
  std::string name;  // of the module
  std::vector<DesignPort> ports;
  std::vector<Cell> cells;  // each after the cells whose outputs it reads
  Net nets = kFirstNet;     // all are smaller
};

// The module `top`, with its cells sorted. `file` is named instead of kDesignFile, as which Yosys
// knows the design. Fails: UsageError naming the cell or port if the design keeps state, has a
// tristate output, a bidirectional port, a loop, or a cell without a function that is known
// (cells.h). What Yosys has written is not trusted to be a netlist.
Netlist read_netlist(const Json& design, const std::string& top, const std::string& file);
inline constexpr const char* kDesignFile = "design.v";

}  // namespace tinyot::circuit
