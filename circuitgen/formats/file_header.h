// What kind of circuit file a text is, and its header.
//
//   Bristol Fashion    gates wires / n width... (n input bundles) / n width... (n output bundles) /
//   gates old Bristol        gates wires / n_a n_b n_out / gates truth tables       no header,
//   gates from the first line on
//
// Inputs are the first wires, outputs the last. Blank lines may stand anywhere. How they are told
// apart: a header begins with a line of exactly two words, whereas a gate with a truth table has
// four at least and ends in a digit. The third line of an old file is its first gate and ends in
// the name of an operation; that of Bristol Fashion ends in a width, so that the two cannot be
// taken for each other even if the second line has three numbers in both.
#pragma once

#include <cstdint>
#include <vector>

#include "circuitgen/formats/file_gate.h"

namespace tinyot::circuit {

struct FileHeader {
  FileFormat format;
  std::uint64_t lines = 0;  // of the header, blank ones left out
  std::uint64_t gates = 0;
  std::uint64_t wires = 0;
  // Widths of bundles. The old format has two input bundles and one for the output, each of which
  // may have no bits.
  std::vector<std::uint32_t> inputs, outputs;
  std::uint64_t input_wires = 0, output_wires = 0;
};

// A circuit may have so many wires more than its file has bytes: inputs that no gate reads are not
// in the file.
inline constexpr std::uint64_t kSilentWiresMax = std::uint64_t{1} << 20;

// Leaves `format` and `lines` alone of a file with truth tables. Fails: UsageError with file, line
// and reason.
FileHeader read_header(const TextSource& text);

}  // namespace tinyot::circuit
