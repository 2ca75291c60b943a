#include "tests/fuzz/fuzz_circuit.h"

#include <algorithm>
#include <random>
#include <sstream>
#include <vector>

#include "base/error.h"
#include "circuitgen/formats/bristol_writer.h"
#include "circuitgen/formats/file_description.h"
#include "tests/support/lane_values.h"
#include "tests/support/layers.h"

namespace tinyot::fuzz {
namespace {

constexpr std::size_t kLanes = 5;
constexpr std::uint64_t kBitsMax = 1 << 12;

// A short header can declare a million bits.
bool is_small(const CircuitInfo& info) {
  std::uint64_t bits = 0;
  for (const InputBundle& bundle : info.inputs) bits += bundle.bits;
  for (const OutputBundle& bundle : info.outputs) bits += bundle.bits;
  return bits <= kBitsMax;
}

std::vector<LaneValues> some_inputs(const CircuitInfo& info) {
  std::mt19937_64 rng(1);
  std::vector<LaneValues> inputs;
  for (const InputBundle& bundle : info.inputs) {
    inputs.emplace_back(kLanes, BitVector(bundle.bits));
    for (BitVector& value : inputs.back()) {
      for (std::uint64_t& word : value.words()) word = rng();
      value.clear_padding();
    }
  }
  return inputs;
}

void require_same(const std::vector<LaneValues>& x, const std::vector<LaneValues>& y) {
  ENSURE(x.size() == y.size());
  for (std::size_t b = 0; b < x.size(); ++b) {
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      ENSURE(std::ranges::equal(x[b][lane].words(), y[b][lane].words()));
  }
}

}  // namespace

void try_text(std::shared_ptr<const TextSource> text, const CircuitFileOptions& options) {
  std::unique_ptr<CircuitFile> circuit;
  std::vector<LaneValues> inputs, outputs;
  std::ostringstream written;
  try {
    circuit = read_circuit(std::move(text), "fuzz", options);
    if (!is_small(circuit->info())) return;
    inputs = some_inputs(circuit->info());
    outputs = evaluate(*circuit, kLanes, inputs);
    write_bristol_fashion(*circuit, written);
    write_description(circuit->info(), written);
  } catch (const UsageError&) {
    return;
  }
  const auto again = read_circuit(text_in_memory("again", written.str()), "again");
  require_same(outputs, evaluate(*again, kLanes, inputs));
  ENSURE(std::ranges::equal(again->info().inputs, circuit->info().inputs, {}, &InputBundle::name,
                            &InputBundle::name));
}

}  // namespace tinyot::fuzz
