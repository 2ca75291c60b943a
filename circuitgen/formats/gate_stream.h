// Converts gates of a circuit file to a stream of gates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "circuitgen/formats/file_gate.h"
#include "circuitgen/formats/file_wires.h"
#include "circuitgen/formats/last_reads.h"
#include "circuitgen/formats/truth_table.h"
#include "circuitgen/wire_ids.h"
#include "tinyot/circuit/gate.h"

namespace tinyot::circuit {

// One pass over a file. The stream is well-formed for any gates; if they differ from those that
// were checked, a function returns false, and the caller must abandon the stream.
class GateStream {
 public:
  // `reads` outlives the stream.
  GateStream(GateSink& sink, const LastReads& reads) : sink_(sink), reads_(reads.bits) {}

  // Called in the order of the stream; an unread input is omitted.
  bool input(FileWire wire, std::uint32_t bundle, std::uint32_t bit, bool read);
  bool gate(const FileGate& gate);
  bool output(FileWire wire, std::uint32_t bundle, std::uint32_t bit);

  // All bits of the last reads have been used.
  bool complete() const { return next_read_ == reads_.size(); }

 private:
  struct Operand {
    FileWires::Place place;
    WireId id;
    bool last;
  };
  // A wire of a sum; `made`: created for the sum, so to be freed after it.
  struct Term {
    WireId id;
    bool made;
  };

  bool read(FileWire wire, bool last, Operand& operand);
  void release(const Operand& operand);
  bool write(FileWire wire, WireId id, bool read);
  WireId emit(GateKind kind, WireId in0, WireId in1);
  void free(WireId wire) {
    sink_.emit({GateKind::Free, 0, wire, 0});
    ids_.release(wire);
  }
  void free_made(const Term& term) {
    if (term.made) free(term.id);
  }

  bool binary(const FileGate& gate);
  bool make(const FileGate& gate);
  bool copy(const FileGate& gate);
  bool table(const FileGate& gate);
  Term sum(std::uint8_t terms);
  bool next_read() { return reads_[next_read_++]; }

  GateSink& sink_;
  const std::vector<bool>& reads_;
  std::size_t next_read_ = 0;
  WireIds ids_;
  FileWires wires_;
  std::vector<Operand> operands_;       // of the current gate
  std::array<WireId, 5> term_wires_{};  // of the current truth table: three inputs, two products
};

}  // namespace tinyot::circuit
