#include "circuitgen/generators/comparisons.h"

#include <algorithm>

#include "circuitgen/generators/columns.h"
#include "tinyot/circuit/integer.h"

namespace tinyot::circuit {
namespace {

constexpr std::uint64_t kLinesMax = std::uint64_t{1} << 14;

// The comparisons of a row are made in parallel, those of as many rows at a time as fit.
void emit_matrix(Builder& builder, std::size_t rows, std::size_t columns, std::size_t bits) {
  Columns values(bits);  // B's, then A's of the current rows
  append_inputs(values, builder, 1, 0, columns);
  const std::size_t rows_at_once = std::max<std::size_t>(1, kParallelComparisons / columns);
  for (std::size_t first = 0; first < rows; first += rows_at_once) {
    const std::size_t count = std::min(rows_at_once, rows - first);
    append_inputs(values, builder, 0, first, count);
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
  family.description = "whether A's number is larger than B's; both learn it";
  family.parameters = {CircuitParameter::number("bits", 32, 1, 1 << 20, "of each number")};
  family.make = [](const CircuitArguments& arguments) {
    const std::uint32_t bits = bundle_bits(arguments.number("bits"));
    CircuitInfo info{arguments.spec(),
                     {integer_input("a", bits, Party::A), integer_input("b", bits, Party::B)},
                     {integer_output("a_has_more", 1)}};
    return std::make_unique<GeneratedCircuit>(std::move(info), [=](Builder& builder) {
      Bit borrow;
      for (std::uint32_t i = 0; i < bits; ++i) {
        const Bit of_a = builder.input_bit(0, i);
        borrow = next_borrow(builder.input_bit(1, i), of_a, borrow);
      }
      builder.output_bit(0, 0, borrow);
    });
  };
  return family;
}

CircuitFamily comparisons_family() {
  CircuitFamily family;
  family.name = "comparisons";
  family.description = "which of A's numbers are less than which of B's; both learn the matrix";
  family.parameters = {
      CircuitParameter::number("rows", 100, 1, kLinesMax, "how many numbers A has"),
      CircuitParameter::number("columns", 100, 1, kLinesMax, "how many numbers B has"),
      CircuitParameter::number("bits", 32, 1, 256, "of each number")};
  family.make = [](const CircuitArguments& arguments) {
    const std::uint64_t rows = arguments.number("rows");
    const std::uint64_t columns = arguments.number("columns");
    const std::uint64_t bits = arguments.number("bits");
    CircuitInfo info{
        arguments.spec(),
        {integer_input("a", rows * bits, Party::A), integer_input("b", columns * bits, Party::B)},
        {integer_output("less", rows * columns)}};
    return std::make_unique<GeneratedCircuit>(
        std::move(info), [=](Builder& builder) { emit_matrix(builder, rows, columns, bits); });
  };
  return family;
}

}  // namespace tinyot::circuit
