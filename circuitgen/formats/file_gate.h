// One line of a circuit file as a gate over the wires of the file.
//
//   Bristol Fashion, old Bristol   n_in n_out in... out... OPERATION
//     XOR, AND, INV    one gate each
//     EQW              out = in; only another name for the wire, costs nothing
//     EQ               out = the constant that stands in place of `in`, 0 or 1
//     MAND             out_i = in_i & in_(i + n_out): several ANDs, counted as one gate in the
//     header
//   truth tables (Lindell, Pinkas, Smart 2008)   n_in 1 in... out DIGITS
//     2^n_in digits, n_in <= 3; the leftmost is the output for inputs that are all 0, the first
//     input is the most significant digit of the row's number
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "circuitgen/formats/file_lines.h"

namespace tinyot::circuit {

using FileWire = std::uint32_t;
inline constexpr std::uint64_t kFileWiresMax = 0xfffffffe;  // wires are 0..kFileWiresMax - 1

enum class FileFormat : std::uint8_t { BristolFashion, OldBristol, TruthTables };

enum class FileOperation : std::uint8_t { Xor, And, Not, Copy, Constant, Table };

struct FileGate {
  FileOperation operation;
  // Constant: the bit. Table: bit r is the output for row r, whose digits are the inputs, first one
  // first
  std::uint8_t table;
  std::size_t in_count, out_count;
  std::vector<FileWire> wires;  // inputs, then outputs; what stands behind them means nothing

  std::span<const FileWire> ins() const { return {wires.data(), in_count}; }
  std::span<const FileWire> outs() const { return {wires.data() + in_count, out_count}; }
};

// Parses a line with a newline behind it; false if it is no gate of the format. The wires may be
// any numbers.
bool parse_gate(FileFormat format, std::string_view line, FileGate& gate);

// Why parse_gate refuses the line at hand. Fails: UsageError, always.
[[noreturn]] void refuse_gate(FileFormat format, const FileLines& lines);

}  // namespace tinyot::circuit
