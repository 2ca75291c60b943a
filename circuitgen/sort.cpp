#include "circuitgen/sort.h"

#include <algorithm>
#include <bit>

#include "circuitgen/word.h"

namespace tinyot {
namespace {

struct Comparator {
  std::size_t low;
  std::size_t high;  // gets the larger value
};

// Comparators that touch no value twice, so all of them stand side by side.
void exchange_each(std::vector<Number>& values, std::span<const Comparator> comparators) {
  std::vector<Operands> pairs;
  for (const Comparator& c : comparators) pairs.push_back({values[c.high], values[c.low]});
  const Bits swap = less_each(pairs);
  for (std::size_t k = 0; k < comparators.size(); ++k) {
    exchange(swap[k], values[comparators[k].low].bits(), values[comparators[k].high].bits());
  }
}

// Algorithm M, with its names.
void merge_exchange(std::vector<Number>& values) {
  const std::size_t n = values.size(), top = std::bit_ceil(n) / 2;
  for (std::size_t p = top; p > 0; p /= 2) {
    std::size_t q = top, r = 0, d = p;
    while (true) {
      std::vector<Comparator> stage;
      for (std::size_t i = 0; i + d < n; ++i) {
        if ((i & p) == r) stage.push_back({i, i + d});
      }
      for (std::size_t first = 0; first < stage.size(); first += kSideBySide) {
        exchange_each(values, std::span(stage).subspan(first, std::min(kSideBySide, stage.size() - first)));
      }
      if (q == p) break;
      d = q - p;
      q /= 2;
      r = p;
    }
  }
}

void emit_sorted(Builder& builder, std::uint64_t count, std::uint64_t bits) {
  std::vector<Number> values;
  for (std::uint64_t k = 0; k < count; ++k) {
    values.emplace_back(builder.input_bits(static_cast<std::uint32_t>(k % 2), k / 2 * bits, bits));
  }
  merge_exchange(values);
  for (std::uint64_t k = 0; k < count; ++k) builder.output_bits(0, k * bits, values[k]);
}

}  // namespace

CircuitFamily sort_family() {
  CircuitFamily family;
  family.name = "sort";
  family.description = "sorts numbers of which A and B have half each; both learn the sorted list";
  family.parameters = {CircuitParameter::number("count", 1024, 2, 1 << 20, "how many numbers A and B have together"),
                       CircuitParameter::number("bits", 32, 1, 64, "of each number")};
  family.make = [](const CircuitArguments& arguments) {
    const std::uint64_t count = arguments.number("count"), bits = arguments.number("bits");
    CircuitInfo info{arguments.spec(),
                     {{"values_a", static_cast<std::uint32_t>((count + 1) / 2 * bits), Party::A, ValueFormat::Integer, false},
                      {"values_b", static_cast<std::uint32_t>(count / 2 * bits), Party::B, ValueFormat::Integer, false}},
                     {{"sorted", static_cast<std::uint32_t>(count * bits), Receiver::Both, ValueFormat::Integer}}};
    return std::make_unique<GeneratedCircuit>(std::move(info), [=](Builder& builder) { emit_sorted(builder, count, bits); });
  };
  return family;
}

}  // namespace tinyot
