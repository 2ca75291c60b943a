#include "circuitgen/generators/minimum.h"

#include <algorithm>

#include "circuitgen/generators/columns.h"

namespace tinyot::circuit {
namespace {

// Each level compares its integers when it has 2 . kParallelComparisons of them.
class MinimumTree {
 public:
  explicit MinimumTree(const ValueOrder& order)
      : order_(order), bits_(order.bits()), waiting_{Columns(bits_)} {}

  // Adds the next inputs of a bundle. Calls for both bundles add 2 . kParallelComparisons together,
  // except the last ones.
  void add(Builder& builder, std::uint32_t bundle, std::uint64_t first, std::uint64_t count) {
    append_inputs(waiting_[0], builder, order_, bundle, first, count);
    for (std::size_t level = 0; waiting_[level][0].size() == 2 * kParallelComparisons; ++level)
      compare(level);
  }

  // Requires that at least one integer has been added.
  Bits smallest() && {
    for (std::size_t level = 0; level + 1 < waiting_.size() || waiting_[level][0].size() > 1;
         ++level)
      compare(level);
    Bits result;
    for (Bits& column : waiting_.back()) result.push_back(std::move(column[0]));
    return result;
  }

 private:
  // The smaller of each two neighbours goes to the next level, as does a last one without a
  // neighbour.
  void compare(std::size_t level) {
    if (level + 1 == waiting_.size()) waiting_.emplace_back(bits_);
    Columns values = std::exchange(waiting_[level], Columns(bits_));
    std::vector<IndexPair> pairs;
    for (std::size_t k = 0; k + 1 < values[0].size(); k += 2) pairs.push_back({k + 1, k});
    const Bits second_is_less = less_each_with_differences(values, pairs);
    for (std::size_t i = 0; i < bits_; ++i) {
      Bits &column = values[i], &next = waiting_[level + 1][i];
      for (std::size_t k = 0; k < pairs.size(); ++k) {
        next.push_back(column[2 * k] ^ (second_is_less[k] & column[2 * k + 1]));
        column[2 * k] = column[2 * k + 1] = Bit();
      }
      if (column.size() % 2 == 1) next.push_back(std::move(column.back()));
    }
  }

  const ValueOrder order_;
  std::size_t bits_;
  std::vector<Columns> waiting_;  // by level
};

void emit_minimum(Builder& builder, std::uint64_t count, const ValueOrder& order) {
  MinimumTree tree(order);
  for (std::uint64_t first = 0; first < (count + 1) / 2; first += kParallelComparisons) {
    for (const std::uint32_t bundle : {0, 1}) {
      tree.add(builder, bundle, first,
               std::min<std::uint64_t>(kParallelComparisons, (count + 1 - bundle) / 2 - first));
    }
  }
  const Bits smallest = std::move(tree).smallest();
  for (std::size_t i = 0; i < smallest.size(); ++i)
    builder.output_bit(0, static_cast<std::uint32_t>(order.place(0, i)),
                       order.converted(smallest[i], i));
}

}  // namespace

CircuitFamily minimum_family() {
  CircuitFamily family;
  family.name = "minimum";
  family.description = "the minimum of values of which A and B each have half; both learn it";
  family.parameters = {CircuitParameter::number("count", 1'000'000, 2, std::uint64_t{1} << 25,
                                                "how many values A and B have together"),
                       CircuitParameter::number("bits", 20, 1, 64, "of each value")};
  ValueOrder::add_to(family, {"values_a", "values_b", "minimum"});
  family.lists = {{"values_a", "count", 2}, {"values_b", "count", 2}};
  family.make = [](const CircuitArguments& arguments) {
    const std::uint64_t count = arguments.number("count");
    const ValueOrder order(arguments);
    CircuitInfo info{arguments.spec(),
                     {order.input("values_a", (count + 1) / 2, Party::A),
                      order.input("values_b", count / 2, Party::B)},
                     {order.output("minimum", 1)}};
    return std::make_unique<GeneratedCircuit>(
        std::move(info), [=](Builder& builder) { emit_minimum(builder, count, order); });
  };
  return family;
}

}  // namespace tinyot::circuit
