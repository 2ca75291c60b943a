#include "circuitgen/builder.h"

#include <utility>

namespace tinyot {

Bit::Bit(const Bit& other) : builder_(other.builder_), node_(other.node_) {
  if (builder_ != nullptr) builder_->hold(node_);
}

Bit::Bit(Bit&& other) noexcept : builder_(std::exchange(other.builder_, nullptr)), node_(std::exchange(other.node_, 0)) {}

Bit& Bit::operator=(const Bit& other) {
  Bit copy(other);
  return *this = std::move(copy);
}

// Through a third handle, so that what this one held is let go at once and a move to itself changes nothing.
Bit& Bit::operator=(Bit&& other) noexcept {
  Bit taken(std::move(other));
  std::swap(builder_, taken.builder_);
  std::swap(node_, taken.node_);
  return *this;
}

Bit::~Bit() {
  if (builder_ != nullptr) builder_->drop(node_);
}

bool Bit::constant() const {
  ENSURE(is_constant());
  return node_ != 0;
}

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

std::vector<Bit> Builder::input(std::uint32_t bundle) {
  ENSURE(bundle < info_.inputs.size());
  std::vector<Bit> bits;
  bits.reserve(info_.inputs[bundle].bits);
  for (std::uint32_t bit = 0; bit < info_.inputs[bundle].bits; ++bit) bits.push_back(input_bit(bundle, bit));
  return bits;
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

void Builder::output(std::uint32_t bundle, std::span<const Bit> bits) {
  ENSURE(bundle < info_.outputs.size() && bits.size() == info_.outputs[bundle].bits);
  for (std::uint32_t bit = 0; bit < bits.size(); ++bit) output_bit(bundle, bit, bits[bit]);
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

// Runs in destructors, so it only queues: the sink may throw, and does so from the next gate.
void Builder::drop(std::uint32_t node) noexcept {
  if (--nodes_[node].handles != 0) return;
  nodes_[node].next = dead_;
  dead_ = node;
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
