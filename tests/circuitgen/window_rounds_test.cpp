#include "circuitgen/window_rounds.h"

#include <gtest/gtest.h>

#include "circuitgen/cost.h"
#include "circuitgen/generators/registry.h"
#include "circuitgen/layering.h"
#include "circuits.h"
#include "tests/support/layers.h"
#include "tests/support/repetitions.h"

namespace tinyot {
namespace {

constexpr std::uint64_t kAll = ~std::uint64_t{0};

// As the layers have them.
std::uint64_t rounds_with_ands(const Circuit& circuit, std::size_t window) {
  struct Sink final : RoundSink {
    void round(Round& round) override { rounds += round.and_count(1) > 0; }
    std::uint64_t rounds = 0;
  } sink;
  generate_rounds(circuit, 1, window, sink);
  return sink.rounds;
}

void expect_rounds_of_layers(const Circuit& circuit, const std::vector<std::size_t>& windows) {
  const WindowRounds counted = count_window_rounds(circuit, windows, kAll);
  for (std::size_t i = 0; i < windows.size(); ++i)
    EXPECT_EQ(counted.rounds(i), rounds_with_ands(circuit, windows[i])) << windows[i];
}

TEST(WindowRounds, AreThoseOfTheLayers) {
  std::mt19937_64 rng(5);
  for (std::uint64_t i = 0; i < test::repetitions(500); ++i) {
    SCOPED_TRACE(i);
    expect_rounds_of_layers(random_circuit(rng, 20 + rng() % 400, 1 + rng() % 3),
                            {1, 2, 3, 7, 50, 100, std::size_t{1} << 20});
  }
  for (const char* name : {"aes128", "sha256:bytes=100", "random:width=300,depth=40"}) {
    SCOPED_TRACE(name);
    expect_rounds_of_layers(*find_circuit(name), {1000, 4096, std::size_t{1} << 20});
  }
}

TEST(WindowRounds, OfTheFirstGatesOnly) {
  const auto circuit = find_circuit("aes128");
  const std::vector<std::size_t> windows = {1000, std::size_t{1} << 20};
  const WindowRounds whole = count_window_rounds(*circuit, windows, kAll),
                     part = count_window_rounds(*circuit, windows, 10'000);
  EXPECT_EQ(part.gates(), 10'000u);
  EXPECT_EQ(whole.rounds(1), cost_of(*circuit).and_depth);
  for (const std::size_t i : {0, 1}) {
    EXPECT_GT(part.rounds(i), 0u);
    EXPECT_LT(part.rounds(i), whole.rounds(i));
  }
}

// As Python's do.
TEST(WindowRounds, ExceptionsMayChangeOnTheirWay) {
  const TestCircuit circuit(test_info({1}, {1}), [](GateSink& sink) {
    try {
      sink.emit({GateKind::Input, 0, 0, 0});
      for (WireId id = 1; id < 100; ++id) sink.emit({GateKind::Not, id, 0, 0});
    } catch (...) {
      throw std::runtime_error("another");
    }
    throw std::domain_error("of the circuit");
  });
  const std::vector<std::size_t> windows = {10};
  EXPECT_EQ(count_window_rounds(circuit, windows, 50).gates(), 50u);
  EXPECT_THROW(count_window_rounds(circuit, windows, kAll), std::domain_error);
}

TEST(WindowRounds, RefusesMalformedStreams) {
  const auto count = [](std::vector<Gate> gates) {
    return count_window_rounds(TestCircuit(test_info({2}, {1}), std::move(gates)),
                               std::vector<std::size_t>{10}, kAll);
  };
  EXPECT_THROW(count({{GateKind::Not, 1, 0, 0}}), std::logic_error);
  EXPECT_THROW(count({{GateKind::Input, 0, 0, 0}, {GateKind::Input, 0, 0, 1}}), std::logic_error);
  EXPECT_THROW(count({{GateKind::Free, 0, 0, 0}}), std::logic_error);
}

}  // namespace
}  // namespace tinyot
