// The speed at which gates are layered. Lower bound: the same stream passed to a sink that only
// counts its gates.
#include <benchmark/benchmark.h>

#include "circuitgen/generators/registry.h"
#include "circuitgen/layering.h"

namespace tinyot {
namespace {

using namespace circuit;

// The sizes of the window: as for one lane, and as for a thousand.
constexpr std::int64_t kWindows[] = {1 << 20, 1 << 14};

class GateCounter final : public GateSink {
 public:
  void emit(const Gate& gate) override {
    gates += gate.kind == GateKind::Xor || gate.kind == GateKind::And;
  }
  std::uint64_t gates = 0;
};

class RoundCounter final : public RoundSink {
 public:
  void round(Round& round) override { gates += round.ands.size() + round.local.size(); }
  std::uint64_t gates = 0;
};

void set_rate(benchmark::State& state, std::uint64_t gates) {
  state.counters["gates/s"] =
      benchmark::Counter(static_cast<double>(gates), benchmark::Counter::kIsRate);
}

void generate(benchmark::State& state, const char* spec) {
  const auto circuit = find_circuit(spec);
  GateCounter counter;
  for (auto _ : state) circuit->generate(counter);
  set_rate(state, counter.gates);
}

void layer(benchmark::State& state, const char* spec) {
  const auto circuit = find_circuit(spec);
  RoundCounter counter;
  for (auto _ : state)
    generate_rounds(*circuit, 1, static_cast<std::size_t>(state.range(0)), counter);
  set_rate(state, counter.gates);
}

#define TINYOT_LAYERING_BENCH(name, spec)                                 \
  BENCHMARK_CAPTURE(generate, name, spec)->Unit(benchmark::kMillisecond); \
  BENCHMARK_CAPTURE(layer, name, spec)                                    \
      ->Arg(kWindows[0])                                                  \
      ->Arg(kWindows[1])                                                  \
      ->Unit(benchmark::kMillisecond)

TINYOT_LAYERING_BENCH(random, "random:width=65536,depth=64");
TINYOT_LAYERING_BENCH(minimum, "minimum:count=100000");
TINYOT_LAYERING_BENCH(levenshtein, "levenshtein:rows=200,columns=1000");
TINYOT_LAYERING_BENCH(aes, "aes128");

}  // namespace
}  // namespace tinyot
