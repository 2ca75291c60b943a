#include "tools/cli/render/circuit.h"

namespace tinyot::tools {
namespace {

std::string owner_of(const circuit::InputBundle& bundle) {
  return bundle.owner ? std::string(1, letter(*bundle.owner)) : "none";
}

}  // namespace

void add_gates(Json& report, const circuit::CircuitCost& cost) {
  report["ands"] = cost.ands;
  report["xors"] = cost.xors;
  report["nots"] = cost.nots;
  report["and_depth"] = cost.and_depth;
}

std::string gates_text(const circuit::CircuitCost& cost) {
  return grouped(cost.ands) + " ANDs, " + grouped(cost.xors) + " XORs, " + grouped(cost.nots) +
         " NOTs, AND depth " + grouped(cost.and_depth);
}

void add_bundles(Json& report, const circuit::CircuitInfo& info) {
  report["inputs"] = Json::array();
  for (const circuit::InputBundle& bundle : info.inputs)
    report["inputs"].push_back(
        {{"name", bundle.name}, {"bits", bundle.bits}, {"owner", owner_of(bundle)}});
  report["outputs"] = Json::array();
  for (const circuit::OutputBundle& bundle : info.outputs)
    report["outputs"].push_back(
        {{"name", bundle.name}, {"bits", bundle.bits}, {"to", std::string(name_of(bundle.to))}});
}

std::string bundles_text(const circuit::CircuitInfo& info) {
  std::string text;
  for (const circuit::InputBundle& bundle : info.inputs)
    text += "input " + bundle.name + ": " + std::to_string(bundle.bits) + " bits from " +
            owner_of(bundle) + "\n";
  for (const circuit::OutputBundle& bundle : info.outputs)
    text += "output " + bundle.name + ": " + std::to_string(bundle.bits) + " bits to " +
            std::string(name_of(bundle.to)) + "\n";
  return text;
}

}  // namespace tinyot::tools
