#include "circuitgen/fingerprint.h"

#include <array>
#include <string_view>

#include "circuitgen/canonical_stream.h"

namespace tinyot::circuit {
namespace {

class Encoder {
 public:
  explicit Encoder(ByteSink& out) : out_(out) {}

  void number(std::uint64_t value) {
    if (bytes_.size() - at_ < kNumberMax) flush();
    for (; value >= 0x80; value >>= 7) bytes_[at_++] = static_cast<std::byte>(value | 0x80);
    bytes_[at_++] = static_cast<std::byte>(value);
  }
  void text(std::string_view value) {
    number(value.size());
    flush();
    out_.add(std::as_bytes(std::span(value)));
  }
  void flush() {
    out_.add(std::span(bytes_).first(at_));
    at_ = 0;
  }

 private:
  static constexpr std::size_t kNumberMax = 10;

  ByteSink& out_;
  std::array<std::byte, 1 << 14> bytes_;
  std::size_t at_ = 0;
};

std::uint64_t code_of(GateKind kind) {
  return kind == GateKind::Xor ? 1 : kind == GateKind::And ? 2 : 3;
}

// In place of a gate, whose code is not 0.
constexpr std::uint64_t kGroupBegin = 4, kGroupEnd = 8;

// Of a canonical stream.
class FirstReceiver {
 public:
  FirstReceiver(const CircuitInfo& info, Encoder& encoder) : encoder_(encoder), counter_(info) {}

  void gate(const Gate& gate, Reference in0, Reference in1) {
    encoder_.number(4 * in0 + code_of(gate.kind));
    if (gate.kind != GateKind::Not) encoder_.number(in1);
    hash_.add(gate.kind, in0, in1);
    if (++record_.gates % GateRecord::kBlockGates == 0) record_.blocks.push_back(hash_.value());
    counter_.emit(gate);
  }
  void event(const Gate& gate) { counter_.emit(gate); }
  void begin_group() {
    encoder_.number(kGroupBegin);
    hash_.begin_group();
    counter_.emit({GateKind::GroupBegin, 0, 0, 0});
  }
  void end_group(std::span<const Reference> results) {
    encoder_.number(kGroupEnd);
    encoder_.number(results.size());
    for (const Reference result : results) encoder_.number(result);
    hash_.end_group(results);
    counter_.emit({GateKind::GroupEnd, 0, 0, 0});
  }
  void end_gates() { encoder_.number(0); }
  void output(const Gate&, Reference in) {
    encoder_.number(in);
    hash_.add(in);
  }

  FirstGeneration finish() {
    record_.end = hash_.value();
    return {counter_.cost(), std::move(record_)};
  }

 private:
  Encoder& encoder_;
  GateHash hash_;
  GateRecord record_;
  CostCounter counter_;
};

}  // namespace

void encode_interface(const CircuitInfo& info, ByteSink& out) {
  Encoder encoder(out);
  encoder.number(info.inputs.size());
  // All fields, by their number: a new one must have its place in the encoding. But types,
  // readings and conditions say only how a party writes its own values and which it may give, and a
  // file without them is the same circuit.
  for (const auto& [name, bits, source, format, same_in_all_lanes, type, reading, conditions] :
       info.inputs) {
    encoder.text(name);
    encoder.number(bits);
    encoder.text(name_of(source));
    encoder.text(name_of(format));
    encoder.text(same_in_all_lanes ? "common" : "lanes");
  }
  encoder.number(info.outputs.size());
  for (const auto& [name, bits, to, format, type, reading] : info.outputs) {
    encoder.text(name);
    encoder.number(bits);
    encoder.text(name_of(to));
    encoder.text(name_of(format));
  }
  encoder.flush();
}

void encode_built_in(const std::string& name, std::uint64_t revision, ByteSink& out) {
  Encoder encoder(out);
  encoder.text("built-in");
  encoder.text(name);
  encoder.number(revision);
  encoder.flush();
}

FirstGeneration encode_gates(const Circuit& circuit, ByteSink& out) {
  Encoder encoder(out);
  encoder.text("gates");
  FirstReceiver receiver(circuit.info(), encoder);
  CanonicalStream<FirstReceiver> stream(circuit.info(), receiver);
  circuit.generate(stream);
  receiver.end_gates();
  const bool has_all_outputs = stream.finish();
  ENSURE(has_all_outputs);
  encoder.flush();
  return receiver.finish();
}

}  // namespace tinyot::circuit
