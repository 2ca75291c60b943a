#include "tests/online/random_circuit.h"

#include <array>

#include "tests/support/brackets.h"
#include "tests/support/layers.h"

namespace tinyot::test {

RandomCircuit::RandomCircuit(std::uint64_t seed, std::size_t gates) {
  Rng rng(Seed{{seed, 4711}});
  info_ = {"random",
           {{"a", 5, InputSource::A, ValueFormat::Integer, false},
            {"b", 4, InputSource::B, ValueFormat::Integer, false},
            {"shared", 3, InputSource::A, ValueFormat::Integer, true}},
           {{"to_a", 4, Receiver::A, ValueFormat::Integer},
            {"to_b", 3, Receiver::B, ValueFormat::Integer},
            {"to_both", 5, Receiver::Both, ValueFormat::Integer}}};
  std::vector<WireId> live;
  WireId next = 0;
  for (std::size_t bundle = 0; bundle < info_.inputs.size(); ++bundle)
    for (std::size_t bit = 0; bit < info_.inputs[bundle].bits; ++bit) {
      gates_.push_back({GateKind::Input, next, bundle, bit});
      live.push_back(next++);
    }
  const auto any = [&] { return live[rng.below(live.size())]; };
  for (std::size_t i = 0; i < gates; ++i) {
    switch (rng.below(8)) {
      case 0:
        gates_.push_back({GateKind::Not, next, any(), 0});
        break;
      case 1:
        gates_.push_back({GateKind::Const, next, rng.below(2), 0});
        break;
      case 2:
      case 3:
        gates_.push_back({GateKind::Xor, next, any(), any()});
        break;
      default:
        gates_.push_back({GateKind::And, next, any(), any()});
        break;
    }
    live.push_back(next++);
    if (live.size() > 20 && rng.below(2) == 0) {
      const std::size_t victim = rng.below(live.size());
      gates_.push_back({GateKind::Free, 0, live[victim], 0});
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(victim));
    }
  }
  for (std::size_t bundle = 0; bundle < info_.outputs.size(); ++bundle)
    for (std::size_t bit = 0; bit < info_.outputs[bundle].bits; ++bit)
      gates_.push_back({GateKind::Output, bundle, any(), bit});
}

namespace {

// The frequency of each kind of gate, of 16: Xor, And, Not, Const in this order.
constexpr std::array<std::array<std::uint64_t, 4>, 5> kMixes = {
    {{5, 7, 2, 2}, {1, 14, 1, 0}, {10, 0, 4, 2}, {2, 2, 12, 0}, {6, 6, 0, 4}}};
constexpr std::array kKinds = {GateKind::Xor, GateKind::And, GateKind::Not, GateKind::Const};

}  // namespace

// Draws a circuit event by event.
class CircuitDrawer {
 public:
  explicit CircuitDrawer(std::uint64_t seed)
      : rng_(Seed{{seed, 4712}}), mix_(kMixes[below(kMixes.size())]), chain_(below(4) == 0) {
    draw_info();
    // Some bits never occur.
    for (std::size_t bundle = 0; bundle < info().inputs.size(); ++bundle)
      for (std::size_t bit = 0; bit < info().inputs[bundle].bits; ++bit)
        if (below(10) != 0) inputs_.push_back({GateKind::Input, 0, bundle, bit});
    for (std::size_t bundle = 0; bundle < info().outputs.size(); ++bundle)
      for (std::size_t bit = 0; bit < info().outputs[bundle].bits; ++bit)
        outputs_.push_back({GateKind::Output, bundle, 0, bit});
  }

  RandomCircuit draw() {
    const bool late = below(3) == 0;  // inputs among the gates
    while (!inputs_.empty() && !(late && below(4) == 0)) emit_input();
    if (live_.empty()) emit_gate(GateKind::Const);
    for (std::uint64_t left = below(4) == 0 ? below(5) : below(100); left > 0; --left) {
      if (!inputs_.empty() && below(8) == 0) emit_input();
      emit_gate(drawn_kind());
      if (!outputs_.empty() && below(16) == 0) emit_output();
      if (live_.size() > 12 && below(2) == 0) emit_free();
    }
    while (!inputs_.empty()) emit_input();
    while (!outputs_.empty()) emit_output();
    while (live_.size() > 1 && below(8) != 0) emit_free();
    if (below(2) == 0)
      circuit_.gates_ =
          with_groups(circuit_.gates_, [this](std::uint64_t bound) { return below(bound); });
    return std::move(circuit_);
  }

 private:
  CircuitInfo& info() { return circuit_.info_; }
  std::uint64_t below(std::uint64_t bound) { return rng_.below(bound); }

  void draw_info() {
    info().name = "random";
    // in quarters: the probability that a bundle is the same in all lanes
    const std::uint64_t common = below(5);
    for (const InputSource source : {InputSource::A, InputSource::B, InputSource::Public})
      for (std::uint64_t bundles = below(3); bundles > 0; --bundles)
        info().inputs.push_back({"in", static_cast<std::uint32_t>(1 + below(6)), source,
                                 ValueFormat::Integer, below(4) < common});
    for (std::uint64_t bundles = 1 + below(3); bundles > 0; --bundles)
      info().outputs.push_back({"out", static_cast<std::uint32_t>(1 + below(6)),
                                static_cast<Receiver>(below(3)), ValueFormat::Integer});
  }

  GateKind drawn_kind() {
    std::uint64_t at = below(16);
    std::size_t kind = 0;
    while (at >= mix_[kind]) at -= mix_[kind++];
    return kKinds[kind];
  }
  // In chains mostly the last wire.
  WireId any() { return chain_ && below(4) != 0 ? live_.back() : live_[below(live_.size())]; }
  void emit(const Gate& gate) { circuit_.gates_.push_back(gate); }
  void make_live(WireId wire) {
    live_.push_back(wire);
    next_ += 1 + below(3);  // ids need not be dense
  }
  template <class Element>
  Element take(std::vector<Element>& from) {
    const std::size_t at = below(from.size());
    const Element taken = from[at];
    from.erase(from.begin() + static_cast<std::ptrdiff_t>(at));
    return taken;
  }

  void emit_input() {
    Gate gate = take(inputs_);
    gate.out = next_;
    emit(gate);
    make_live(gate.out);
  }
  void emit_gate(GateKind kind) {
    if (kind == GateKind::Const)
      emit({kind, next_, below(2), 0});
    else if (kind == GateKind::Not)
      emit({kind, next_, any(), 0});
    else
      emit({kind, next_, any(), any()});
    make_live(next_);
  }
  void emit_output() {
    Gate gate = take(outputs_);
    gate.in0 = any();
    emit(gate);
  }
  void emit_free() { emit({GateKind::Free, 0, take(live_), 0}); }

  Rng rng_;
  RandomCircuit circuit_;
  std::array<std::uint64_t, 4> mix_;
  bool chain_;
  std::vector<Gate> inputs_, outputs_;  // not yet emitted
  std::vector<WireId> live_;
  WireId next_ = 0;
};

RandomCircuit RandomCircuit::of_any_shape(std::uint64_t seed) { return CircuitDrawer(seed).draw(); }

}  // namespace tinyot::test
