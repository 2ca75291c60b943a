// One line of a circuit file as a gate over the wires of the file.
//
//   Bristol Fashion, old Bristol   n_in n_out in... out... OPERATION
//     XOR, AND, INV    one gate each
//     EQW              out = in; an alias of the wire, costs nothing
//     EQ               out = the constant that stands in place of `in`, 0 or 1
//     MAND             out_i = in_i & in_(i + n_out): several ANDs; one gate in the header's count
//   truth tables (Lindell, Pinkas, Smart 2008)   n_in 1 in... out DIGITS
//     2^n_in digits, n_in <= 3; the leftmost is the output for all-zero inputs, and the first input
//     is the most significant bit of the row number
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
  // Constant: the bit. Table: bit r is the output for row r, whose binary digits are the inputs in
  // order
  std::uint8_t table;
  std::size_t in_count, out_count;
  std::vector<FileWire> wires;  // inputs, then outputs; later entries are undefined

  std::span<const FileWire> ins() const { return {wires.data(), in_count}; }
  std::span<const FileWire> outs() const { return {wires.data() + in_count, out_count}; }
};

// Parses a line that is followed by a newline; false if it is not a gate of the format. Wire
// numbers are not checked.
bool parse_gate(FileFormat format, std::string_view line, FileGate& gate);

// Throws a UsageError with the reason why parse_gate rejected the current line.
[[noreturn]] void refuse_gate(FileFormat format, const FileLines& lines);

}  // namespace tinyot::circuit
