// The speed at which generators emit gates. Lower bound: a gate takes one virtual call for itself
// and one for the Free event of a wire, 3 ns each.
#include <benchmark/benchmark.h>

#include <array>

#include "tinyot/circuit/operators.h"

namespace tinyot {
namespace {

using namespace circuit;

class CountingSink final : public GateSink {
 public:
  void emit(const Gate& gate) override { ++counts_[static_cast<std::size_t>(gate.kind)]; }
  std::uint64_t gates() const {
    return counts_[static_cast<std::size_t>(GateKind::Xor)] +
           counts_[static_cast<std::size_t>(GateKind::And)];
  }

 private:
  std::array<std::uint64_t, 7> counts_{};
};

// The maximum number of gates per second: `state.range(0)` adders of 32 bits, repeatedly.
void builder_adders(benchmark::State& state) {
  const CircuitInfo info{"adders", {{"x", 64, InputSource::A, ValueFormat::Integer, false}}, {}};
  CountingSink sink;
  Builder builder(sink, info);
  const Word<32> y(builder.input_bits(0, 32, 32));
  std::vector<Word<32>> sums(static_cast<std::size_t>(state.range(0)),
                             Word<32>(builder.input_bits(0, 0, 32)));
  for (auto _ : state) {
    for (Word<32>& sum : sums) sum += y;
  }
  state.counters["gates/s"] =
      benchmark::Counter(static_cast<double>(sink.gates()), benchmark::Counter::kIsRate);
}
BENCHMARK(builder_adders)->Arg(1)->Arg(1 << 10)->Arg(1 << 16)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace tinyot
