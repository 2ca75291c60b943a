// The language of generators: plain C++ functions over Bit that emit gates as they run. Integers:
// circuitgen/integer.h, and circuitgen/word.h over it.
//
// A Bit is a handle on a wire or a known constant. Handles are counted: when the last one of a wire
// dies, the wire is freed. What is known is folded, so x ^ 0, x & 1, x ^ x and the like emit
// nothing. Both are public knowledge: a generator never sees a value.
//
// Lifetime: every handle dies before its Builder, and the sink outlives both. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "circuitgen/gate.h"
#include "circuitgen/wire_ids.h"

namespace tinyot::circuit {

class Builder;

class Bit {
 public:
  Bit() = default;  // the constant 0
  explicit Bit(bool constant) : node_(constant) {}
  Bit(const Bit& other);
  Bit(Bit&& other) noexcept
      : builder_(std::exchange(other.builder_, nullptr)), node_(std::exchange(other.node_, 0)) {}
  Bit& operator=(const Bit& other) { return *this = Bit(other); }
  Bit& operator=(Bit&& other) noexcept;  // what this handle was on is let go at once
  ~Bit();

  bool is_constant() const { return builder_ == nullptr; }
  // Fails: std::logic_error by ENSURE unless is_constant().
  bool constant() const {
    ENSURE(is_constant());
    return node_ != 0;
  }

  friend Bit operator^(const Bit& x, const Bit& y);
  friend Bit operator&(const Bit& x, const Bit& y);
  friend Bit operator|(const Bit& x, const Bit& y);  // one AND, two XORs
  friend Bit operator~(const Bit& x);
  Bit& operator^=(const Bit& y) { return *this = *this ^ y; }
  Bit& operator&=(const Bit& y) { return *this = *this & y; }
  Bit& operator|=(const Bit& y) { return *this = *this | y; }

 private:
  friend class Builder;
  Bit(Builder* builder, std::uint32_t node) : builder_(builder), node_(node) {}
  bool same_as(const Bit& other) const {
    return builder_ == other.builder_ && node_ == other.node_;
  }
  void let_go() noexcept;

  Builder* builder_ = nullptr;  // null: a constant, and node_ is its value
  std::uint32_t node_ = 0;
};

using Bits = std::vector<Bit>;
using BitSpan = std::span<const Bit>;

class Builder {
 public:
  // `info` says how wide the bundles are; it outlives the builder.
  Builder(GateSink& sink, const CircuitInfo& info) : sink_(sink), info_(info) {}
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  // Bit `bit` of input bundle `bundle`, `count` bits from `first` on, or all of the bundle. The
  // stream may name an input bit only once, so keep the handle; the later it is asked for, the
  // shorter its wire lives.
  Bit input_bit(std::uint32_t bundle, std::uint32_t bit);
  Bits input_bits(std::uint32_t bundle, std::uint64_t first, std::uint64_t count);
  Bits input(std::uint32_t bundle);

  // Each bit of each output bundle exactly once.
  void output_bit(std::uint32_t bundle, std::uint32_t bit, const Bit& value);
  void output_bits(std::uint32_t bundle, std::uint64_t first, BitSpan bits);
  void output(std::uint32_t bundle, BitSpan bits);

 private:
  friend class Bit;
  friend Bit operator^(const Bit& x, const Bit& y);
  friend Bit operator&(const Bit& x, const Bit& y);
  friend Bit operator~(const Bit& x);

  // A wire that some handle is on, or that waits for its Free event, or an unused entry; by its id.
  struct Node {
    std::uint32_t handles;
    std::uint32_t next_dead;
  };
  static constexpr std::uint32_t kEnd = ~std::uint32_t{0};

  Bit make(GateKind kind, std::uint64_t in0, std::uint64_t in1);
  void hold(std::uint32_t node) { ++nodes_[node].handles; }

  // Runs in destructors, so it only queues: the sink may throw, and does so from the next gate.
  void drop(std::uint32_t node) noexcept {
    if (--nodes_[node].handles != 0) return;
    nodes_[node].next_dead = dead_;
    dead_ = node;
  }
  void free_dead();

  GateSink& sink_;
  const CircuitInfo& info_;
  WireIds ids_;
  std::vector<Node> nodes_;
  std::uint32_t dead_ = kEnd;
};

inline Bit::Bit(const Bit& other) : builder_(other.builder_), node_(other.node_) {
  if (builder_ != nullptr) builder_->hold(node_);
}

inline void Bit::let_go() noexcept {
  if (builder_ != nullptr) builder_->drop(node_);
}

inline Bit::~Bit() { let_go(); }

inline Bit& Bit::operator=(Bit&& other) noexcept {
  if (this == &other) return *this;
  let_go();
  builder_ = std::exchange(other.builder_, nullptr);
  node_ = std::exchange(other.node_, 0);
  return *this;
}

}  // namespace tinyot::circuit
