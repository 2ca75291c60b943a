#include "circuitgen/formats/verilog/netlist_circuit.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/suggestion.h"
#include "circuitgen/formats/circuit_file.h"
#include "circuitgen/formats/value_type.h"
#include "circuitgen/formats/verilog/cells.h"
#include "tinyot/circuit/builder.h"

namespace tinyot::circuit {
namespace {

std::optional<std::string> attribute_of(const DesignPort& port, const std::string& name) {
  const auto found = port.attributes.find(name);
  if (found == port.attributes.end()) return std::nullopt;
  return found->second;
}

std::optional<circuit::InputSource> owner_attribute(const DesignPort& port) {
  const auto text = attribute_of(port, "owner");
  if (!text) return std::nullopt;
  if (const auto source = circuit::input_source_named(*text)) return source;
  throw UsageError("port " + port.name +
                   ": the attribute owner is \"A\", \"B\", \"shared\" or \"public\", not \"" +
                   *text + "\"");
}

std::optional<Receiver> receiver_attribute(const DesignPort& port) {
  const auto text = attribute_of(port, "receiver");
  if (!text) return std::nullopt;
  for (const Receiver to : {Receiver::A, Receiver::B, Receiver::Both, Receiver::None})
    if (*text == name_of(to)) return to;
  throw UsageError("port " + port.name +
                   ": the attribute receiver is \"A\", \"B\", \"both\" or \"none\", not \"" +
                   *text + "\"");
}

// A string attribute counts as set, a number unless it is 0.
bool is_common(const DesignPort& port) {
  const auto text = attribute_of(port, "common");
  return text && text->find_first_not_of('0') != std::string::npos;
}

template <class Bundle>
void set_reading(Bundle& bundle, const DesignPort& port) {
  bundle.reading = port.is_signed ? Reading::Signed : Reading::Unsigned;
  if (port.is_signed && bundle.bits <= kIntegerBitsMax)
    bundle.type = "i" + std::to_string(bundle.bits);
}

void refuse_attribute(const DesignPort& port, const std::string& name, const std::string& reason) {
  if (attribute_of(port, name))
    throw UsageError("port " + port.name + " has the attribute " + name + ", " + reason);
}

template <class Roles>
void require_ports(const Netlist& netlist, const Roles& roles, bool is_input) {
  std::vector<std::string> known;
  for (const DesignPort& port : netlist.ports)
    if (port.is_input == is_input) known.push_back(port.name);
  for (const auto& [name, role] : roles) {
    if (std::ranges::find(known, name) != known.end()) continue;
    std::string names;
    for (const std::string& each : known) names += (names.empty() ? "" : ", ") + each;
    throw UsageError("module " + netlist.name + " has no " + (is_input ? "input '" : "output '") +
                     name + "'" + did_you_mean(name, known) + "; it has " + names);
  }
}

template <class Value>
std::optional<Value> option_for(const std::map<std::string, Value>& options,
                                const std::string& name) {
  const auto found = options.find(name);
  if (found == options.end()) return std::nullopt;
  return found->second;
}

}  // namespace

DescribedPorts describe_ports(const Netlist& netlist, const PortRoles& roles) {
  require_ports(netlist, roles.owners, true);
  require_ports(netlist, roles.receivers, false);
  DescribedPorts described{{netlist.name, {}, {}}, {}};
  CircuitInfo& info = described.info;
  for (const DesignPort& port : netlist.ports) {
    const auto bits = static_cast<std::uint32_t>(port.nets.size());
    if (port.is_input) {
      refuse_attribute(port, "receiver", "but is an input");
      const auto attribute = owner_attribute(port);
      auto owner = option_for(roles.owners, port.name);
      if (!owner) owner = attribute;
      if (!owner) {
        owner = default_source(static_cast<std::uint32_t>(info.inputs.size()));
        described.defaults.push_back(port.name + " is " + std::string(name_of(*owner)) + "'s");
      }
      info.inputs.push_back({port.name, bits, *owner, ValueFormat::Integer, is_common(port)});
      set_reading(info.inputs.back(), port);
    } else {
      for (const char* attribute : {"owner", "common"})
        refuse_attribute(port, attribute, "but is an output");
      const auto attribute = receiver_attribute(port);
      auto to = option_for(roles.receivers, port.name);
      if (!to) to = roles.other_receivers;
      if (!to) to = attribute;
      if (!to) {
        to = Receiver::Both;
        described.defaults.push_back(port.name + " is for both");
      }
      info.outputs.push_back({port.name, bits, *to, ValueFormat::Integer});
      set_reading(info.outputs.back(), port);
    }
  }
  return described;
}

NetlistCircuit::NetlistCircuit(Netlist netlist, CircuitInfo info)
    : netlist_(std::move(netlist)), info_(std::move(info)), last_reads_(netlist_.cells.size()) {
  std::vector<bool> is_read(netlist_.nets);
  for (const DesignPort& port : netlist_.ports)
    if (!port.is_input)
      for (const Net net : port.nets) is_read[net] = true;
  for (std::size_t i = netlist_.cells.size(); i-- > 0;) {
    const auto note = [&](const Nets& nets) {
      for (const Net net : nets)
        if (net >= kFirstNet && !is_read[net]) {
          is_read[net] = true;
          last_reads_[i].push_back(net);
        }
    };
    for (const auto& [port, nets] : netlist_.cells[i].inputs) note(nets);
    for (const auto& [port, nets] : netlist_.cells[i].outputs) note(nets);
  }
}

void NetlistCircuit::generate(GateSink& sink) const {
  Builder builder(sink, info_);
  struct InputBit {
    std::uint32_t bundle, bit;
  };
  std::unordered_map<Net, InputBit> unread_inputs;
  std::uint32_t bundles = 0;
  for (const DesignPort& port : netlist_.ports) {
    if (!port.is_input) continue;
    for (std::uint32_t bit = 0; bit < port.nets.size(); ++bit)
      unread_inputs[port.nets[bit]] = {bundles, bit};
    ++bundles;
  }
  std::vector<Bit> values(netlist_.nets);
  values[1] = Bit(true);
  const auto value_of = [&](Net net) -> const Bit& {
    if (const auto input = unread_inputs.find(net); input != unread_inputs.end()) {
      values[net] = builder.input_bit(input->second.bundle, input->second.bit);
      unread_inputs.erase(input);
    }
    return values[net];
  };
  for (std::size_t i = 0; i < netlist_.cells.size(); ++i) {
    const Cell& cell = netlist_.cells[i];
    Bits out = evaluate(cell, [&](const std::string& port) {
      Bits bits;
      for (const Net net : cell.input(port)) bits.push_back(value_of(net));
      return bits;
    });
    auto next = out.begin();
    for (const auto& [port, nets] : cell.outputs)
      for (const Net net : nets) values[net] = std::move(*next++);
    for (const Net net : last_reads_[i]) values[net] = Bit();
  }
  bundles = 0;
  for (const DesignPort& port : netlist_.ports) {
    if (port.is_input) continue;
    for (std::uint32_t bit = 0; bit < port.nets.size(); ++bit)
      builder.output_bit(bundles, bit, value_of(port.nets[bit]));
    ++bundles;
  }
}

}  // namespace tinyot::circuit
