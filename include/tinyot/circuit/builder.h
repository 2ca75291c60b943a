// The interface for generators: plain C++ functions over Bit that emit gates as they run. For
// integers see tinyot/circuit/integer.h, and the types of tinyot/circuit/word.h with operators.h.
//
// A Bit is a handle to a wire or a known constant. Handles are reference-counted: when the last
// handle to a wire is destroyed, the wire is freed. Constants are folded, so x ^ 0, x & 1, x ^ x
// and the like emit nothing. Wires and constants are public: a generator never sees a secret value.
//
// Lifetime: every handle is destroyed before its Builder; the sink outlives both. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tinyot/circuit/gate.h"
#include "tinyot/error.h"
#include "tinyot/export.h"

namespace tinyot::circuit {

class Builder;
class WireIds;

class Bit {
 public:
  Bit() = default;  // the constant 0
  explicit Bit(bool constant) : node_(constant) {}
  Bit(const Bit& other);
  Bit(Bit&& other) noexcept
      : builder_(std::exchange(other.builder_, nullptr)), node_(std::exchange(other.node_, 0)) {}
  Bit& operator=(const Bit& other) { return *this = Bit(other); }
  Bit& operator=(Bit&& other) noexcept;  // releases the old wire at once
  ~Bit();

  bool is_constant() const { return builder_ == nullptr; }
  // Fails: std::invalid_argument unless is_constant().
  bool constant() const {
    require(is_constant(), "constant() needs a constant, not a wire");
    return node_ != 0;
  }

  friend TINYOT_API Bit operator^(const Bit& x, const Bit& y);
  friend TINYOT_API Bit operator&(const Bit& x, const Bit& y);
  friend TINYOT_API Bit operator|(const Bit& x, const Bit& y);  // one AND, two XORs
  friend TINYOT_API Bit operator~(const Bit& x);
  friend Bit operator!=(const Bit& x, const Bit& y) { return x ^ y; }
  friend Bit operator==(const Bit& x, const Bit& y) { return ~(x ^ y); }
  Bit& operator^=(const Bit& y) { return *this = *this ^ y; }
  Bit& operator&=(const Bit& y) { return *this = *this & y; }
  Bit& operator|=(const Bit& y) { return *this = *this | y; }

 private:
  friend class Builder;
  Bit(Builder* builder, std::uint32_t node) : builder_(builder), node_(node) {}
  bool same_as(const Bit& other) const {
    return builder_ == other.builder_ && node_ == other.node_;
  }
  void release() noexcept;

  Builder* builder_ = nullptr;  // null: a constant, and node_ is its value
  std::uint32_t node_ = 0;
};

using Bits = std::vector<Bit>;
using BitSpan = std::span<const Bit>;

class Builder {
 public:
  // `info` has the widths of the bundles; it outlives the builder.
  TINYOT_API Builder(GateSink& sink, const CircuitInfo& info);
  TINYOT_API ~Builder();
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  // Bit `bit` of input bundle `bundle`, `count` bits from `first` on, or all of the bundle. The
  // stream may contain an input bit only once, so keep the handle. Request it late, so that its
  // wire is live for a short time.
  TINYOT_API Bit input_bit(std::uint32_t bundle, std::uint32_t bit);
  TINYOT_API Bits input_bits(std::uint32_t bundle, std::uint64_t first, std::uint64_t count);
  TINYOT_API Bits input(std::uint32_t bundle);

  // Call these for each bit of each output bundle exactly once.
  TINYOT_API void output_bit(std::uint32_t bundle, std::uint32_t bit, const Bit& value);
  TINYOT_API void output_bits(std::uint32_t bundle, std::uint64_t first, BitSpan bits);
  TINYOT_API void output(std::uint32_t bundle, BitSpan bits);

  // Makes the gates of `work` a group (gate.h), and returns its result. The wires made inside that
  // have a handle at the end are the group's results. Fails: UsageError beyond a limit of gate.h,
  // or in another group.
  template <class Work>
  auto group(Work work) {
    bracket(GateKind::GroupBegin);
    auto results = work();
    bracket(GateKind::GroupEnd);
    return results;
  }

  // That of the first bit that is a wire; null if all are constants.
  static Builder* of(BitSpan bits) {
    for (const Bit& bit : bits)
      if (!bit.is_constant()) return bit.builder_;
    return nullptr;
  }

 private:
  friend class Bit;
  friend TINYOT_API Bit operator^(const Bit& x, const Bit& y);
  friend TINYOT_API Bit operator&(const Bit& x, const Bit& y);
  friend TINYOT_API Bit operator~(const Bit& x);

  static constexpr std::uint32_t kEnd = ~std::uint32_t{0};

  Bit make(GateKind kind, std::uint64_t in0, std::uint64_t in1);
  void hold(std::uint32_t node) { ++nodes_[node]; }

  // Called by destructors, so it only queues the wire: the sink may throw when the next gate emits
  // the Free event.
  void drop(std::uint32_t node) noexcept {
    if (--nodes_[node] != 0) return;
    nodes_[node] = dead_;
    dead_ = node;
  }
  void free_dead();
  TINYOT_API void bracket(GateKind kind);

  class GroupSink;
  GateSink* sink_;  // in a group, one that checks the limits
  std::unique_ptr<GroupSink> group_;
  const CircuitInfo& info_;
  std::unique_ptr<WireIds> ids_;
  // By wire id: the handles to a wire or, once its Free event is pending, the next such wire.
  std::vector<std::uint32_t> nodes_;
  std::uint32_t dead_ = kEnd;
};

// The same in the builder of `bits`. Without wires among them, nothing is a group.
template <class Work>
auto group_of(BitSpan bits, Work work) {
  Builder* const builder = Builder::of(bits);
  return builder != nullptr ? builder->group(std::move(work)) : work();
}

inline Bit::Bit(const Bit& other) : builder_(other.builder_), node_(other.node_) {
  if (builder_ != nullptr) builder_->hold(node_);
}

inline void Bit::release() noexcept {
  if (builder_ != nullptr) builder_->drop(node_);
}

inline Bit::~Bit() { release(); }

inline Bit& Bit::operator=(Bit&& other) noexcept {
  if (this == &other) return *this;
  release();
  builder_ = std::exchange(other.builder_, nullptr);
  node_ = std::exchange(other.node_, 0);
  return *this;
}

}  // namespace tinyot::circuit
