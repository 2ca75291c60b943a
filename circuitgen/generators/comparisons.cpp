#include "circuitgen/generators/comparisons.h"

#include <algorithm>

#include "circuitgen/generators/columns.h"
#include "tinyot/circuit/integer.h"

namespace tinyot::circuit {
namespace {

constexpr std::uint64_t kLinesMax = std::uint64_t{1} << 14;

// The comparisons of a row are made in parallel, those of as many rows at a time as fit.
void emit_matrix(Builder& builder, std::size_t rows, std::size_t columns, const ValueOrder& order) {
  Columns values(order.bits());  // B's, then A's of the current rows
  append_inputs(values, builder, order, 1, 0, columns);
  const std::size_t rows_at_once = std::max<std::size_t>(1, kParallelComparisons / columns);
  for (std::size_t first = 0; first < rows; first += rows_at_once) {
    const std::size_t count = std::min(rows_at_once, rows - first);
    append_inputs(values, builder, order, 0, first, count);
    std::vector<IndexPair> pairs;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < columns; ++j) pairs.push_back({columns + i, j});
    }
    builder.output_bits(0, first * columns, less_each(values, values, pairs));
    for (Bits& column : values) column.resize(columns);
  }
}

}  // namespace

CircuitFamily millionaires_family() {
  CircuitFamily family;
  family.name = "millionaires";
  family.description = "whether A's value is larger than B's; both learn it";
  family.parameters = {CircuitParameter::number("bits", 32, 1, 1 << 20, "of each value")};
  ValueOrder::add_to(family, {"a", "b"});
  family.make = [](const CircuitArguments& arguments) {
    const ValueOrder order(arguments);
    CircuitInfo info{arguments.spec(),
                     {order.input("a", 1, Party::A), order.input("b", 1, Party::B)},
                     {bits_output("a_has_more", 1)}};
    return std::make_unique<GeneratedCircuit>(std::move(info), [=](Builder& builder) {
      Bit borrow;
      const auto bit = [&](std::uint32_t bundle, std::uint64_t i) {
        const auto at = static_cast<std::uint32_t>(order.place(0, i));
        return order.converted(builder.input_bit(bundle, at), i);
      };
      for (std::uint64_t i = 0; i < order.bits(); ++i) {
        const Bit of_a = bit(0, i);
        borrow = next_borrow(bit(1, i), of_a, borrow);
      }
      builder.output_bit(0, 0, borrow);
    });
  };
  return family;
}

CircuitFamily comparisons_family() {
  CircuitFamily family;
  family.name = "comparisons";
  family.description = "which of A's values are less than which of B's; both learn the matrix";
  family.parameters = {
      CircuitParameter::number("rows", 100, 1, kLinesMax, "how many values A has"),
      CircuitParameter::number("columns", 100, 1, kLinesMax, "how many values B has"),
      CircuitParameter::number("bits", 32, 1, 256, "of each value")};
  ValueOrder::add_to(family, {"a", "b"});
  family.lists = {{"a", "rows"}, {"b", "columns"}};
  family.make = [](const CircuitArguments& arguments) {
    const std::uint64_t rows = arguments.number("rows");
    const std::uint64_t columns = arguments.number("columns");
    const ValueOrder order(arguments);
    CircuitInfo info{arguments.spec(),
                     {order.input("a", rows, Party::A), order.input("b", columns, Party::B)},
                     {bits_output("less", rows * columns)}};
    return std::make_unique<GeneratedCircuit>(
        std::move(info), [=](Builder& builder) { emit_matrix(builder, rows, columns, order); });
  };
  return family;
}

}  // namespace tinyot::circuit
