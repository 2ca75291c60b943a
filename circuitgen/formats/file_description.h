// The description in a circuit file: the names, sources, receivers and formats of its bundles,
// which none of the formats has. Each line of it is a comment, so other readers, which stop after
// the last gate, see a plain file:
//
//   #tinyot description 1
//   #tinyot input NAME BITS A|B|shared|public bytes|integer|msb-integer [common] [TYPE] [WORD...]
//   #tinyot output NAME BITS A|B|both|none bytes|integer|msb-integer [TYPE] [WORD]
//
// in the order of the bundles, those without bits included; `common`: the same in all lanes; TYPE
// as in column.h, of an integer or of the values of a list, whose width divides that of the bundle.
// The words: the reading, where no type says it (`bits`, `unsigned`, `signed`), and conditions on
// an input
// (`ascending`, `distinct`, `range=LOWEST..HIGHEST`). The lines may be anywhere in the file;
// write_description() is for its end.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "circuitgen/formats/file_lines.h"
#include "tinyot/circuit/gate.h"

namespace tinyot::circuit {

struct FileDescription {
  std::vector<InputBundle> inputs;
  std::vector<OutputBundle> outputs;

  // Widths of the bundles that have bits.
  std::vector<std::uint32_t> input_widths() const;
  std::vector<std::uint32_t> output_widths() const;
};

// From the lines that have been read. Fails: UsageError naming the line.
std::optional<FileDescription> description_in(const FileLines& lines);

// Fails: UsageError if a name contains white space or is empty, or if two inputs or outputs have
// the same name.
void write_description(const CircuitInfo& info, std::ostream& out);

}  // namespace tinyot::circuit
