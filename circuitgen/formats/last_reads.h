// Finds the last mention of each wire in a circuit file, in a pass from the end of the file to its
// start.
//
// Memory: one bit for each mention of a wire in a gate, three for most gates; during the pass also
// one bit per wire.
#pragma once

#include <cstdint>
#include <vector>

#include "circuitgen/formats/file_check.h"

namespace tinyot::circuit {

struct LastReads {
  // A bit for each mention of a wire, in the order of the file. At an input of a gate: the wire has
  // no later reader. At an output: the wire has a reader. An output of the circuit is a read after
  // the last gate.
  std::vector<bool> bits;

  std::vector<bool> input_read;  // by index in CheckedFile::inputs
};

// Fails: UsageError if the file cannot be read, or is not the one that was checked.
LastReads find_last_reads(const TextSource& text, const CheckedFile& file);

}  // namespace tinyot::circuit
