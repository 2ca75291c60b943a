// The language of generators: plain C++ functions over Bit and Word<n> that emit gates as they run.
//
// A Bit is a handle on a wire or a known constant. Handles are counted: when the last one of a wire dies, the wire is freed.
// What is known is folded, so x ^ 0, x & 1, x ^ x and the like emit nothing. Both are public knowledge: a generator never
// sees a value.
//
// Lifetime: every handle dies before its Builder, and the sink outlives both. One thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "circuitgen/gate.h"

namespace tinyot {

class Builder;

class Bit {
 public:
  Bit() = default;  // the constant 0
  explicit Bit(bool constant) : node_(constant) {}
  Bit(const Bit& other);
  Bit(Bit&& other) noexcept;
  Bit& operator=(const Bit& other);
  Bit& operator=(Bit&& other) noexcept;
  ~Bit();

  bool is_constant() const { return builder_ == nullptr; }
  // Fails: std::logic_error by ENSURE unless is_constant().
  bool constant() const;

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
  bool same_as(const Bit& other) const { return builder_ == other.builder_ && node_ == other.node_; }

  Builder* builder_ = nullptr;  // null: a constant, and node_ is its value
  std::uint32_t node_ = 0;
};

// `n` bits, bit 0 the lowest. Operators work bit by bit.
template <std::size_t n>
class Word {
 public:
  Word() = default;  // zero
  explicit Word(std::span<const Bit> bits) {
    ENSURE(bits.size() == n);
    std::copy(bits.begin(), bits.end(), bits_.begin());
  }
  // The constant `value`; bits from 64 on are 0.
  static Word constant(std::uint64_t value) {
    Word word;
    for (std::size_t i = 0; i < n && i < 64; ++i) word[i] = Bit(((value >> i) & 1) != 0);
    return word;
  }

  static constexpr std::size_t size() { return n; }
  Bit& operator[](std::size_t i) { return bits_[i]; }
  const Bit& operator[](std::size_t i) const { return bits_[i]; }
  std::span<const Bit> bits() const { return bits_; }

  friend Word operator^(const Word& x, const Word& y) {
    Word z;
    for (std::size_t i = 0; i < n; ++i) z[i] = x[i] ^ y[i];
    return z;
  }
  friend Word operator&(const Word& x, const Word& y) {
    Word z;
    for (std::size_t i = 0; i < n; ++i) z[i] = x[i] & y[i];
    return z;
  }
  friend Word operator|(const Word& x, const Word& y) {
    Word z;
    for (std::size_t i = 0; i < n; ++i) z[i] = x[i] | y[i];
    return z;
  }
  friend Word operator~(const Word& x) {
    Word z;
    for (std::size_t i = 0; i < n; ++i) z[i] = ~x[i];
    return z;
  }
  Word& operator^=(const Word& y) { return *this = *this ^ y; }
  Word& operator&=(const Word& y) { return *this = *this & y; }
  Word& operator|=(const Word& y) { return *this = *this | y; }

  // Rotations by `count` places, any count: towards the high bits, towards the low bits.
  friend Word rotated_left(const Word& x, std::size_t count) {
    Word z;
    for (std::size_t i = 0; i < n; ++i) z[(i + count) % n] = x[i];
    return z;
  }
  friend Word rotated_right(const Word& x, std::size_t count) { return rotated_left(x, n - count % n); }

 private:
  std::array<Bit, n> bits_;
};

class Builder {
 public:
  // `info` says how wide the bundles are; it outlives the builder.
  Builder(GateSink& sink, const CircuitInfo& info) : sink_(sink), info_(info) {}
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  // Bit `bit` of input bundle `bundle`, or all of the bundle. The stream may name an input bit only once, so keep the handle.
  Bit input_bit(std::uint32_t bundle, std::uint32_t bit);
  std::vector<Bit> input(std::uint32_t bundle);
  template <std::size_t n>
  Word<n> input_word(std::uint32_t bundle) {
    return Word<n>(input(bundle));
  }

  // Each bit of each output bundle exactly once.
  void output_bit(std::uint32_t bundle, std::uint32_t bit, const Bit& value);
  void output(std::uint32_t bundle, std::span<const Bit> bits);

 private:
  friend class Bit;
  friend Bit operator^(const Bit& x, const Bit& y);
  friend Bit operator&(const Bit& x, const Bit& y);
  friend Bit operator~(const Bit& x);

  // A wire that some handle is on, or that waits for its Free event, or an unused entry.
  struct Node {
    WireId wire;
    std::uint32_t handles;
    std::uint32_t next;  // in the chain of dead or of unused nodes
  };
  static constexpr std::uint32_t kEnd = ~std::uint32_t{0};

  Bit make(GateKind kind, std::uint64_t in0, std::uint64_t in1);
  WireId wire_of(const Bit& bit) const { return nodes_[bit.node_].wire; }
  void hold(std::uint32_t node) { ++nodes_[node].handles; }
  void drop(std::uint32_t node) noexcept;
  void free_dead();

  GateSink& sink_;
  const CircuitInfo& info_;
  WireId next_wire_ = 0;
  std::vector<Node> nodes_;
  std::uint32_t dead_ = kEnd;
  std::uint32_t unused_ = kEnd;
};

}  // namespace tinyot
