// Circuits in the Bristol Fashion format (https://nigelsmart.github.io/MPC-Circuits), read and checked as a whole.
//
//   gates wires                          a header of three lines; blank lines anywhere, LF or CRLF
//   n width... (n input bundles)         the first wires, in order
//   n width... (n output bundles)        the last wires, in order
//   n_in n_out in... out... OPERATION    a gate a line
//
//   XOR, AND, INV    one gate each
//   EQW              out = in; only another name for the wire, costs nothing
//   EQ               out = the constant that stands in place of `in`, 0 or 1
//   MAND             out_i = in_i & in_(i + n_out): several ANDs, counted as one gate in the header
//
// Bundles are named "0", "1", ... and have the format Integer. Memory: 12 bytes a gate; while reading, 4 bytes a wire more.
#pragma once

#include <cstdint>
#include <filesystem>
#include <istream>
#include <map>
#include <string>
#include <vector>

#include "circuitgen/gate.h"

namespace tinyot {

// What a file does not say, by bundle number. Absent: input bundle 1 is B's, all others are A's; both learn every output.
struct BristolOptions {
  std::map<std::uint32_t, Party> owners;
  std::map<std::uint32_t, Receiver> receivers;
};

class BristolFashionCircuit final : public Circuit {
 public:
  // Named after the file, without its extension. Fails: UsageError with file, line number and reason; also if an option names a
  // bundle that the file does not have.
  explicit BristolFashionCircuit(const std::filesystem::path& file, const BristolOptions& options = {});

  // The same from `bytes` bytes of text that is already at hand; `name` stands for the file.
  BristolFashionCircuit(std::istream& text, std::uint64_t bytes, const std::string& name, const BristolOptions& options = {});

  const CircuitInfo& info() const override { return info_; }
  void generate(GateSink& sink) const override;

  // A gate by wires of the stream: input j is wire j, and each gate makes the next one. An input that nothing reads is left out
  // of the stream. The flags say which wires are read for the last time, or never.
  struct FileGate {
    std::uint32_t in0;
    std::uint32_t in1;
    GateKind kind;
    bool last_in0;
    bool last_in1;
    bool unread;
  };
  struct FileOutput {
    std::uint32_t wire;
    bool last;
  };

 private:
  void name_bundles(const std::vector<std::uint32_t>& inputs, const std::vector<std::uint32_t>& outputs, const std::string& file,
                    const BristolOptions& options);
  void find_last_readers();
  void load(std::istream& text, std::uint64_t bytes, const std::string& file, const BristolOptions& options);

  CircuitInfo info_;
  std::uint32_t input_wires_ = 0;
  std::vector<bool> input_read_;
  std::vector<FileGate> gates_;
  std::vector<FileOutput> outputs_;
};

}  // namespace tinyot
