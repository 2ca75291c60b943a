// The canonical form of a stream of gates: what a circuit's fingerprint and the check of its later
// generations are computed from, and the order in which it is evaluated.
//
// The gates, XOR, AND and NOT, and the brackets of groups stay in their order. What they read is
// said by references: 0 and 1 are the constants, 2 + 2j is bit j of the inputs (of all bundles, one
// after the other), and 1 + 2d is the gate d gates before the reader. An input or a constant is
// declared right before its first reader, a constant once, an input without readers not at all; the
// outputs come at the end, in the order of their bundles. So neither the numbers of wires nor
// copies nor the places of declarations, outputs and Free events in the given stream leave a trace,
// except in the places of Free events, and those in a group in its results.
//
// The order matters, too: the rounds of a run follow from it (layering.h), and the parties may have
// the same circuit from a file and from a function.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "circuitgen/group.h"
#include "circuitgen/wire_ids.h"
#include "tinyot/circuit/gate.h"

namespace tinyot::circuit {

using Reference = std::uint64_t;

// The first bit of each bundle in the concatenation of all; the last entry is the total.
template <class Bundles>
std::vector<std::uint64_t> first_bits_of(const Bundles& bundles) {
  std::vector<std::uint64_t> first(1, 0);
  for (const auto& bundle : bundles) first.push_back(first.back() + bundle.bits);
  return first;
}

// Converts the stream that it receives. The receiver has functions for the events of the canonical
// stream, whose wires have numbers of their own:
//
//   gate(gate, in0, in1)   an XOR, AND or NOT, with the references of its operands; of a NOT, in1
//                          is 0
//   event(gate)            an Input, Const or Free
//   begin_group(), end_group(results)
//                          brackets, with the references of the results as a gate after them reads
//                          them, in the order of the gates
//   output(gate, in)       an Output, with the reference of its wire as a gate at the end reads it
//
// Memory: 16 bytes for each live wire and output bit, a bit for each input bit; the wires of
// outputs live until the end. Fails: std::logic_error by ENSURE on a malformed stream; UsageError
// if a group is beyond a limit of gate.h.
template <class Receiver>
class CanonicalStream final : public GateSink {
 public:
  // `info` and `receiver` outlive this object.
  CanonicalStream(const CircuitInfo& info, Receiver& receiver)
      : receiver_(receiver), first_input_(first_bits_of(info.inputs)),
        first_output_(first_bits_of(info.outputs)), has_input_(first_input_.back(), false),
        outputs_(first_output_.back()) {}

  void emit(const Gate& gate) override {
    switch (gate.kind) {
      case GateKind::Xor:
      case GateKind::And:
        return binary(gate);
      case GateKind::Free:
        return free(gate.in0);
      case GateKind::GroupBegin:
        return begin_group();
      case GateKind::GroupEnd:
        return end_group();
      default:
        return rare(gate);
    }
  }

  // After the last event. False if the stream lacks an output.
  [[nodiscard]] bool finish() {
    ENSURE(!group_);
    for (std::uint64_t bundle = 0; bundle + 1 < first_output_.size(); ++bundle) {
      for (std::uint64_t at = first_output_[bundle]; at < first_output_[bundle + 1]; ++at) {
        Wire& wire = outputs_[at];
        if (!wire.is_live()) return false;
        const auto leaf = kept_inputs_.find(wire.reference);
        const bool is_declared = leaf != kept_inputs_.end() && leaf->second != kNone;
        const Id id = is_declared ? leaf->second : id_of(wire);
        receiver_.output(Gate{GateKind::Output, bundle, id, at - first_output_[bundle]},
                         relative(wire.reference));
      }
    }
    return true;
  }

 private:
  using Id = std::uint32_t;
  static constexpr Id kNone = ~Id{0};

  // A wire of the given stream: an absolute reference, in which the k-th gate is 3 + 2k, and the
  // number in the canonical stream, unless it is a leaf, an input or constant, that has none yet.
  // Two words, each written and read as one, so that a gate can read at once what the gate before
  // has written.
  struct Wire {
    Reference reference = 0;
    std::uint64_t word = 0;  // the number + 1, or 0; then kKept, if it is an output; then kLive

    static constexpr std::uint64_t kKept = std::uint64_t{1} << 32, kLive = kKept << 1;
    Id id() const { return static_cast<Id>(word) - 1; }
    void set_id(Id id) { word += id + std::uint64_t{1}; }
    bool is_kept() const { return (word & kKept) != 0; }
    bool is_live() const { return word >= kLive; }
    void set_live() { word |= kLive; }
  };
  static_assert(sizeof(Wire) == 16);
  static bool is_constant(Reference reference) { return reference <= 1; }
  static bool is_leaf(Reference reference) {
    return (reference & 1) == 0 || is_constant(reference);
  }
  Reference relative(Reference reference) const {
    return is_leaf(reference) ? reference : 2 * gates_ + 4 - reference;
  }

  void binary(const Gate& gate) {
    Wire &x = wires_.at(gate.in0), &y = wires_.at(gate.in1);
    const Id in0 = id_of(x), in1 = id_of(y);
    if (group_) [[unlikely]] {
      group_->read(x.reference);
      group_->read(y.reference);
      group_->ands += gate.kind == GateKind::And;
    }
    add_gate(Gate{gate.kind, 0, in0, in1}, gate.out, relative(x.reference), relative(y.reference));
  }
  void add_gate(Gate gate, WireId given, Reference in0, Reference in1) {
    gate.out = ids_.take();
    if (group_) [[unlikely]]
      group_->live.push_back(3 + 2 * gates_);
    wires_.make(given, {3 + 2 * gates_++, gate.out + 1});
    receiver_.gate(gate, in0, in1);
  }
  // The gates between two brackets, by absolute references.
  struct Group {
    explicit Group(Reference next) : first(next) {}
    void read(Reference reference) {
      const bool is_inside = !is_leaf(reference) && reference >= first;
      if (is_inside || is_constant(reference) || std::ranges::count(inputs, reference) > 0) return;
      inputs.push_back(reference);
    }

    Reference first;  // of the gates inside
    std::size_t ands = 0;
    std::vector<Reference> inputs, live;
  };
  [[gnu::noinline]] void begin_group() {
    ENSURE(!group_);
    group_.emplace(3 + 2 * gates_);
    receiver_.begin_group();
  }
  [[gnu::noinline]] void end_group() {
    ENSURE(group_);
    require_group_size(group_->inputs.size(), group_->ands, group_->live.size());
    for (Reference& result : group_->live) result = relative(result);
    receiver_.end_group(std::span<const Reference>(group_->live));
    group_.reset();
  }
  void free(WireId given) {
    const Wire wire = wires_.free(given);
    if (group_ && !wire.is_kept()) [[unlikely]]
      std::erase(group_->live, wire.reference);
    const Id id = wire.id();
    if (id == kNone || wire.is_kept() || is_constant(wire.reference)) return;
    receiver_.event(Gate{GateKind::Free, 0, id, 0});
    ids_.release(id);
  }

  Id id_of(Wire& wire) {
    if (wire.id() == kNone) [[unlikely]]
      declare(wire);
    return wire.id();
  }
  [[gnu::noinline]] void declare(Wire& wire) {
    if (is_constant(wire.reference)) {
      Id& id = constants_[wire.reference];
      if (id == kNone) id = make(GateKind::Const, wire.reference, 0);
      return wire.set_id(id);
    }
    const std::uint64_t bit = wire.reference / 2 - 1;
    const auto after = std::ranges::upper_bound(first_input_, bit);
    const auto bundle = static_cast<std::uint64_t>(after - first_input_.begin()) - 1;
    wire.set_id(make(GateKind::Input, bundle, bit - first_input_[bundle]));
    if (wire.is_kept()) kept_inputs_[wire.reference] = wire.id();
  }
  Id make(GateKind kind, std::uint64_t in0, std::uint64_t in1) {
    const WireId id = ids_.take();
    receiver_.event(Gate{kind, id, in0, in1});
    return static_cast<Id>(id);
  }

  [[gnu::noinline]] void rare(const Gate& gate) {
    switch (gate.kind) {
      case GateKind::Not: {
        Wire& x = wires_.at(gate.in0);
        const Id in0 = id_of(x);
        if (group_) group_->read(x.reference);
        return add_gate(Gate{GateKind::Not, 0, in0, 0}, gate.out, relative(x.reference), 0);
      }
      case GateKind::Const:
        ENSURE(gate.in0 <= 1);
        return wires_.make(gate.out, {gate.in0});
      case GateKind::Input: {
        const std::uint64_t bit = place(first_input_, gate.in0, gate.in1);
        ENSURE(!has_input_[bit]);
        has_input_[bit] = true;
        return wires_.make(gate.out, {2 + 2 * bit});
      }
      default: {
        Wire& output = outputs_[place(first_output_, gate.out, gate.in1)];
        ENSURE(!output.is_live());
        Wire& wire = wires_.at(gate.in0);
        wire.word |= Wire::kKept;
        if (is_leaf(wire.reference) && !is_constant(wire.reference))
          kept_inputs_[wire.reference] = wire.id();
        output = wire;
      }
    }
  }
  static std::uint64_t place(const std::vector<std::uint64_t>& first, std::uint64_t bundle,
                             std::uint64_t bit) {
    ENSURE(bundle + 1 < first.size() && bit < first[bundle + 1] - first[bundle]);
    return first[bundle] + bit;
  }

  Receiver& receiver_;
  const std::vector<std::uint64_t> first_input_, first_output_;
  std::vector<bool> has_input_;
  std::vector<Wire> outputs_;
  // The inputs that are outputs as well, with their numbers: a gate may read them after the output
  // has been given.
  std::unordered_map<Reference, Id> kept_inputs_;
  std::array<Id, 2> constants_ = {kNone, kNone};
  WireTable<Wire> wires_;
  WireIds ids_;
  std::uint64_t gates_ = 0;
  std::optional<Group> group_;
};

}  // namespace tinyot::circuit
