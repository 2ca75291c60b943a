#include "engine/window_choice.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "circuitgen/window_rounds.h"

namespace tinyot::engine {
namespace {

constexpr net::MessageTag kWindow = net::message_tag("run.window");
constexpr std::uint64_t kCountedGates = std::uint64_t{1} << 26;
// What a doubling of the window adds to the computation, as measured on one machine.
constexpr double kDoublingCost = 0.1;
constexpr double kLeastSaving = 0.05;

// Up to the first that holds the whole circuit.
std::vector<std::size_t> windows_of(const LoadedCircuit& circuit,
                                    const online::OnlinePhaseEntry& phase) {
  std::vector<std::size_t> windows = phase.windows_for(circuit.lanes());
  const auto whole = std::ranges::find_if(
      windows, [&](std::size_t window) { return window >= circuit.cost().gates(); });
  if (whole != windows.end()) windows.erase(whole + 1, windows.end());
  return windows;
}

}  // namespace

std::size_t fastest_window(const LoadedCircuit& circuit, const online::OnlinePhaseEntry& phase,
                           AndMaterial form, std::chrono::nanoseconds round_trip) {
  const std::vector<std::size_t> windows = windows_of(circuit, phase);
  const circuit::CircuitCost& cost = circuit.cost();
  const double round_s =
      std::chrono::duration<double>(round_trip).count() / (form == AndMaterial::AandAot ? 1 : 2);
  const double computing_s = static_cast<double>(online::ands_for(phase, cost, circuit.lanes())) *
                             phase.and_s(circuit.lanes(), {});
  // No window has more rounds than the circuit is deep.
  const auto gates = static_cast<double>(cost.gates());
  const double rounds_most =
      static_cast<double>(cost.and_depth) * (gates / static_cast<double>(windows.front()) + 1);
  if (windows.size() == 1 || rounds_most * round_s < kLeastSaving * computing_s)
    return windows.front();
  const circuit::WindowRounds counted =
      circuit::count_window_rounds(circuit.circuit(), windows, kCountedGates);
  const double scale = std::max(gates / static_cast<double>(counted.gates()), 1.0);
  const auto expected_s = [&](std::size_t i) {
    return scale * static_cast<double>(counted.rounds(i)) * round_s +
           computing_s * (1 + kDoublingCost * static_cast<double>(i));
  };
  std::size_t fastest = 0;
  for (std::size_t i = 1; i < windows.size(); ++i)
    if (expected_s(i) < expected_s(fastest)) fastest = i;
  return windows[fastest];
}

std::size_t choose_window(net::Channel& channel, Party me, const LoadedCircuit& circuit,
                          const online::OnlinePhaseEntry& phase, AndMaterial form,
                          std::chrono::nanoseconds round_trip) {
  const std::vector<std::size_t> windows = windows_of(circuit, phase);
  if (windows.size() == 1) return windows.front();
  if (me == Party::B) {
    const auto told = net::recv_object<std::uint64_t>(channel, kWindow);
    if (std::ranges::find(windows, told) == windows.end())
      throw PeerCheated("framing: message run.window names no window of the phase");
    return told;
  }
  const std::size_t fastest = fastest_window(circuit, phase, form, round_trip);
  net::send_object(channel, kWindow, std::uint64_t{fastest});
  return fastest;
}

}  // namespace tinyot::engine
