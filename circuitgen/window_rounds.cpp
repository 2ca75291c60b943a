#include "circuitgen/window_rounds.h"

#include <algorithm>

#include "base/error.h"

namespace tinyot::circuit {
namespace {

// Passes on the first gates, and ends the generation after them.
class FirstGates final : public GateSink {
 public:
  struct Passed {};  // thrown

  FirstGates(WindowRounds& counter, std::uint64_t most) : counter_(counter), most_(most) {}
  void emit(const Gate& gate) override {
    if (counter_.gates() >= most_) {
      have_passed_ = true;
      throw Passed();
    }
    counter_.emit(gate);
  }
  bool have_passed() const { return have_passed_; }

 private:
  WindowRounds& counter_;
  std::uint64_t most_;
  bool have_passed_ = false;
};

}  // namespace

WindowRounds::WindowRounds(std::span<const std::size_t> windows) : count_(windows.size()) {
  ENSURE(count_ <= kWindowsMost && std::ranges::find(windows, std::size_t{0}) == windows.end());
  std::ranges::copy(windows, windows_.begin());
  left_ = windows_;
}

// A window ends with a gate, so the next one's wires are known after all rounds of it.
void WindowRounds::count_gate() {
  ++gates_;
  for (std::size_t i = 0; i < count_; ++i) {
    if (--left_[i] > 0) continue;
    left_[i] = windows_[i];
    begun_.after[i] = rounds_[i];
  }
}

void WindowRounds::emit(const Gate& gate) {
  if (gate.kind == GateKind::Free) {
    wires_.free(gate.in0);
    return;
  }
  if (gate.kind == GateKind::GroupBegin || gate.kind == GateKind::GroupEnd) return;
  Wire wire = begun_;
  const auto wait_for = [&](WireId operand) {
    const Wire& other = wires_.at(operand);
    for (std::size_t i = 0; i < kWindowsMost; ++i)
      wire.after[i] = std::max(wire.after[i], other.after[i]);
  };
  switch (gate.kind) {
    case GateKind::And:
      wait_for(gate.in0);
      wait_for(gate.in1);
      for (std::size_t i = 0; i < kWindowsMost; ++i)
        rounds_[i] = std::max(rounds_[i], ++wire.after[i]);
      break;
    case GateKind::Xor:
      wait_for(gate.in0);
      wait_for(gate.in1);
      break;
    case GateKind::Not:
    case GateKind::Output:
      wait_for(gate.in0);
      break;
    default:
      break;
  }
  if (gate.kind != GateKind::Output) wires_.make(gate.out, wire);
  count_gate();
}

WindowRounds count_window_rounds(const Circuit& circuit, std::span<const std::size_t> windows,
                                 std::uint64_t gates_most) {
  WindowRounds counter(windows);
  FirstGates first(counter, gates_most);
  try {
    circuit.generate(first);
  } catch (...) {
    // A function in another language may have made another exception of it.
    if (!first.have_passed()) throw;
  }
  return counter;
}

}  // namespace tinyot::circuit
