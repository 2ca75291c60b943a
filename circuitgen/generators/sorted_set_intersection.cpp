#include "circuitgen/generators/sorted_set_intersection.h"

#include <algorithm>
#include <bit>

#include "circuitgen/generators/columns.h"
#include "circuitgen/generators/compaction.h"
#include "circuitgen/generators/sort.h"
#include "tinyot/circuit/integer.h"

namespace tinyot::circuit {
namespace {

// One bit for each successor that is less than its predecessor.
void append_descents(Bits& descents, const Columns& values) {
  const std::size_t pairs = values[0].size() - 1;
  for (std::size_t first = 0; first < pairs; first += kParallelComparisons) {
    std::vector<IndexPair> neighbours;
    for (std::size_t k = first; k < std::min(pairs, first + kParallelComparisons); ++k)
      neighbours.push_back({k + 1, k});
    Bits less = less_each(values, values, neighbours);
    std::move(less.begin(), less.end(), std::back_inserter(descents));
  }
}

// The keys of both lists in turn: column 0 is the owner, 1 for B, the others are the numbers.
Columns interleaved(Columns a, Columns b) {
  const std::size_t count = a[0].size();
  Columns keys(1 + a.size());
  for (std::size_t k = 0; k < 2 * count; ++k) keys[0].emplace_back(k % 2 == 1);
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t k = 0; k < count; ++k) {
      keys[1 + i].push_back(std::move(a[i][k]));
      keys[1 + i].push_back(std::move(b[i][k]));
    }
  }
  return keys;
}

// Whether sorted keys k and k + 1 are one number of A and of B. This is so for one pair of
// neighbours of each number in the intersection.
Bit common_pair(const Columns& keys, std::size_t k) {
  Bits differences = {~(keys[0][k] ^ keys[0][k + 1])};
  for (std::size_t i = 1; i < keys.size(); ++i) differences.push_back(keys[i][k] ^ keys[i][k + 1]);
  return ~any(differences);
}

void emit_sorted_intersection(Builder& builder, std::uint64_t count, const ValueOrder& order) {
  const std::uint64_t bits = order.bits();
  Columns a(bits), b(bits);
  append_inputs(a, builder, order, 0, 0, count);
  append_inputs(b, builder, order, 1, 0, count);
  Bits descents;
  append_descents(descents, a);
  append_descents(descents, b);
  const Bit in_order = ~any(descents);
  builder.output_bit(0, 0, in_order);
  descents.clear();

  Columns keys = interleaved(std::move(a), std::move(b));
  merge_interleaved(keys);

  // Of two pairs that share a key, at most one is common. So key 2 k stands for both of its pairs.
  Bits marks;
  for (std::size_t k = 0; k < count; ++k) {
    Bit mark = common_pair(keys, 2 * k);
    if (k > 0) mark ^= common_pair(keys, 2 * k - 1);
    marks.push_back(mark & in_order);
  }
  Columns values(bits);
  for (std::size_t i = 0; i < bits; ++i) {
    // Converted first: what is not in the intersection becomes zero, not the lowest value.
    for (std::size_t k = 0; k < count; ++k)
      values[i].push_back(order.converted(keys[1 + i][2 * k], i) & marks[k]);
    keys[1 + i].clear();
  }
  const Bits size = compact(values, marks);
  builder.output(1, size);
  for (std::uint64_t k = 0; k < count; ++k) {
    for (std::uint64_t i = 0; i < bits; ++i)
      builder.output_bit(2, static_cast<std::uint32_t>(order.place(k, i)), values[i][k]);
  }
}

}  // namespace

CircuitFamily sorted_set_intersection_family() {
  CircuitFamily family;
  family.name = "sorted_set_intersection";
  family.description =
      "the values in A's and in B's list, which are in ascending order; both learn them";
  family.parameters = {CircuitParameter::number("count", 1024, 1, 1 << 18, "values in each list"),
                       CircuitParameter::number("bits", 32, 1, 256, "of each value")};
  ValueOrder::add_to(family, {"values_a", "values_b", "intersection"});
  family.lists = {{"values_a", "count"}, {"values_b", "count"}};
  family.make = [](const CircuitArguments& arguments) {
    const std::uint64_t count = arguments.number("count");
    const ValueOrder order(arguments);
    CircuitInfo info{
        arguments.spec(),
        {order.input("values_a", count, Party::A), order.input("values_b", count, Party::B)},
        {bits_output("in_order", 1),
         integer_output("size", static_cast<std::uint64_t>(std::bit_width(count))),
         order.output("intersection", count)}};
    for (InputBundle& input : info.inputs) input.conditions.is_ascending = true;
    return std::make_unique<GeneratedCircuit>(std::move(info), [=](Builder& builder) {
      emit_sorted_intersection(builder, count, order);
    });
  };
  return family;
}

}  // namespace tinyot::circuit
