// The cost of a circuit, counted from its stream. Memory: O(live wires).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "circuitgen/group.h"
#include "circuitgen/wire_ids.h"
#include "tinyot/circuit/gate.h"

namespace tinyot::circuit {

// Counts of one lane. Gates that are the same in all lanes are included, and also counted
// separately as invariant: they are evaluated once, whatever the number of lanes.
struct CircuitCost {
  std::uint64_t ands = 0;
  std::uint64_t invariant_ands = 0;
  std::uint64_t invariant_xors = 0;
  std::uint64_t xors = 0;
  std::uint64_t nots = 0;
  std::uint64_t and_depth =
      0;  // most ANDs on a path: the number of rounds if the window is large enough

  // With each group as one gate, of one round: the masked triples, one for each AND outside of
  // groups and for each product of a group. All lanes of a group's results are the same if those of
  // all its inputs are.
  std::uint64_t groups = 0;  // that have results
  std::uint64_t products = 0;
  std::uint64_t invariant_products = 0;
  std::uint64_t product_depth = 0;  // most ANDs and groups on a path
  std::uint64_t group_parts = 0;    // of all groups (group.h)

  // Bits of the bundles, whether a gate reads them or not.
  std::array<std::uint64_t, 2> input_bits{};  // by owner, see input_bits_of
  std::uint64_t output_bits = 0;

  std::uint64_t gates() const { return ands + xors + nots; }

  // Gates evaluated for `lanes` lanes.
  std::uint64_t ands_of(std::size_t lanes) const {
    return lanes == 1 ? ands : invariant_ands + (ands - invariant_ands) * lanes;
  }
  std::uint64_t products_of(std::size_t lanes) const {
    return lanes == 1 ? products : invariant_products + (products - invariant_products) * lanes;
  }
  std::uint64_t xors_of(std::size_t lanes) const {
    return lanes == 1 ? xors : invariant_xors + (xors - invariant_xors) * lanes;
  }

  std::uint64_t input_bits_of(Party owner) const {
    return input_bits[static_cast<std::size_t>(owner)];
  }
};

// Counts the gates of a stream of `info` as they are emitted. Fails: std::logic_error by ENSURE on
// a malformed stream.
class CostCounter final : public GateSink {
 public:
  explicit CostCounter(const CircuitInfo& info);
  void emit(const Gate& gate) override;
  const CircuitCost& cost() const { return cost_; }

 private:
  // With groups as gates, and as products.
  struct Wire {
    std::uint32_t depth = 0, product_depth = 0;
    bool invariant = false, product_invariant = false;
    bool live = false;
    std::optional<bool> constant = {};

    bool is_live() const { return live; }
    void set_live() { live = true; }
  };
  static Wire joined(const Wire& x, const Wire& y);
  void make(const Gate& gate);
  void end_group();

  const CircuitInfo& info_;
  CircuitCost cost_;
  WireTable<Wire> wires_;
  GroupMaker groups_;
  Wire group_;  // a result of the open one
};

// Fails: as CostCounter.
CircuitCost cost_of(const Circuit& circuit);

// The same for a circuit of at most `gates_max` ANDs and XORs; empty for a larger circuit, whose
// generation stops at that number.
std::optional<CircuitCost> cost_within(const Circuit& circuit, std::uint64_t gates_max);
// Likewise for a circuit of at most `ands_max` ANDs.
std::optional<CircuitCost> cost_within_ands(const Circuit& circuit, std::uint64_t ands_max);

}  // namespace tinyot::circuit
