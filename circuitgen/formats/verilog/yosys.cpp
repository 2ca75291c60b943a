#include "circuitgen/formats/verilog/yosys.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "circuitgen/formats/verilog/cells.h"
#include "circuitgen/formats/verilog/netlist.h"

namespace tinyot::circuit {
namespace {

// Commands that come after the design is flat; each way starts from the same state, saved as
// "words". -ARITHMETIC and the like leave the cells of these types out of a selection; named
// selections would keep cells whose type has changed since.
struct Way {
  const char* name;
  bool serves_depth_only;
  const char* commands;
};

// What computes no output is removed: properties, and the cells that versions later than Yosys 0.23
// make for $display and for instances. Single drivers and loops are checked bit by bit, on gates: a
// word may feed its own higher bits.
constexpr const char* kPrepare = R"(
proc
flatten
tribuf
chformal -remove
delete t:$print t:$check t:$scopeinfo
opt_clean
design -push-copy
simplemap
check -assert
design -pop
opt -full
wreduce
peepopt
opt_clean
memory_collect
opt_clean
design -save words
)";

// Not opt among gates and $pmux: opt_muxtree of Yosys 0.23 then changes values. What the other
// passes make of cells that were left is mapped too.
constexpr Way kWays[] = {
    {"direct", false, R"(
techmap t:* -ARITHMETIC -TABLES -SEQUENTIAL
opt_expr
opt_merge
opt_expr
opt_merge
techmap t:* -ARITHMETIC -TABLES -SEQUENTIAL
opt_clean
)"},
    {"logic by ABC", false, R"(
memory_map
opt
techmap t:* -ARITHMETIC -SEQUENTIAL
opt
techmap t:* -ARITHMETIC -SEQUENTIAL
abc -genlib gates.genlib
opt_clean
)"},
    {"parallel prefix", true, R"(
alumacc
maccmap
opt
techmap -map arithmetic.v -map +/techmap.v t:* -TABLES -SEQUENTIAL
opt_expr
opt_merge
opt_expr
opt_merge
techmap -map arithmetic.v -map +/techmap.v t:* -TABLES -SEQUENTIAL
opt_clean
)"},
};

void require_identifier(const std::string& name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const bool is_identifier =
      !name.empty() && is_letter(name[0]) && std::ranges::all_of(name, [&](char c) {
        return is_letter(c) || (c >= '0' && c <= '9') || c == '$';
      });
  if (!is_identifier) throw UsageError("'" + name + "' is not the name of a module");
}

void replace_all(std::string& text, const std::string& word, const std::string& by) {
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + by.size()))
    text.replace(at, word.size(), by);
}

// Each selection of the list is taken from the one before it ("%d").
std::string deselected(const std::string& cells) {
  std::istringstream words(cells);
  std::string text;
  for (std::string word; words >> word;) text += (text.empty() ? "" : " ") + word + " %d";
  return text;
}

std::string script_for(const std::string& top, Goal goal) {
  std::string script = "read_verilog -sv -nodpi " + std::string(kDesignFile) +
                       "\nhierarchy -check -top " + top + kPrepare;
  for (const Way& way : kWays) {
    if (way.serves_depth_only && goal != Goal::Depth) continue;
    script += "design -load words\n";
    std::string commands = way.commands;
    replace_all(commands, "-ARITHMETIC", deselected(kArithmeticCells));
    replace_all(commands, "-TABLES", deselected(kTableCells));
    replace_all(commands, "-SEQUENTIAL", deselected(kSequentialCells));
    script += commands + "write_json -\n";
  }
  return script;
}

std::string limit_text(system::Limit limit, const system::Limits& limits) {
  switch (limit) {
    case system::Limit::Time:
      return "it has not ended within " + std::to_string(limits.time.count()) + " s";
    case system::Limit::Memory:
      return "it needs more memory than " + std::to_string(limits.memory_bytes) + " bytes";
    case system::Limit::Output:
      return "it writes more than " + std::to_string(limits.output_bytes) + " bytes";
    case system::Limit::Processes:
      break;
  }
  return "it starts more than " + std::to_string(limits.processes) + " processes";
}

Remedy remedy_of(system::Limit limit) {
  if (limit == system::Limit::Time) return Remedy::AllowLongerSynthesis;
  return limit == system::Limit::Memory ? Remedy::AllowMoreMemory : Remedy::None;
}

// Throws a UsageError that says why there is no netlist.
void require_success(const system::Outcome& outcome, const std::string& said, const Design& design,
                     const system::Limits& limits) {
  if (!outcome.limit && outcome.status == 0) return;
  std::string reason = "yosys cannot synthesise " + design.file + ":";
  if (outcome.limit)
    throw UsageError(reason + " " + limit_text(*outcome.limit, limits), remedy_of(*outcome.limit));
  if (outcome.status > 128)
    reason += " it ended with " + std::string(::strsignal(outcome.status - 128));
  else if (said.empty())
    reason += " exit status " + std::to_string(outcome.status);
  throw UsageError(reason + (said.empty() ? "" : "\n" + said));
}

}  // namespace

system::Confinement confined_yosys() {
  const auto yosys = system::found_on_path("yosys");
  if (!yosys) throw UsageError("yosys, which reads Verilog, is not installed: apt install yosys");
  return system::Confinement(*yosys, {"-V"});
}

std::vector<Synthesis> synthesise(const system::Confinement& yosys, const Design& design, Goal goal,
                                  const system::Limits& limits, const Warn& warn) {
  require_identifier(design.top);
  system::Outcome outcome = yosys.run({"-q", "-s", "script.ys"},
                                      {{kDesignFile, design.text},
                                       {"script.ys", script_for(design.top, goal)},
                                       {"gates.genlib", kGateLibrary},
                                       {"arithmetic.v", kShallowArithmetic}},
                                      limits);
  std::string& said = outcome.err;
  while (said.ends_with('\n')) said.pop_back();
  replace_all(said, std::string(kDesignFile) + ":", design.file + ":");
  require_success(outcome, said, design, limits);
  if (warn && !said.empty()) warn("yosys: " + said);
  std::istringstream netlists(std::move(outcome.out));
  std::vector<Synthesis> result;
  for (const Way& way : kWays) {
    if (way.serves_depth_only && goal != Goal::Depth) continue;
    Json netlist;
    try {
      netlists >> netlist;
    } catch (const Json::exception& error) {
      throw UsageError("the netlist that yosys has made of " + design.file +
                       " cannot be read: " + error.what());
    }
    result.push_back({way.name, std::move(netlist)});
  }
  return result;
}

}  // namespace tinyot::circuit
