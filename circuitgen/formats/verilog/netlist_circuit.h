// A netlist as a circuit, whose bundles are the ports of the module.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "circuitgen/formats/verilog/netlist.h"
#include "tinyot/circuit/gate.h"

namespace tinyot::circuit {

// What the command line says about ports. It goes before the attributes `owner`, `receiver` and
// `common` in the design, and these before the defaults of a circuit file.
struct PortRoles {
  std::map<std::string, InputSource> owners = {};
  std::map<std::string, Receiver> receivers = {};
  std::optional<Receiver> other_receivers = {};
};

struct DescribedPorts {
  CircuitInfo info;
  std::vector<std::string> defaults;  // ports that neither options nor attributes describe
};

// Fails: UsageError for an unknown port or a wrong attribute.
DescribedPorts describe_ports(const Netlist& netlist, const PortRoles& roles);

class NetlistCircuit final : public Circuit {
 public:
  // `info` is that of the netlist's ports.
  NetlistCircuit(Netlist netlist, CircuitInfo info);
  const CircuitInfo& info() const override { return info_; }
  void generate(GateSink& sink) const override;

 private:
  Netlist netlist_;
  CircuitInfo info_;
  std::vector<Nets> last_reads_;  // by cell: the nets that no later cell or output reads
};

}  // namespace tinyot::circuit
