#include "circuitgen/builder.h"

namespace tinyot {

Bit operator^(const Bit& x, const Bit& y) {
  if (x.is_constant()) return x.constant() ? ~y : y;
  if (y.is_constant()) return y.constant() ? ~x : x;
  if (x.same_as(y)) return Bit(false);
  ENSURE(x.builder_ == y.builder_);
  return x.builder_->make(GateKind::Xor, x.builder_->wire_of(x), x.builder_->wire_of(y));
}

Bit operator&(const Bit& x, const Bit& y) {
  if (x.is_constant()) return x.constant() ? y : Bit(false);
  if (y.is_constant()) return y.constant() ? x : Bit(false);
  if (x.same_as(y)) return x;
  ENSURE(x.builder_ == y.builder_);
  return x.builder_->make(GateKind::And, x.builder_->wire_of(x), x.builder_->wire_of(y));
}

Bit operator|(const Bit& x, const Bit& y) {
  if (x.is_constant()) return x.constant() ? Bit(true) : y;
  if (y.is_constant()) return y.constant() ? Bit(true) : x;
  if (x.same_as(y)) return x;
  return x ^ y ^ (x & y);
}

Bit operator~(const Bit& x) {
  if (x.is_constant()) return Bit(!x.constant());
  return x.builder_->make(GateKind::Not, x.builder_->wire_of(x), 0);
}

Bit Builder::input_bit(std::uint32_t bundle, std::uint32_t bit) {
  ENSURE(bundle < info_.inputs.size() && bit < info_.inputs[bundle].bits);
  return make(GateKind::Input, bundle, bit);
}

Bits Builder::input_bits(std::uint32_t bundle, std::uint64_t first, std::uint64_t count) {
  ENSURE(bundle < info_.inputs.size() && first <= info_.inputs[bundle].bits && count <= info_.inputs[bundle].bits - first);
  Bits bits;
  bits.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) bits.push_back(make(GateKind::Input, bundle, first + i));
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
  sink_.emit({GateKind::Output, bundle, wire_of(value), bit});
}

void Builder::output_bits(std::uint32_t bundle, std::uint64_t first, BitSpan bits) {
  ENSURE(bundle < info_.outputs.size() && first <= info_.outputs[bundle].bits && bits.size() <= info_.outputs[bundle].bits - first);
  for (std::size_t i = 0; i < bits.size(); ++i) output_bit(bundle, static_cast<std::uint32_t>(first + i), bits[i]);
}

void Builder::output(std::uint32_t bundle, BitSpan bits) {
  ENSURE(bundle < info_.outputs.size() && bits.size() == info_.outputs[bundle].bits);
  output_bits(bundle, 0, bits);
}

Bit Builder::make(GateKind kind, std::uint64_t in0, std::uint64_t in1) {
  free_dead();
  sink_.emit({kind, next_wire_, in0, in1});
  std::uint32_t node = unused_;
  if (node == kEnd) {
    ENSURE(nodes_.size() < kEnd);
    node = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
  } else {
    unused_ = nodes_[node].next;
  }
  nodes_[node] = {next_wire_++, 1, kEnd};
  return Bit(this, node);
}

void Builder::free_dead() {
  while (dead_ != kEnd) {
    const std::uint32_t node = dead_;
    dead_ = nodes_[node].next;
    nodes_[node].next = unused_;
    unused_ = node;
    sink_.emit({GateKind::Free, 0, nodes_[node].wire, 0});
  }
}

}  // namespace tinyot
