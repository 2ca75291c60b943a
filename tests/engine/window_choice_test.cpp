// Which window a run has that asks for none.
#include "engine/window_choice.h"

#include <gtest/gtest.h>

#include "tests/support/two_parties.h"

namespace tinyot::test {
namespace {

using engine::choose_window;
using engine::LoadedCircuit;
using std::chrono::microseconds;
using namespace std::chrono_literals;

constexpr std::size_t kDefault = std::size_t{1} << 20;

const online::OnlinePhaseEntry& phase_named(OnlinePhase phase) {
  return *online::phases_on(AndMaterial::Garbling, phase).front();
}
const online::OnlinePhaseEntry& interactive() { return phase_named(OnlinePhase::Interactive); }

// What A chooses and B is told, and the number of messages.
struct Chosen {
  std::size_t window, messages;
};
Chosen chosen(const LoadedCircuit& circuit, microseconds round_trip,
              const online::OnlinePhaseEntry& phase = interactive()) {
  std::array<std::size_t, 2> windows{};
  std::size_t messages = 0;
  run_channels([&](Party me, Channel& channel) {
    windows[static_cast<std::size_t>(me)] = choose_window(
        channel, me, circuit, phase, AndMaterial::Triples, me == Party::A ? round_trip : 0us);
    if (me == Party::A) messages = channel.counters().messages_sent;
  });
  EXPECT_EQ(windows[0], windows[1]);
  return {windows[0], messages};
}

// Independent chains, one after the other: a window takes as many of them as it holds.
LoadedCircuit chains() { return *LoadedCircuit::generated("aes128_gcm:bytes=2560", 1); }

TEST(WindowChoice, IsLargerOnSlowLinks) {
  const LoadedCircuit circuit = chains();
  ASSERT_GT(circuit.cost().gates(), 4 * kDefault);
  EXPECT_EQ(chosen(circuit, 0us).window, kDefault);
  EXPECT_EQ(chosen(circuit, 100us).window, kDefault);
  EXPECT_EQ(chosen(circuit, 20'000us).window, 8 * kDefault);
  EXPECT_EQ(chosen(circuit, 20'000us).messages, 1u);
}

TEST(WindowChoice, IsTheDefaultIfFewRoundsAreSaved) {
  EXPECT_EQ(chosen(chains(), 1'000us).window, 8 * kDefault);
  // Each layer needs the one before: a window costs a round at most.
  const auto layers = *LoadedCircuit::generated("random:width=4096,depth=400", 1);
  ASSERT_GT(layers.cost().gates(), 3 * kDefault);
  EXPECT_EQ(chosen(layers, 1'000us).window, kDefault);
}

TEST(WindowChoice, NothingIsSaidOfASmallCircuitOrOfAPhaseWithOneWindow) {
  const Chosen small = chosen(*LoadedCircuit::generated("aes128", 1), 100'000us);
  EXPECT_EQ(small.window, kDefault);
  EXPECT_EQ(small.messages, 0u);
  EXPECT_EQ(chosen(chains(), 100'000us, phase_named(OnlinePhase::Garbled)).messages, 0u);
}

TEST(WindowChoice, MemoryOfTheLargestWindowIsBounded) {
  for (const std::size_t lanes : {1, 2, 8, 9, 64, 1000, 1 << 20}) {
    const std::vector<std::size_t> windows = interactive().windows_for(lanes);
    const std::size_t wires = windows.back() * lanes * 32;
    EXPECT_TRUE(wires <= std::size_t{512} << 20 || windows.size() == 1) << lanes;
    for (std::size_t i = 1; i < windows.size(); ++i) EXPECT_EQ(windows[i], 2 * windows[i - 1]);
  }
  EXPECT_EQ(interactive().windows_for(1).back(), std::size_t{1} << 24);
}

TEST(WindowChoice, OtherWindowsAreRefused) {
  constexpr auto kTag = net::message_tag("run.window");
  const LoadedCircuit circuit = chains();
  for (const std::uint64_t told : {std::uint64_t{0}, std::uint64_t{kDefault / 2},
                                   std::uint64_t{kDefault + 1}, std::uint64_t{1} << 24, ~0ul}) {
    const Outcomes outcomes = run_channels([&](Party me, Channel& channel) {
      if (me == Party::B) {
        choose_window(channel, me, circuit, interactive(), AndMaterial::Triples, {});
        return;
      }
      net::send_object(channel, kTag, told);
      channel.flush();
    });
    EXPECT_EQ(outcomes.b.kind, Outcome::Kind::PeerCheated) << told;
    EXPECT_TRUE(outcomes.b.check.starts_with("framing: message run.window")) << outcomes.b.check;
  }
}

}  // namespace
}  // namespace tinyot::test
