#include "tinyot/circuit/builder.h"

#include "base/error.h"
#include "circuitgen/wire_ids.h"

namespace tinyot::circuit {

Bit operator^(const Bit& x, const Bit& y) {
  if (x.is_constant()) return x.constant() ? ~y : y;
  if (y.is_constant()) return y.constant() ? ~x : x;
  if (x.same_as(y)) return Bit(false);
  ENSURE(x.builder_ == y.builder_);
  return x.builder_->make(GateKind::Xor, x.node_, y.node_);
}

Bit operator&(const Bit& x, const Bit& y) {
  if (x.is_constant()) return x.constant() ? y : Bit(false);
  if (y.is_constant()) return y.constant() ? x : Bit(false);
  if (x.same_as(y)) return x;
  ENSURE(x.builder_ == y.builder_);
  return x.builder_->make(GateKind::And, x.node_, y.node_);
}

Bit operator|(const Bit& x, const Bit& y) {
  if (x.is_constant()) return x.constant() ? Bit(true) : y;
  if (y.is_constant()) return y.constant() ? Bit(true) : x;
  if (x.same_as(y)) return x;
  return x ^ y ^ (x & y);
}

Bit operator~(const Bit& x) {
  if (x.is_constant()) return Bit(!x.constant());
  return x.builder_->make(GateKind::Not, x.node_, 0);
}

Builder::Builder(GateSink& sink, const CircuitInfo& info)
    : sink_(sink), info_(info), ids_(std::make_unique<WireIds>()) {}
Builder::~Builder() = default;

// Part of each gate: a call of its own would cost 3 % of the time of a circuit on one lane.
[[gnu::always_inline]] inline void Builder::free_dead() {
  while (dead_ != kEnd) {
    const std::uint32_t node = dead_;
    dead_ = nodes_[node];
    ids_->release(node);
    sink_.emit({GateKind::Free, 0, node, 0});
  }
}

Bit Builder::input_bit(std::uint32_t bundle, std::uint32_t bit) {
  ENSURE(bundle < info_.inputs.size() && bit < info_.inputs[bundle].bits);
  return make(GateKind::Input, bundle, bit);
}

Bits Builder::input_bits(std::uint32_t bundle, std::uint64_t first, std::uint64_t count) {
  ENSURE(bundle < info_.inputs.size() && first <= info_.inputs[bundle].bits &&
         count <= info_.inputs[bundle].bits - first);
  Bits bits;
  bits.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i)
    bits.push_back(make(GateKind::Input, bundle, first + i));
  return bits;
}

Bits Builder::input(std::uint32_t bundle) {
  ENSURE(bundle < info_.inputs.size());
  return input_bits(bundle, 0, info_.inputs[bundle].bits);
}

void Builder::output_bit(std::uint32_t bundle, std::uint32_t bit, const Bit& value) {
  ENSURE(bundle < info_.outputs.size() && bit < info_.outputs[bundle].bits);
  if (value.is_constant()) {
    const Bit wire = make(GateKind::Const, value.constant(), 0);
    return output_bit(bundle, bit, wire);
  }
  ENSURE(value.builder_ == this);
  free_dead();
  sink_.emit({GateKind::Output, bundle, value.node_, bit});
}

void Builder::output_bits(std::uint32_t bundle, std::uint64_t first, BitSpan bits) {
  ENSURE(bundle < info_.outputs.size() && first <= info_.outputs[bundle].bits &&
         bits.size() <= info_.outputs[bundle].bits - first);
  for (std::size_t i = 0; i < bits.size(); ++i)
    output_bit(bundle, static_cast<std::uint32_t>(first + i), bits[i]);
}

void Builder::output(std::uint32_t bundle, BitSpan bits) {
  ENSURE(bundle < info_.outputs.size() && bits.size() == info_.outputs[bundle].bits);
  output_bits(bundle, 0, bits);
}

Bit Builder::make(GateKind kind, std::uint64_t in0, std::uint64_t in1) {
  free_dead();
  const auto node = static_cast<std::uint32_t>(ids_->take());
  if (node >= nodes_.size()) [[unlikely]]
    nodes_.resize(ids_->limit());
  sink_.emit({kind, node, in0, in1});
  nodes_[node] = 1;
  return Bit(this, node);
}

void Builder::bracket(GateKind kind) {
  free_dead();
  sink_.emit({kind, 0, 0, 0});
}

}  // namespace tinyot::circuit
