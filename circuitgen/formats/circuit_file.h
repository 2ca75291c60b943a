// Circuits in files: Bristol Fashion (https://nigelsmart.github.io/MPC-Circuits), the format that
// it replaced, and lists of gates with truth tables (Lindell, Pinkas, Smart, SCN 2008). The format
// is detected from the content (file_header.h); the lines are described in file_gate.h.
//
// A file is checked as a whole when it is opened, and read again by each generate(). Bundles are
// named "0", "1", ... and have the format Integer, unless the file has a description
// (file_description.h). In the old format "0" and "1" are the inputs, and a bundle without bits is
// omitted. Truth tables become the fewest possible ANDs
// (truth_table.h). Inputs come first in the stream, unread inputs are omitted, and a wire is freed
// after its last reader.
//
// Memory: three bits per gate, and O(live wires) more in generate(); one bit per wire while the
// file is opened.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "circuitgen/formats/text_source.h"
#include "tinyot/circuit/gate.h"

namespace tinyot::circuit {

// The source of an input bundle of a file that has no description, unless another is given.
constexpr InputSource default_source(std::uint32_t bundle) {
  return bundle == 1 ? InputSource::B : InputSource::A;
}

// Information that the file lacks, or that replaces its description, by the number of a bundle that
// has bits; in the old format 0 and 1 are the inputs. Otherwise sources are default_source(),
// and outputs are for both parties.
struct CircuitFileOptions {
  std::map<std::uint32_t, InputSource> sources = {};
  std::map<std::uint32_t, Receiver> receivers = {};
  std::optional<Receiver> other_receivers = {};

  // Widths of the input bundles of a file with truth tables, the only format that lacks them;
  // file_check.h defines the inputs. Empty: all inputs are one bundle.
  std::vector<std::uint32_t> bundles = {};
};

class CircuitFile : public Circuit {
 public:
  // Whether the file says who owns its inputs and who receives its outputs.
  virtual bool has_description() const = 0;
};

// Named after the file, without its extension. generate() fails with UsageError if the file has
// changed: before the first gate if its length has changed, at the first line that does not fit, or
// after the last gate. Fails: UsageError with file, line number and reason; also if an option does
// not fit the file.
std::unique_ptr<CircuitFile> open_circuit_file(const std::filesystem::path& file,
                                               const CircuitFileOptions& options = {});

// The same for a text that is already open.
std::unique_ptr<CircuitFile> read_circuit(std::shared_ptr<const TextSource> text,
                                          const std::string& name,
                                          const CircuitFileOptions& options = {});

}  // namespace tinyot::circuit
