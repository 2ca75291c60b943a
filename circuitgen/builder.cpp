#include "tinyot/circuit/builder.h"

#include <optional>
#include <string>

#include "circuitgen/group.h"
#include "circuitgen/wire_ids.h"

namespace tinyot::circuit {
namespace {

[[noreturn]] void refuse_other_circuit() {
  throw UsageError("a bit of another circuit, or of another call of its function, is used");
}

template <class Bundles>
void require_bits(const char* kind, const CircuitInfo& info, const Bundles& bundles,
                  std::uint32_t bundle, std::uint64_t first, std::uint64_t count) {
  if (bundle >= bundles.size())
    throw UsageError("circuit " + info.name + " has no " + kind + " " + std::to_string(bundle) +
                     ", it has " + std::to_string(bundles.size()));
  const std::uint32_t bits = bundles[bundle].bits;
  if (first > bits || count > bits - first)
    throw UsageError(std::string(kind) + " " + bundles[bundle].name + " of circuit " + info.name +
                     " has " + std::to_string(bits) + " bits, not " +
                     std::to_string(first + count));
}

}  // namespace

Bit operator^(const Bit& x, const Bit& y) {
  if (x.is_constant()) return x.constant() ? ~y : y;
  if (y.is_constant()) return y.constant() ? ~x : x;
  if (x.same_as(y)) return Bit(false);
  if (x.builder_ != y.builder_) [[unlikely]]
    refuse_other_circuit();
  return x.builder_->make(GateKind::Xor, x.node_, y.node_);
}

Bit operator&(const Bit& x, const Bit& y) {
  if (x.is_constant()) return x.constant() ? y : Bit(false);
  if (y.is_constant()) return y.constant() ? x : Bit(false);
  if (x.same_as(y)) return x;
  if (x.builder_ != y.builder_) [[unlikely]]
    refuse_other_circuit();
  return x.builder_->make(GateKind::And, x.node_, y.node_);
}

Bit operator|(const Bit& x, const Bit& y) {
  if (x.is_constant()) return x.constant() ? Bit(true) : y;
  if (y.is_constant()) return y.constant() ? Bit(true) : x;
  if (x.same_as(y)) return x;
  const Bit both = x & y;
  return x ^ y ^ both;
}

Bit operator~(const Bit& x) {
  if (x.is_constant()) return Bit(!x.constant());
  return x.builder_->make(GateKind::Not, x.node_, 0);
}

// Passes on the gates of a group. No gate reads a constant wire.
class Builder::GroupSink final : public GateSink {
 public:
  explicit GroupSink(GateSink& sink) : sink_(sink) {}

  GateSink& begin() {
    maker_.begin();
    return *this;
  }
  GateSink& end() {
    (void)maker_.end();
    return sink_;
  }
  bool is_open() const { return maker_.is_open(); }
  void pass(GateKind bracket) { sink_.emit({bracket, 0, 0, 0}); }

  void emit(const Gate& gate) override {
    switch (gate.kind) {
      case GateKind::Xor:
      case GateKind::And:
      case GateKind::Not:
        maker_.gate(gate, [](WireId) { return std::optional<bool>(); });
        break;
      case GateKind::Output:
        maker_.output(gate);
        break;
      case GateKind::Free:
        maker_.free(gate.in0);
        break;
      default:
        break;
    }
    sink_.emit(gate);
  }

 private:
  GateSink& sink_;
  GroupMaker maker_;
};

Builder::Builder(GateSink& sink, const CircuitInfo& info)
    : sink_(&sink), info_(info), ids_(std::make_unique<WireIds>()) {}
Builder::~Builder() = default;

// Part of each gate: a call of its own would cost 3 % of the time of a circuit on one lane.
[[gnu::always_inline]] inline void Builder::free_dead() {
  while (dead_ != kEnd) {
    const std::uint32_t node = dead_;
    dead_ = nodes_[node];
    ids_->release(node);
    sink_->emit({GateKind::Free, 0, node, 0});
  }
}

Bit Builder::input_bit(std::uint32_t bundle, std::uint32_t bit) {
  require_bits("input", info_, info_.inputs, bundle, bit, 1);
  return make(GateKind::Input, bundle, bit);
}

Bits Builder::input_bits(std::uint32_t bundle, std::uint64_t first, std::uint64_t count) {
  require_bits("input", info_, info_.inputs, bundle, first, count);
  Bits bits;
  bits.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i)
    bits.push_back(make(GateKind::Input, bundle, first + i));
  return bits;
}

Bits Builder::input(std::uint32_t bundle) {
  require_bits("input", info_, info_.inputs, bundle, 0, 0);
  return input_bits(bundle, 0, info_.inputs[bundle].bits);
}

void Builder::output_bit(std::uint32_t bundle, std::uint32_t bit, const Bit& value) {
  require_bits("output", info_, info_.outputs, bundle, bit, 1);
  if (value.is_constant()) {
    const Bit wire = make(GateKind::Const, value.constant(), 0);
    return output_bit(bundle, bit, wire);
  }
  if (value.builder_ != this) refuse_other_circuit();
  free_dead();
  sink_->emit({GateKind::Output, bundle, value.node_, bit});
}

void Builder::output_bits(std::uint32_t bundle, std::uint64_t first, BitSpan bits) {
  require_bits("output", info_, info_.outputs, bundle, first, bits.size());
  for (std::size_t i = 0; i < bits.size(); ++i)
    output_bit(bundle, static_cast<std::uint32_t>(first + i), bits[i]);
}

void Builder::output(std::uint32_t bundle, BitSpan bits) {
  require_bits("output", info_, info_.outputs, bundle, 0, bits.size());
  if (bits.size() != info_.outputs[bundle].bits)
    throw UsageError("output " + info_.outputs[bundle].name + " of circuit " + info_.name +
                     " has " + std::to_string(info_.outputs[bundle].bits) + " bits, not " +
                     std::to_string(bits.size()));
  output_bits(bundle, 0, bits);
}

Bit Builder::make(GateKind kind, std::uint64_t in0, std::uint64_t in1) {
  free_dead();
  const auto node = static_cast<std::uint32_t>(ids_->take());
  if (node >= nodes_.size()) [[unlikely]]
    nodes_.resize(ids_->limit());
  sink_->emit({kind, node, in0, in1});
  nodes_[node] = 1;
  return Bit(this, node);
}

void Builder::bracket(GateKind kind) {
  if (!group_) group_ = std::make_unique<GroupSink>(*sink_);
  if (kind == GateKind::GroupBegin && group_->is_open())
    throw UsageError("a group of gates is begun in another one");
  free_dead();
  sink_ = kind == GateKind::GroupBegin ? &group_->begin() : &group_->end();
  group_->pass(kind);
}

}  // namespace tinyot::circuit
