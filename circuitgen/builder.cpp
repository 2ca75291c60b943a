#include "circuitgen/builder.h"

#include <bit>

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

std::uint32_t Builder::take_node() {
  // One in eight stays unused, so that the search costs a constant a node.
  if (8 * unused_count_ <= nodes_.size()) [[unlikely]] grow();
  while (unused_[cursor_] == 0) cursor_ = cursor_ + 1 == unused_.size() ? 0 : cursor_ + 1;
  const int bit = std::countr_zero(unused_[cursor_]);
  unused_[cursor_] &= unused_[cursor_] - 1;
  --unused_count_;
  return static_cast<std::uint32_t>(cursor_ * 64 + static_cast<std::size_t>(bit));
}

void Builder::grow() {
  cursor_ = unused_.size();
  unused_.resize(unused_.size() + 1 + unused_.size() / 8, ~std::uint64_t{0});
  unused_count_ += 64 * (unused_.size() - cursor_);
  nodes_.resize(64 * unused_.size());
  ENSURE(nodes_.size() < kEnd);
}

Bit Builder::make(GateKind kind, std::uint64_t in0, std::uint64_t in1) {
  free_dead();
  sink_.emit({kind, next_wire_, in0, in1});
  const std::uint32_t node = take_node();
  nodes_[node] = {next_wire_++, 1, kEnd};
  return Bit(this, node);
}

void Builder::free_dead() {
  while (dead_ != kEnd) {
    const std::uint32_t node = dead_;
    dead_ = nodes_[node].next_dead;
    unused_[node / 64] |= std::uint64_t{1} << (node % 64);
    ++unused_count_;
    sink_.emit({GateKind::Free, 0, nodes_[node].wire, 0});
  }
}

}  // namespace tinyot
