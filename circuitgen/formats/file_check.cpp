#include "circuitgen/formats/file_check.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "base/error.h"

namespace tinyot::circuit {
namespace {

std::string wire_text(std::uint64_t wire) { return "wire " + std::to_string(wire); }

// A file with a header, which defines the number of wires, the inputs and the outputs.
class BristolCheck {
 public:
  BristolCheck(const TextSource& text, const FileHeader& header)
      : header_(header), lines_(text), written_(header.wires, false) {
    std::fill_n(written_.begin(), header.input_wires, true);
  }

  CheckedFile check() && {
    for (std::uint64_t i = 0; i < header_.lines; ++i) lines_.next();
    std::uint64_t mentions = 0;
    for (std::uint64_t done = 0; done < header_.gates; ++done) {
      if (!lines_.next()) {
        lines_.fail("the file ends after " + std::to_string(done) + " of the " +
                    std::to_string(header_.gates) + " gates that its header announces");
      }
      if (!parse_gate(header_.format, lines_.line(), gate_)) refuse_gate(header_.format, lines_);
      for (const FileWire wire : gate_.ins()) check_read(wire);
      for (const FileWire wire : gate_.outs()) write(wire);
      mentions += gate_.in_count + gate_.out_count;
    }
    if (lines_.next()) {
      lines_.fail("there is text after the last of the " + std::to_string(header_.gates) +
                  " gates that the header announces");
    }
    CheckedFile file{header_.format,
                     header_.lines,
                     header_.gates,
                     header_.wires,
                     mentions,
                     lines_.digest(),
                     header_.inputs,
                     header_.outputs,
                     {},
                     {},
                     description_in(lines_)};
    file.inputs.resize(header_.input_wires);
    std::iota(file.inputs.begin(), file.inputs.end(), 0);
    collect_outputs(file.outputs);
    return file;
  }

 private:
  void check_range(FileWire wire) const {
    if (wire < header_.wires) return;
    lines_.fail(wire_text(wire) + " is out of range, the header announces " +
                std::to_string(header_.wires) + " wires");
  }
  void check_read(FileWire wire) const {
    check_range(wire);
    if (!written_[wire]) lines_.fail(wire_text(wire) + " is read before it is written");
  }
  void write(FileWire wire) {
    check_range(wire);
    if (wire < header_.input_wires)
      lines_.fail(wire_text(wire) + " is an input and cannot be written");
    if (written_[wire]) lines_.fail(wire_text(wire) + " is written twice");
    written_[wire] = true;
  }

  // Other wires may stay unwritten: files of this format may have gaps in their numbering.
  void collect_outputs(std::vector<FileWire>& outputs) const {
    outputs.resize(header_.output_wires);
    std::iota(outputs.begin(), outputs.end(),
              static_cast<FileWire>(header_.wires - header_.output_wires));
    for (const FileWire wire : outputs) {
      if (!written_[wire]) lines_.fail("output " + wire_text(wire) + " is never written");
    }
  }

  const FileHeader& header_;
  FileLines lines_;
  FileGate gate_{};
  std::vector<bool> written_;
};

// A list of gates without a header: inputs and outputs are known only at the end.
class TableCheck {
 public:
  explicit TableCheck(const TextSource& text)
      : lines_(text), wires_max_(std::min(text.bytes() + kUnreadWiresMax, kFileWiresMax)) {}

  CheckedFile check(const std::vector<std::uint32_t>& bundles) && {
    CheckedFile file{FileFormat::TruthTables, 0, 0, 0, 0, 0, {}, {}, {}, {}, {}};
    for (; lines_.next(); ++file.gate_lines) {
      if (!parse_gate(file.format, lines_.line(), gate_)) refuse_gate(file.format, lines_);
      for (const FileWire wire : gate_.ins()) read(wire);
      write(gate_.outs()[0]);
      file.mentions += gate_.in_count + gate_.out_count;
    }
    file.digest = lines_.digest();
    file.wires = made_.size();
    file.description = description_in(lines_);
    const bool is_described = bundles.empty() && file.description;
    collect_inputs(is_described ? file.description->input_widths() : bundles, file);
    for (std::size_t wire = 0; wire < made_.size(); ++wire) {
      if (made_[wire] && !read_[wire]) file.outputs.push_back(static_cast<FileWire>(wire));
    }
    file.output_widths = {static_cast<std::uint32_t>(file.outputs.size())};
    return file;
  }

 private:
  void make_room(FileWire wire) {
    if (wire < made_.size()) return;
    if (wire >= wires_max_)
      lines_.fail(wire_text(wire) + " is out of range for a file of this length");
    for (auto* bits : {&made_, &read_, &unmade_}) bits->resize(std::size_t{wire} + 1, false);
  }
  void read(FileWire wire) {
    make_room(wire);
    read_[wire] = true;
    if (!made_[wire]) unmade_[wire] = true;
  }
  void write(FileWire wire) {
    make_room(wire);
    if (unmade_[wire]) lines_.fail(wire_text(wire) + " is read before it is written here");
    if (made_[wire]) lines_.fail(wire_text(wire) + " is written twice");
    made_[wire] = true;
    lowest_made_ = std::min<std::size_t>(lowest_made_, wire);
  }

  void collect_inputs(const std::vector<std::uint32_t>& bundles, CheckedFile& file) const {
    const auto read = static_cast<std::uint64_t>(std::count(unmade_.begin(), unmade_.end(), true));
    const std::uint64_t wanted = std::accumulate(bundles.begin(), bundles.end(), std::uint64_t{0});
    const bool gaps = !bundles.empty() && wanted == read;
    for (std::size_t wire = 0; wire < unmade_.size(); ++wire) {
      if (unmade_[wire] || (wire < lowest_made_ && !gaps))
        file.inputs.push_back(static_cast<FileWire>(wire));
    }
    if (!bundles.empty() && wanted != file.inputs.size()) {
      lines_.fail("the circuit has " + std::to_string(file.inputs.size()) +
                  " inputs, but the bundles have " + std::to_string(wanted) + " bits");
    }
    file.input_widths = bundles;
    if (bundles.empty())
      file.input_widths.assign(1, static_cast<std::uint32_t>(file.inputs.size()));
  }

  FileLines lines_;
  const std::uint64_t wires_max_;
  FileGate gate_{};
  std::vector<bool> made_, read_;
  std::vector<bool> unmade_;  // read before a gate has written it
  std::size_t lowest_made_ = SIZE_MAX;
};

// The widths of a description are those of the file.
void require_match(const TextSource& text, const char* kind,
                   const std::vector<std::uint32_t>& described, std::vector<std::uint32_t> widths) {
  std::erase(widths, 0);
  const auto list = [](const std::vector<std::uint32_t>& of) {
    std::string numbers;
    for (const std::uint32_t width : of) numbers += ' ' + std::to_string(width);
    return numbers;
  };
  if (described != widths)
    throw UsageError(text.name() + ": its description has " + kind + " bundles of" +
                     list(described) + " bits, but the circuit has" + list(widths));
}

}  // namespace

CheckedFile check_file(const TextSource& text, const std::vector<std::uint32_t>& bundles) {
  const FileHeader header = read_header(text);
  for (const std::uint32_t width : bundles) {
    if (width == 0) throw UsageError(text.name() + ": an input bundle cannot be 0 bits wide");
  }
  const bool has_header = header.format != FileFormat::TruthTables;
  if (has_header && !bundles.empty())
    throw UsageError(
        text.name() +
        ": the header of the file has the widths of its bundles; give no other widths");
  CheckedFile file =
      has_header ? BristolCheck(text, header).check() : TableCheck(text).check(bundles);
  if (file.description) {
    require_match(text, "input", file.description->input_widths(), file.input_widths);
    require_match(text, "output", file.description->output_widths(), file.output_widths);
  }
  return file;
}

}  // namespace tinyot::circuit
