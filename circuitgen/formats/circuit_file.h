// Circuits in files: Bristol Fashion (https://nigelsmart.github.io/MPC-Circuits), the format that
// it replaced, and lists of gates with truth tables (Lindell, Pinkas, Smart, SCN 2008). Formats are
// told apart by their content, see file_header.h; for what a line says see file_gate.h.
//
// A file is checked as a whole when it is opened, and read again by each generate(). Bundles are
// named "0", "1", ... and have the format Integer. In the old format, "0" and "1" are the inputs
// and a bundle without bits is left out. Truth tables become as few ANDs as there can be, see
// truth_table.h. Inputs come first in the stream, those that nothing reads are left out of it, and
// a wire is freed behind its last reader.
//
// Memory: three bits a gate, and in generate() O(live wires) more; a bit a wire while the file is
// opened.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "circuitgen/formats/text_source.h"
#include "circuitgen/gate.h"

namespace tinyot::circuit {

// The owner of an input bundle of a file, unless another one is given.
constexpr Party default_owner(std::uint32_t bundle) { return bundle == 1 ? Party::B : Party::A; }

// What a file does not say, by bundle number. Absent owners are default_owner().
struct CircuitFileOptions {
  std::map<std::uint32_t, Party> owners = {};
  std::map<std::uint32_t, Receiver> receivers = {};
  Receiver other_receivers = Receiver::Both;

  // Widths of the input bundles of a file with truth tables, which is the only one that has no
  // widths itself; for how inputs are counted see file_check.h. Empty: all inputs are one bundle.
  std::vector<std::uint32_t> bundles = {};
};

// Named after the file, without its extension. generate() fails with UsageError if the file has
// changed: before the first gate if its length has, at the first line that does not fit, or behind
// the last gate. Fails: UsageError with file, line number and reason; also if an option does not
// fit the file.
std::unique_ptr<Circuit> open_circuit_file(const std::filesystem::path& file,
                                           const CircuitFileOptions& options = {});

// The same from a text that is already open.
std::unique_ptr<Circuit> read_circuit(std::shared_ptr<const TextSource> text,
                                      const std::string& name,
                                      const CircuitFileOptions& options = {});

}  // namespace tinyot::circuit
