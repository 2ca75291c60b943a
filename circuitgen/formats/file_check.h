// The first pass over a circuit file: checks everything in it and determines which wires are inputs
// and outputs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "circuitgen/formats/file_description.h"
#include "circuitgen/formats/file_header.h"

namespace tinyot::circuit {

// A file in which each line is a gate of its format, and each wire is written once, before it is
// read.
struct CheckedFile {
  FileFormat format;
  std::uint64_t header_lines;
  std::uint64_t gate_lines;
  std::uint64_t wires;                                     // upper bound of the wires
  std::uint64_t mentions;                                  // of wires in gates: reads and writes
  std::uint64_t digest;                                    // FileLines::digest() at the end
  std::vector<std::uint32_t> input_widths, output_widths;  // of the bundles; some may be 0
  std::vector<FileWire> inputs, outputs;                   // the wires of all bundles
  std::optional<FileDescription> description;              // it has these widths
};

// `bundles`: widths of the input bundles of a file with truth tables; if it is empty, those of the
// description, or all inputs are one bundle.
//
// The inputs of such a file are the wires that gates read and no gate writes, and also all wires
// below the lowest written one, whether read or not, so that an unread input does not shift the
// others. Only if the bundles have exactly as many bits as there are input wires that are read,
// unmentioned numbers are treated as gaps in the numbering. The outputs are the written wires that
// no gate reads. Memory: three bits per wire, the inputs and the outputs. Fails: UsageError with
// file, line and reason.
CheckedFile check_file(const TextSource& text, const std::vector<std::uint32_t>& bundles);

}  // namespace tinyot::circuit
