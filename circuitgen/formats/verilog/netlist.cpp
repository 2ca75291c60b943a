#include "circuitgen/formats/verilog/netlist.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "circuitgen/formats/verilog/cells.h"

namespace tinyot::circuit {
namespace {

// A few cells of many bits are a large circuit.
constexpr std::uint64_t kOperationsMax = std::uint64_t{1} << 26;

// "a flip-flop", for a cell that a circuit cannot have; empty for others.
std::string forbidden_kind(const std::string& type) {
  const auto has = [&](const char* part) { return type.find(part) != std::string::npos; };
  if (has("latch") || has("LATCH") || has("$sr") || has("$_SR_")) return "a latch";
  if (has("ff") || has("FF")) return "a flip-flop";
  if (has("tribuf") || has("TBUF")) return "a tristate buffer";
  return "";
}

std::string described(const Cell& cell) {
  return (cell.source.empty() ? "" : cell.source + ": ") + "cell " + cell.name + " (" + cell.type +
         ")";
}

// Texts of the netlist become parts of messages.
const std::string& printable(const std::string& text) {
  if (std::ranges::any_of(text, [](unsigned char c) { return c < ' ' || c == 127; }))
    throw UsageError("the netlist has a name or an attribute with control characters");
  return text;
}

// The place in the design, which comes after those in the library of Yosys that the cell was mapped
// with.
std::string source_of(const Json& attributes, const std::string& file) {
  const std::string places = attributes.value("src", std::string());
  const std::string place = printable(places.substr(places.rfind('|') + 1));
  const std::string prefix = std::string(kDesignFile) + ":";
  return place.starts_with(prefix) ? file + ":" + place.substr(prefix.size()) : place;
}

class NetlistReader {
 public:
  NetlistReader(const Json& module, const std::string& name, const std::string& file)
      : module_(module), file_(file) {
    netlist_.name = name;
  }

  Netlist read() && {
    for (const auto& [name, port] : module_.at("ports").items()) read_port(name, port);
    for (const auto& [name, cell] : module_.at("cells").items()) read_cell(name, cell);
    join_divisions();
    const std::vector<std::size_t> writers = find_writers();
    sort(writers);
    return std::move(netlist_);
  }

 private:
  Nets nets_of(const Json& bits, const std::string& where) {
    Nets nets;
    for (const Json& bit : bits) {
      if (bit.is_string()) {
        if (bit == "z")
          throw UsageError(where +
                           " has the value z, which a circuit does not have: drive it with 0 "
                           "or 1");
        nets.push_back(bit == "1" ? 1 : 0);
        continue;
      }
      if (!bit.is_number_unsigned()) throw UsageError(where + " has a bit that is no net");
      const auto [net, is_new] = nets_.try_emplace(bit.get<std::uint64_t>(), netlist_.nets);
      if (is_new) ++netlist_.nets;
      nets.push_back(net->second);
    }
    return nets;
  }

  void read_port(const std::string& name, const Json& port) {
    const std::string direction = port.at("direction");
    if (direction == "inout")
      throw UsageError("port " + name + " is bidirectional: make it an input or an output");
    DesignPort read{printable(name),
                    direction == "input",
                    nets_of(port.at("bits"), "port " + name),
                    {},
                    port.value("signed", 0) != 0};
    for (const auto& [attribute, value] : module_.at("netnames").at(name).at("attributes").items())
      if (value.is_string()) read.attributes[attribute] = printable(value);
    netlist_.ports.push_back(std::move(read));
  }

  void read_cell(const std::string& name, const Json& json) {
    Cell cell{printable(name),
              printable(json.at("type")),
              source_of(json.at("attributes"), file_),
              {},
              {},
              {}};
    if (const std::string kind = forbidden_kind(cell.type); !kind.empty())
      refuse(cell, "is " + kind +
                       ": a circuit keeps no state and always drives its wires. Give each output a "
                       "value for all inputs, without clocks");
    for (const auto& [parameter, value] : json.at("parameters").items())
      if (value.is_string()) cell.parameters[parameter] = value;
    for (const auto& [port, bits] : json.at("connections").items())
      (is_output(port) ? cell.outputs : cell.inputs)[port] = nets_of(bits, described(cell));
    if (const std::string reason = unsupported(cell); !reason.empty()) refuse(cell, reason);
    operations_ += bit_operations(cell);
    if (operations_ > kOperationsMax)
      refuse(cell,
             "makes the circuit too large: it would take more than 2^26 products and sums of "
             "single bits");
    if (cell.type == "$mod") {
      auto remainder = cell.outputs.extract(kQuotient);
      remainder.key() = kRemainder;
      cell.outputs.insert(std::move(remainder));
    }
    netlist_.cells.push_back(std::move(cell));
  }

  // A quotient and a remainder of the same operands take one division.
  void join_divisions() {
    const auto joins = [](const Cell& quotient, const Cell& remainder) {
      return quotient.inputs == remainder.inputs &&
             quotient.number("A_SIGNED") == remainder.number("A_SIGNED") &&
             quotient.number("B_SIGNED") == remainder.number("B_SIGNED");
    };
    std::vector<Cell*> quotients;
    for (Cell& cell : netlist_.cells)
      if (cell.type == "$div") quotients.push_back(&cell);
    for (Cell& cell : netlist_.cells) {
      if (cell.type != "$mod") continue;
      const auto quotient =
          std::ranges::find_if(quotients, [&](const Cell* each) { return joins(*each, cell); });
      if (quotient != quotients.end()) (*quotient)->outputs.merge(cell.outputs);
    }
    std::erase_if(netlist_.cells,
                  [](const Cell& cell) { return cell.type == "$mod" && cell.outputs.empty(); });
  }

  static constexpr std::size_t kNone = SIZE_MAX, kInput = SIZE_MAX - 1;

  // By net: the cell that writes it.
  std::vector<std::size_t> find_writers() const {
    std::vector<std::size_t> writers(netlist_.nets, kNone);
    writers[0] = writers[1] = kInput;
    for (const DesignPort& port : netlist_.ports)
      if (port.is_input)
        for (const Net net : port.nets) writers[net] = kInput;
    for (std::size_t i = 0; i < netlist_.cells.size(); ++i)
      for (const auto& [port, nets] : netlist_.cells[i].outputs)
        for (const Net net : nets) writers[net] = i;
    for (const DesignPort& port : netlist_.ports)
      for (const Net net : port.nets)
        if (writers[net] == kNone)
          throw UsageError("output " + port.name + " has a bit without a value: assign it");
    return writers;
  }

  // Each cell after those that it reads (Kahn).
  void sort(const std::vector<std::size_t>& writers) {
    std::vector<std::size_t> awaited(netlist_.cells.size(), 0);
    std::vector<std::vector<std::size_t>> readers(netlist_.cells.size());
    for (std::size_t i = 0; i < netlist_.cells.size(); ++i)
      for (const auto& [port, nets] : netlist_.cells[i].inputs)
        for (const Net net : nets)
          if (writers[net] < netlist_.cells.size()) {
            readers[writers[net]].push_back(i);
            ++awaited[i];
          }
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < awaited.size(); ++i)
      if (awaited[i] == 0) order.push_back(i);
    for (std::size_t next = 0; next < order.size(); ++next)
      for (const std::size_t reader : readers[order[next]])
        if (--awaited[reader] == 0) order.push_back(reader);
    for (std::size_t i = 0; i < awaited.size(); ++i)
      if (awaited[i] > 0) refuse(netlist_.cells[i], "is part of a loop, or reads one");
    std::vector<Cell> sorted;
    sorted.reserve(order.size());
    for (const std::size_t i : order) sorted.push_back(std::move(netlist_.cells[i]));
    netlist_.cells = std::move(sorted);
  }

  const Json& module_;
  const std::string& file_;
  std::uint64_t operations_ = 0;
  std::unordered_map<std::uint64_t, Net> nets_;  // by number in the file
  Netlist netlist_;
};

}  // namespace

void refuse(const Cell& cell, const std::string& reason) {
  throw UsageError(described(cell) + " " + reason);
}

const std::string& Cell::text(const std::string& parameter) const {
  const auto found = parameters.find(parameter);
  if (found == parameters.end() || found->second.empty())
    refuse(*this, "has no parameter " + parameter);
  return found->second;
}

const Nets& Cell::input(const std::string& port) const {
  const auto found = inputs.find(port);
  if (found == inputs.end()) refuse(*this, "has no port " + port);
  return found->second;
}

std::uint64_t Cell::number(const std::string& parameter) const {
  std::uint64_t value = 0;
  for (const char digit : text(parameter)) {
    if ((digit != '0' && digit != '1') || value >> 63 != 0)
      throw UsageError(described(*this) + ": parameter " + parameter + " is not a number");
    value = value << 1 | (digit == '1' ? 1 : 0);
  }
  return value;
}

Netlist read_netlist(const Json& design, const std::string& top, const std::string& file) {
  try {
    return NetlistReader(design.at("modules").at(top), top, file).read();
  } catch (const Json::exception& error) {
    throw UsageError("the netlist of module " + top + " is not as expected: " + error.what());
  }
}

}  // namespace tinyot::circuit
