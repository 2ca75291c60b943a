#include "circuitgen/generators/sort.h"

#include <algorithm>
#include <bit>

#include "circuitgen/generators/columns.h"

namespace tinyot::circuit {
namespace {

// The pairs are disjoint, so they are compared in parallel. The larger one becomes `x`.
void exchange_each(Columns& values, std::span<const IndexPair> comparators) {
  const Bits swap = less_each_with_differences(values, comparators);
  for (Bits& column : values) {
    for (std::size_t k = 0; k < comparators.size(); ++k) {
      Bit &x = column[comparators[k].x], &y = column[comparators[k].y];
      y ^= swap[k] & x;
      x ^= y;
    }
  }
}

// Algorithm M for one p, with its variable names: sequences of integers that are 2 p apart are
// sorted; afterwards those that are p apart are.
void merge_at(Columns& values, std::size_t p) {
  const std::size_t n = values[0].size(), top = std::bit_ceil(n) / 2;
  std::size_t q = top, r = 0, d = p;
  while (true) {
    std::vector<IndexPair> stage;
    for (std::size_t i = 0; i + d < n; ++i) {
      if ((i & p) == r) stage.push_back({i + d, i});
    }
    for (std::size_t first = 0; first < stage.size(); first += kParallelComparisons) {
      exchange_each(values, std::span(stage).subspan(
                                first, std::min(kParallelComparisons, stage.size() - first)));
    }
    if (q == p) break;
    d = q - p;
    q /= 2;
    r = p;
  }
}

void emit_sorted(Builder& builder, std::uint64_t count, const ValueOrder& order) {
  Columns values(order.bits());
  append_inputs(values, builder, order, 0, 0, (count + 1) / 2);
  append_inputs(values, builder, order, 1, 0, count / 2);
  for (std::size_t p = std::bit_ceil(count) / 2; p > 0; p /= 2) merge_at(values, p);
  for (std::uint64_t k = 0; k < count; ++k) {
    for (std::uint64_t i = 0; i < order.bits(); ++i)
      builder.output_bit(0, static_cast<std::uint32_t>(order.place(k, i)),
                         order.converted(values[i][k], i));
  }
}

}  // namespace

void merge_interleaved(Columns& values) { merge_at(values, 1); }

CircuitFamily sort_family() {
  CircuitFamily family;
  family.name = "sort";
  family.description = "sorts values of which A and B each have half; both learn the sorted list";
  family.parameters = {
      CircuitParameter::number("count", 1024, 2, 1 << 18, "how many values A and B have together"),
      CircuitParameter::number("bits", 32, 1, 256, "of each value")};
  ValueOrder::add_to(family, {"values_a", "values_b", "sorted"});
  family.lists = {{"values_a", "count", 2}, {"values_b", "count", 2}};
  family.make = [](const CircuitArguments& arguments) {
    const std::uint64_t count = arguments.number("count");
    const ValueOrder order(arguments);
    CircuitInfo info{arguments.spec(),
                     {order.input("values_a", (count + 1) / 2, Party::A),
                      order.input("values_b", count / 2, Party::B)},
                     {order.output("sorted", count)}};
    return std::make_unique<GeneratedCircuit>(
        std::move(info), [=](Builder& builder) { emit_sorted(builder, count, order); });
  };
  return family;
}

}  // namespace tinyot::circuit
