#include "circuitgen/formats/bristol_writer.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "circuitgen/wire_ids.h"

namespace tinyot::circuit {
namespace {

struct GateCounts {
  std::uint64_t made = 0;  // gates that write a new wire
  std::uint64_t outputs = 0;
};

class CountSink final : public GateSink {
 public:
  void emit(const Gate& gate) override {
    if (gate.kind == GateKind::Output) ++counts.outputs;
    if (gate.kind != GateKind::Output && gate.kind != GateKind::Input && gate.kind < GateKind::Free)
      ++counts.made;
  }
  GateCounts counts;
};

// Writes numbers and words, separated by blanks, in large blocks.
class LineWriter {
 public:
  explicit LineWriter(std::ostream& out) : out_(out) {}

  LineWriter& number(std::uint64_t value) {
    make_room();
    at_ = static_cast<std::size_t>(
        std::to_chars(text_.data() + at_, text_.data() + text_.size(), value).ptr - text_.data());
    text_[at_++] = ' ';
    return *this;
  }
  void end(std::string_view last_word = {}) {
    make_room();
    at_ += last_word.copy(text_.data() + at_, last_word.size());
    text_[at_++] = '\n';
  }
  void flush() {
    out_.write(text_.data(), static_cast<std::streamsize>(at_));
    at_ = 0;
  }

 private:
  static constexpr std::size_t kLongestWord = 32;
  void make_room() {
    if (text_.size() - at_ < kLongestWord) flush();
  }

  std::ostream& out_;
  std::array<char, 1 << 16> text_;
  std::size_t at_ = 0;
};

// The offset of each bundle in their concatenation; the last entry is the total.
template <class Bundles>
std::vector<std::uint64_t> offsets_of(const Bundles& bundles) {
  std::vector<std::uint64_t> offsets(1, 0);
  for (const auto& bundle : bundles) offsets.push_back(offsets.back() + bundle.bits);
  return offsets;
}

class BristolWriter final : public GateSink {
 public:
  BristolWriter(const CircuitInfo& info, const GateCounts& counts, std::ostream& out)
      : info_(info), counts_(counts), inputs_(offsets_of(info.inputs)),
        outputs_(offsets_of(info.outputs)), lines_(out), next_wire_(inputs_.back()),
        first_output_(inputs_.back() + counts.made) {
    ENSURE(counts.outputs == outputs_.back());
    lines_.number(counts.made + counts.outputs).number(first_output_ + counts.outputs).end();
    write_widths(info.inputs);
    write_widths(info.outputs);
    lines_.end();
  }

  void emit(const Gate& gate) override {
    switch (gate.kind) {
      case GateKind::Input:
        ENSURE(gate.in0 < info_.inputs.size() && gate.in1 < info_.inputs[gate.in0].bits);
        return name(gate.out, inputs_[gate.in0] + gate.in1);
      case GateKind::Const:
        return write_unary(gate.in0, gate.out, "EQ");
      case GateKind::Not:
        return write_unary(file_wire(gate.in0), gate.out, "INV");
      case GateKind::Xor:
      case GateKind::And:
        lines_.number(2)
            .number(1)
            .number(file_wire(gate.in0))
            .number(file_wire(gate.in1))
            .number(next_wire_);
        lines_.end(gate.kind == GateKind::Xor ? "XOR" : "AND");
        return name(gate.out, next_wire_++);
      case GateKind::Output:
        ENSURE(gate.out < info_.outputs.size() && gate.in1 < info_.outputs[gate.out].bits);
        ++outputs_written_;
        lines_.number(1)
            .number(1)
            .number(file_wire(gate.in0))
            .number(first_output_ + outputs_[gate.out] + gate.in1)
            .end("EQW");
        return;
      case GateKind::Free:
        file_wires_.free(gate.in0);
        return;
      case GateKind::GroupBegin:
      case GateKind::GroupEnd:
        return;
    }
  }

  void finish() {
    ENSURE(next_wire_ == first_output_ && outputs_written_ == counts_.outputs);
    lines_.flush();
  }

 private:
  template <class Bundles>
  void write_widths(const Bundles& bundles) {
    std::uint64_t count = 0;
    for (const auto& bundle : bundles) count += bundle.bits > 0;
    lines_.number(count);
    for (const auto& bundle : bundles) {
      if (bundle.bits > 0) lines_.number(bundle.bits);
    }
    lines_.end();
  }

  void write_unary(std::uint64_t in, WireId out, std::string_view operation) {
    lines_.number(1).number(1).number(in).number(next_wire_).end(operation);
    name(out, next_wire_++);
  }

  struct FileWire {
    std::uint64_t number = 0;
    bool live = false;

    bool is_live() const { return live; }
    void set_live() { live = true; }
  };

  std::uint64_t file_wire(WireId id) const { return file_wires_.at(id).number; }
  void name(WireId id, std::uint64_t wire) { file_wires_.make(id, {wire}); }

  const CircuitInfo& info_;
  const GateCounts counts_;
  const std::vector<std::uint64_t> inputs_, outputs_;
  LineWriter lines_;
  std::uint64_t next_wire_;
  const std::uint64_t first_output_;
  std::uint64_t outputs_written_ = 0;
  WireTable<FileWire> file_wires_;
};

}  // namespace

void write_bristol_fashion(const Circuit& circuit, std::ostream& out) {
  CountSink count;
  circuit.generate(count);
  BristolWriter writer(circuit.info(), count.counts, out);
  circuit.generate(writer);
  writer.finish();
}

}  // namespace tinyot::circuit
