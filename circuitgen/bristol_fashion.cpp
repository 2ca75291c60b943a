#include "circuitgen/bristol_fashion.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "circuitgen/file_lines.h"

namespace tinyot {
namespace {

using FileGate = BristolFashionCircuit::FileGate;
using FileOutput = BristolFashionCircuit::FileOutput;

constexpr std::uint32_t kUnwritten = ~std::uint32_t{0};
constexpr std::uint64_t kWiresMax = kUnwritten - 1;

struct Header {
  std::uint64_t gates;
  std::uint64_t wires;
  std::vector<std::uint32_t> input_widths;
  std::vector<std::uint32_t> output_widths;
  std::uint64_t input_wires = 0;
  std::uint64_t output_wires = 0;
};

// Reads a file into gates; the first error ends it.
class Reader {
 public:
  Reader(std::istream& text, std::uint64_t bytes, const std::string& file) : lines_(text, file), bytes_(bytes) {}

  void read() {
    read_header();
    stream_wire_.assign(header_.wires, kUnwritten);
    for (std::uint32_t wire = 0; wire < header_.input_wires; ++wire) stream_wire_[wire] = wire;
    for (std::uint64_t done = 0; done < header_.gates; ++done) {
      if (!lines_.next()) {
        lines_.fail("the file ends after " + std::to_string(done) + " of the " + std::to_string(header_.gates) +
                    " gates that its header announces");
      }
      read_gate();
    }
    if (lines_.next()) {
      lines_.fail("there is text behind the last of the " + std::to_string(header_.gates) + " gates that the header announces");
    }
    collect_outputs();
  }

  const Header& header() const { return header_; }
  std::vector<FileGate> take_gates() { return std::move(gates_); }
  std::vector<FileOutput> take_outputs() { return std::move(outputs_); }

 private:
  // Memory is taken only for what the file is long enough to hold: a gate has a line, and a wire that is worth a name is written
  // in some line.
  void read_header() {
    next_header_line();
    if (lines_.words().size() != 2) lines_.fail("the first line must be two numbers, gates and wires");
    header_.gates = lines_.integer(0);
    header_.wires = lines_.integer(1);
    if (header_.gates > bytes_) fail_size(header_.gates, "gates");
    if (header_.wires > bytes_) fail_size(header_.wires, "wires");
    if (header_.wires > kWiresMax) lines_.fail("more than " + std::to_string(kWiresMax) + " wires are not supported");
    next_header_line();
    header_.input_wires = read_widths("input", header_.input_widths);
    next_header_line();
    header_.output_wires = read_widths("output", header_.output_widths);
  }

  void next_header_line() {
    if (!lines_.next()) lines_.fail("the file ends before its header of three lines is complete");
  }

  [[noreturn]] void fail_size(std::uint64_t count, const char* what) const {
    lines_.fail("the header announces " + std::to_string(count) + " " + what + ", too many for a file of " +
                std::to_string(bytes_) + " bytes");
  }

  std::uint64_t read_widths(const std::string& kind, std::vector<std::uint32_t>& widths) {
    const std::uint64_t bundles = lines_.integer(0);
    const std::size_t given = lines_.words().size() - 1;
    if (bundles != given) {
      lines_.fail(std::to_string(bundles) + " " + kind + " bundles are announced, but " + std::to_string(given) +
                  " widths are given");
    }
    std::uint64_t sum = 0;
    for (std::size_t i = 1; i <= given; ++i) {
      const std::uint64_t width = lines_.integer(i);
      if (width == 0) lines_.fail(kind + " bundle " + std::to_string(i - 1) + " has no bits");
      if (width > header_.wires - sum) {
        lines_.fail("the " + kind + " bundles have more bits than the " + std::to_string(header_.wires) + " wires of the header");
      }
      sum += width;
      widths.push_back(static_cast<std::uint32_t>(width));
    }
    return sum;
  }

  void read_gate() {
    const std::vector<std::string_view>& words = lines_.words();
    if (words.size() < 3) lines_.fail("a gate needs the numbers of its inputs and outputs, its wires and its operation");
    const std::uint64_t ins = lines_.integer(0), outs = lines_.integer(1);
    const std::string_view operation = words.back();
    constexpr std::string_view kOperations[] = {"XOR", "AND", "INV", "EQW", "EQ", "MAND"};
    const bool known = std::ranges::find(kOperations, operation) != std::end(kOperations);
    if (!known) lines_.fail("unknown operation " + FileLines::shown(operation) + "; known are XOR, AND, INV, EQW, EQ, MAND");

    const std::size_t wires = words.size() - 3;
    if (ins > wires || outs > wires || ins + outs != wires) {
      lines_.fail("the gate announces " + std::to_string(ins) + " inputs and " + std::to_string(outs) + " outputs, but " +
                  std::to_string(wires) + " wires are given");
    }
    const bool fits = operation == "MAND"                       ? outs >= 1 && ins == 2 * outs
                      : operation == "XOR" || operation == "AND" ? ins == 2 && outs == 1
                                                                 : ins == 1 && outs == 1;
    if (!fits) {
      lines_.fail(std::string(operation) + " cannot have " + std::to_string(ins) + " inputs and " + std::to_string(outs) +
                  " outputs");
    }
    read_wires(operation, outs);
  }

  // `outs` is plausible now, and so are the words. The ANDs of a MAND do not see each other's outputs.
  void read_wires(std::string_view operation, std::size_t outs) {
    if (operation == "MAND") {
      operands_.clear();
      for (std::size_t i = 0; i < 2 * outs; ++i) operands_.push_back(read_operand(2 + i));
      for (std::size_t i = 0; i < outs; ++i) add_gate(GateKind::And, operands_[i], operands_[outs + i], 2 + 2 * outs + i);
    } else if (operation == "EQ") {
      const std::uint64_t constant = lines_.integer(2);
      if (constant > 1) lines_.fail("the constant of EQ must be 0 or 1");
      add_gate(GateKind::Const, static_cast<std::uint32_t>(constant), 0, 3);
    } else if (operation == "EQW") {
      const std::uint32_t source = read_operand(2);
      writable(3) = source;
    } else if (operation == "INV") {
      add_gate(GateKind::Not, read_operand(2), 0, 3);
    } else {
      const std::uint32_t in0 = read_operand(2), in1 = read_operand(3);
      add_gate(operation == "AND" ? GateKind::And : GateKind::Xor, in0, in1, 4);
    }
  }

  std::uint64_t wire_at(std::size_t index) const {
    const std::uint64_t wire = lines_.integer(index);
    if (wire >= header_.wires) {
      lines_.fail("wire " + std::to_string(wire) + " is out of range, the header announces " + std::to_string(header_.wires) +
                  " wires");
    }
    return wire;
  }
  std::uint32_t read_operand(std::size_t index) const {
    const std::uint64_t wire = wire_at(index);
    if (stream_wire_[wire] == kUnwritten) lines_.fail("wire " + std::to_string(wire) + " is read before it is written");
    return stream_wire_[wire];
  }
  std::uint32_t& writable(std::size_t index) {
    const std::uint64_t wire = wire_at(index);
    if (wire < header_.input_wires) lines_.fail("wire " + std::to_string(wire) + " is an input and cannot be written");
    if (stream_wire_[wire] != kUnwritten) lines_.fail("wire " + std::to_string(wire) + " is written twice");
    return stream_wire_[wire];
  }
  void add_gate(GateKind kind, std::uint32_t in0, std::uint32_t in1, std::size_t out_index) {
    writable(out_index) = static_cast<std::uint32_t>(header_.input_wires + gates_.size());
    gates_.push_back({in0, in1, kind, false, false, false});
  }

  // Other wires may stay unwritten: the format has files with gaps in their numbering.
  void collect_outputs() {
    for (std::uint64_t wire = header_.wires - header_.output_wires; wire < header_.wires; ++wire) {
      if (stream_wire_[wire] == kUnwritten) lines_.fail("output wire " + std::to_string(wire) + " is never written");
      outputs_.push_back({stream_wire_[wire], false});
    }
  }

  FileLines lines_;
  const std::uint64_t bytes_;
  Header header_{};
  std::vector<std::uint32_t> stream_wire_;  // by wire of the file; an EQW makes two of them the same
  std::vector<std::uint32_t> operands_;     // of the MAND at hand
  std::vector<FileGate> gates_;
  std::vector<FileOutput> outputs_;
};

}  // namespace

BristolFashionCircuit::BristolFashionCircuit(const std::filesystem::path& file, const BristolOptions& options) {
  info_.name = file.stem().string();
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) {
    throw UsageError(file.string() + ": there is no such file, or it is not a regular one");
  }
  const std::uint64_t bytes = std::filesystem::file_size(file, error);
  std::ifstream text(file, std::ios::binary);
  if (error || !text) throw UsageError(file.string() + ": the file cannot be opened; are its permissions right?");
  load(text, bytes, file.string(), options);
}

BristolFashionCircuit::BristolFashionCircuit(std::istream& text, std::uint64_t bytes, const std::string& name,
                                             const BristolOptions& options) {
  info_.name = name;
  load(text, bytes, name, options);
}

void BristolFashionCircuit::load(std::istream& text, std::uint64_t bytes, const std::string& file,
                                 const BristolOptions& options) {
  Reader reader(text, bytes, file);
  reader.read();
  name_bundles(reader.header().input_widths, reader.header().output_widths, file, options);
  input_wires_ = static_cast<std::uint32_t>(reader.header().input_wires);
  gates_ = reader.take_gates();
  outputs_ = reader.take_outputs();
  find_last_readers();
}

void BristolFashionCircuit::name_bundles(const std::vector<std::uint32_t>& inputs, const std::vector<std::uint32_t>& outputs,
                                         const std::string& file, const BristolOptions& options) {
  for (std::uint32_t i = 0; i < inputs.size(); ++i) {
    const Party owner = i == 1 ? Party::B : Party::A;
    info_.inputs.push_back({std::to_string(i), inputs[i], owner, ValueFormat::Integer, false});
  }
  for (std::uint32_t i = 0; i < outputs.size(); ++i) {
    info_.outputs.push_back({std::to_string(i), outputs[i], Receiver::Both, ValueFormat::Integer});
  }
  for (const auto& [bundle, owner] : options.owners) {
    if (bundle >= inputs.size()) throw UsageError(file + ": no input bundle " + std::to_string(bundle) + " to give an owner");
    info_.inputs[bundle].owner = owner;
  }
  for (const auto& [bundle, receiver] : options.receivers) {
    if (bundle >= outputs.size()) throw UsageError(file + ": no output bundle " + std::to_string(bundle) + " to give to a party");
    info_.outputs[bundle].to = receiver;
  }
}

// From the end to the start, the first reader that is met is the last one.
void BristolFashionCircuit::find_last_readers() {
  std::vector<bool> met(input_wires_ + gates_.size(), false);
  const auto meet = [&met](std::uint32_t wire) {
    const bool first = !met[wire];
    met[wire] = true;
    return first;
  };
  for (std::size_t i = outputs_.size(); i-- > 0;) outputs_[i].last = meet(outputs_[i].wire);
  for (std::size_t i = gates_.size(); i-- > 0;) {
    FileGate& gate = gates_[i];
    gate.unread = !met[input_wires_ + i];
    if (gate.kind == GateKind::And || gate.kind == GateKind::Xor) gate.last_in1 = meet(gate.in1);
    if (gate.kind != GateKind::Const) gate.last_in0 = meet(gate.in0);
  }
  met.resize(input_wires_);
  input_read_ = std::move(met);
}

void BristolFashionCircuit::generate(GateSink& sink) const {
  const auto free = [&sink](WireId wire) { sink.emit({GateKind::Free, 0, wire, 0}); };
  WireId wire = 0;
  for (std::uint32_t bundle = 0; bundle < info_.inputs.size(); ++bundle) {
    for (std::uint32_t bit = 0; bit < info_.inputs[bundle].bits; ++bit, ++wire) {
      if (input_read_[wire]) sink.emit({GateKind::Input, wire, bundle, bit});
    }
  }
  for (const FileGate& gate : gates_) {
    sink.emit({gate.kind, wire, gate.in0, gate.in1});
    if (gate.last_in0) free(gate.in0);
    if (gate.last_in1) free(gate.in1);
    if (gate.unread) free(wire);
    ++wire;
  }
  std::size_t next = 0;
  for (std::uint32_t bundle = 0; bundle < info_.outputs.size(); ++bundle) {
    for (std::uint32_t bit = 0; bit < info_.outputs[bundle].bits; ++bit, ++next) {
      sink.emit({GateKind::Output, bundle, outputs_[next].wire, bit});
      if (outputs_[next].last) free(outputs_[next].wire);
    }
  }
}

}  // namespace tinyot
