// How many rounds a circuit has when it is layered with one window or another, from one generation
// that layers nothing. Memory: O(live wires).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "circuitgen/wire_ids.h"
#include "tinyot/circuit/gate.h"

namespace tinyot::circuit {

// Counts the rounds with ANDs, by window, of the gates that are emitted. Fails: std::logic_error by
// ENSURE on a malformed stream.
class WindowRounds final : public GateSink {
 public:
  static constexpr std::size_t kWindowsMost = 7;

  // At most kWindowsMost windows, in gates.
  explicit WindowRounds(std::span<const std::size_t> windows);
  void emit(const Gate& gate) override;

  std::uint64_t rounds(std::size_t window) const { return rounds_[window]; }
  std::uint64_t gates() const { return gates_; }

 private:
  // The rounds, from the first of the circuit on, after which a wire is known, by window. The last
  // element tells whether the wire is live.
  struct Wire {
    std::array<std::uint32_t, kWindowsMost + 1> after{};

    bool is_live() const { return after[kWindowsMost] != 0; }
    void set_live() { after[kWindowsMost] = 1; }
  };

  void count_gate();

  std::array<std::size_t, kWindowsMost> windows_{}, left_{};  // gates to the end of the window
  std::size_t count_;
  Wire begun_;  // the rounds before the current window
  std::array<std::uint32_t, kWindowsMost + 1> rounds_{};
  std::uint64_t gates_ = 0;
  WireTable<Wire> wires_;
};

// Of the circuit's first gates, at most `gates_most`. Fails: as the circuit's generation.
WindowRounds count_window_rounds(const Circuit& circuit, std::span<const std::size_t> windows,
                                 std::uint64_t gates_most);

}  // namespace tinyot::circuit
