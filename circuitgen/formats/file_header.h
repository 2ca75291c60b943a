// The format of a circuit file, and its header.
//
//   Bristol Fashion    gates wires / n width... (n input bundles) / n width... (n output bundles)
//   old Bristol        gates wires / n_a n_b n_out
//   truth tables       no header
//
// The lines after the header are gates.
//
// Inputs are the first wires, outputs the last. Blank lines may occur anywhere. Detection: a header
// begins with a line of exactly two words, whereas a gate with a truth table has at least four and
// ends in a digit. The third line of an old file is its first gate and ends in the name of an
// operation; that of Bristol Fashion ends in a width. So these two are distinguished even if the
// second line has three numbers in both.
#pragma once

#include <cstdint>
#include <vector>

#include "circuitgen/formats/file_gate.h"

namespace tinyot::circuit {

struct FileHeader {
  FileFormat format;
  std::uint64_t lines = 0;  // of the header, without blank ones
  std::uint64_t gates = 0;
  std::uint64_t wires = 0;
  // Widths of bundles. The old format has two input bundles and one output bundle, each of which
  // may have no bits.
  std::vector<std::uint32_t> inputs, outputs;
  std::uint64_t input_wires = 0, output_wires = 0;
};

// Upper bound of wires minus bytes of the file: inputs that no gate reads are not in the file.
inline constexpr std::uint64_t kUnreadWiresMax = std::uint64_t{1} << 20;

// For a file with truth tables only `format` is set. Fails: UsageError with file, line and reason.
FileHeader read_header(const TextSource& text);

}  // namespace tinyot::circuit
