// Which mention of a wire in a circuit file is the last: found from the end of the file to its
// start.
//
// Memory: a bit for each mention of a wire in a gate, three for most gates; meanwhile a bit a wire.
#pragma once

#include <cstdint>
#include <vector>

#include "circuitgen/formats/file_check.h"

namespace tinyot::circuit {

struct LastReads {
  // A bit for each mention of a wire, in the order of the file. At an input of a gate: nothing
  // reads the wire afterwards. At an output: something reads it. An output of the circuit is a read
  // behind the last gate.
  std::vector<bool> bits;

  std::vector<bool> input_read;  // by index in CheckedFile::inputs
};

// Fails: UsageError if the file cannot be read, or is not the one that was checked.
LastReads find_last_reads(const TextSource& text, const CheckedFile& file);

}  // namespace tinyot::circuit
