#include "circuitgen/formats/last_reads.h"

#include "base/error.h"

namespace tinyot::circuit {
namespace {

[[noreturn]] void fail_changed(const TextSource& text) {
  throw UsageError(text.name() + ": the file changed while it was read");
}

bool in_range(const FileGate& gate, std::uint64_t wires) {
  for (const FileWire wire : gate.ins()) {
    if (wire >= wires) return false;
  }
  for (const FileWire wire : gate.outs()) {
    if (wire >= wires) return false;
  }
  return true;
}

}  // namespace

// In this direction, the first reader found is the last one.
LastReads find_last_reads(const TextSource& text, const CheckedFile& file) {
  LastReads reads{std::vector<bool>(file.mentions), {}};
  std::vector<bool> met(file.wires, false);
  for (const FileWire wire : file.outputs) met[wire] = true;

  FileLinesFromEnd lines(text);
  FileGate gate{};
  std::uint64_t left = file.mentions;
  for (std::uint64_t i = 0; i < file.gate_lines; ++i) {
    if (!lines.next() || !parse_gate(file.format, lines.line(), gate) ||
        !in_range(gate, file.wires))
      fail_changed(text);
    if (gate.in_count + gate.out_count > left) fail_changed(text);
    for (std::size_t k = gate.out_count; k-- > 0;) reads.bits[--left] = met[gate.outs()[k]];
    for (std::size_t k = gate.in_count; k-- > 0;) {
      reads.bits[--left] = !met[gate.ins()[k]];
      met[gate.ins()[k]] = true;
    }
  }
  if (left != 0) fail_changed(text);
  for (const FileWire wire : file.inputs) reads.input_read.push_back(met[wire]);
  return reads;
}

}  // namespace tinyot::circuit
