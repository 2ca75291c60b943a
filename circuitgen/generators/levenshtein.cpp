#include "circuitgen/generators/levenshtein.h"

#include <algorithm>
#include <bit>

#include "circuitgen/formats/value_type.h"
#include "circuitgen/generators/columns.h"
#include "tinyot/circuit/integer.h"

namespace tinyot::circuit {
namespace {

// Rows are the symbols of the shorter string, columns those of the longer one; both count from 1.
// The distance is the same.
struct Shape {
  std::size_t rows;
  std::size_t columns;
  std::size_t symbol_bits;
  std::uint32_t row_bundle;
  std::uint32_t column_bundle;

  std::size_t distance_bits() const { return static_cast<std::size_t>(std::bit_width(columns)); }
};

// The cells of an anti-diagonal i + j = k with i, j >= 1: their rows, first to last.
struct Range {
  std::size_t first;
  std::size_t last;
};
Range rows_of(const Shape& shape, std::size_t k) {
  return {k > shape.columns ? k - shape.columns : 1, std::min(shape.rows, k - 1)};
}

// The symbols that the current anti-diagonal compares.
class Symbols {
 public:
  Symbols(Builder& builder, const Shape& shape)
      : builder_(builder), shape_(shape), rows_(shape.rows + 1), columns_(shape.rows + 1) {}

  // Goes to anti-diagonal k = 2, 3, ...: adds the symbols of the row and of the column that begin
  // there.
  void begin(std::size_t k) {
    if (k - 1 <= shape_.rows) rows_[k - 1] = read(shape_.row_bundle, k - 1);
    column_of(k - 1) = k - 1 <= shape_.columns ? read(shape_.column_bundle, k - 1) : Bits();
  }
  // Of row i and column j.
  Bit differ(std::size_t i, std::size_t j) { return circuit::differ(rows_[i], column_of(j)); }
  void end_row(std::size_t i) { rows_[i].clear(); }

 private:
  Bits read(std::uint32_t bundle, std::size_t number) {
    return builder_.input_bits(bundle, (number - 1) * shape_.symbol_bits, shape_.symbol_bits);
  }
  // An anti-diagonal crosses at most as many columns as there are rows, all adjacent.
  Bits& column_of(std::size_t j) { return columns_[j % columns_.size()]; }

  Builder& builder_;
  const Shape& shape_;
  std::vector<Bits> rows_;
  std::vector<Bits> columns_;
};

// -1, 0 or 1, as two bits that are never both 1.
struct Sign {
  Bit plus;
  Bit minus;
};

// The vertical differences are passed along the rows, and the horizontal ones, negated, down the
// columns: both are updated in the same way. With d = D(i, j) - D(i - 1, j - 1), which is 0 or 1,
// the successors are d + down and across - d; d is 1 unless the symbols are equal or the path over
// a neighbour is shorter (down = 1, across = -1).
//
// `down` is available one AND earlier than `across`, so it enters first: this makes two levels of
// ANDs per anti-diagonal.
class Differences {
 public:
  Differences(Builder& builder, const Shape& shape)
      : shape_(shape), symbols_(builder, shape), across_(shape.rows + 1), down_(shape.rows + 1),
        sum_(shape.distance_bits()) {}

  Bits distance() && {
    for (std::size_t k = 2; k <= shape_.rows + shape_.columns; ++k) emit_anti_diagonal(k);
    // Sums along the diagonal that ends in the last cell; it begins in row 0 at column columns -
    // rows.
    const std::size_t first = shape_.columns - shape_.rows;
    for (std::size_t place = 0; place < shape_.distance_bits(); ++place) {
      if (((first >> place) & 1) != 0) sum_.add(Bit(true), place);
    }
    return std::move(sum_).total();
  }

 private:
  Sign& down_of(std::size_t j) { return down_[j % down_.size()]; }

  void emit_anti_diagonal(std::size_t k) {
    symbols_.begin(k);
    if (k - 1 <= shape_.rows) across_[k - 1] = {Bit(true), Bit(false)};
    down_of(k - 1) = {Bit(false), Bit(true)};
    const auto [first, last] = rows_of(shape_, k);
    for (std::size_t i = first; i <= last; ++i) emit_cell(i, k - i);
  }

  // Values beyond the last row and the last column are not computed.
  void emit_cell(std::size_t i, std::size_t j) {
    const Sign across = std::move(across_[i]), down = std::move(down_of(j));
    const Bit differ = symbols_.differ(i, j);
    const Bit not_down = differ ^ (differ & down.plus);
    const Bit d = not_down ^ (not_down & across.minus);
    if (i < shape_.rows) {
      // d & across.plus: plus and minus are never both 1
      const Bit less = not_down & across.plus;
      down_of(j) = {across.plus ^ less, across.minus ^ d ^ less};
    }
    if (j < shape_.columns) {
      const Bit more = d & down.minus;
      across_[i] = {down.plus ^ d ^ more, down.minus ^ more};
    } else {
      symbols_.end_row(i);
    }
    if (j - i == shape_.columns - shape_.rows) sum_.add(d);
  }

  const Shape& shape_;
  Symbols symbols_;
  std::vector<Sign> across_;  // by row
  std::vector<Sign> down_;    // by column, as in Symbols
  BitSum sum_;                // of the d on the last cell's diagonal
};

// Anti-diagonals as columns of bits, D(i, k - i) at index i.
class Distances {
 public:
  Distances(Builder& builder, const Shape& shape) : shape_(shape), symbols_(builder, shape) {}

  Bits distance() && {
    Columns before_last = border(0), last = border(1);
    for (std::size_t k = 2; k <= shape_.rows + shape_.columns; ++k) {
      Columns next = border(k);
      emit_anti_diagonal(k, before_last, last, next);
      before_last = std::exchange(last, std::move(next));
    }
    Bits result;
    for (const Bits& column : last) result.push_back(column[shape_.rows]);
    return result;
  }

 private:
  // D(0, k) = D(k, 0) = k.
  Columns border(std::size_t k) const {
    Columns values(shape_.distance_bits(), Bits(shape_.rows + 1));
    for (std::size_t bit = 0; bit < values.size(); ++bit) {
      values[bit][0] = Bit(((k >> bit) & 1) != 0);
      if (k <= shape_.rows) values[bit][k] = values[bit][0];
    }
    return values;
  }

  void emit_anti_diagonal(std::size_t k, const Columns& before_last, const Columns& last,
                          Columns& next) {
    symbols_.begin(k);
    const auto [first_row, last_row] = rows_of(shape_, k);
    std::vector<IndexPair> neighbours, diagonal;
    for (std::size_t i = first_row; i <= last_row; ++i) {
      neighbours.push_back({i, i - 1});
      diagonal.push_back({i - first_row, i - 1});
    }
    const Columns smaller = chosen_each(less_each(last, last, neighbours), last, last, neighbours);

    // If a neighbour is smaller than the cell on the diagonal, the path over it costs 1; otherwise
    // the diagonal is at least as short.
    const Bits over_neighbour = less_each(smaller, before_last, diagonal);
    Columns base = chosen_each(over_neighbour, smaller, before_last, diagonal);
    Bits carries;
    for (std::size_t i = first_row; i <= last_row; ++i) {
      carries.push_back(
          select(over_neighbour[i - first_row], Bit(true), symbols_.differ(i, k - i)));
      if (k - i == shape_.columns) symbols_.end_row(i);
    }
    add_each(k, first_row, std::move(base), std::move(carries), next);
  }

  // condition ? x : y for each pair.
  static Columns chosen_each(const Bits& conditions, const Columns& xs, const Columns& ys,
                             std::span<const IndexPair> pairs) {
    Columns chosen(xs.size());
    for (std::size_t bit = 0; bit < xs.size(); ++bit) {
      for (std::size_t n = 0; n < pairs.size(); ++n)
        chosen[bit].push_back(select(conditions[n], xs[bit][pairs[n].x], ys[bit][pairs[n].y]));
    }
    return chosen;
  }

  // next = base + carry, in as many bits as max(i, j), the upper bound of the cell.
  void add_each(std::size_t k, std::size_t first_row, Columns base, Bits carries,
                Columns& next) const {
    for (std::size_t bit = 0; bit < base.size(); ++bit) {
      for (std::size_t n = 0; n < carries.size(); ++n) {
        const std::size_t i = first_row + n,
                          width = static_cast<std::size_t>(std::bit_width(std::max(i, k - i)));
        if (bit >= width) continue;
        const Bit x = std::move(base[bit][n]);
        next[bit][i] = x ^ carries[n];
        carries[n] = bit + 1 < width ? x & carries[n] : Bit();
      }
    }
  }

  const Shape& shape_;
  Symbols symbols_;
};

}  // namespace

CircuitFamily levenshtein_family() {
  constexpr std::uint64_t kSymbolsMax = std::uint64_t{1} << 20;
  CircuitFamily family;
  family.name = "levenshtein";
  family.description = "Levenshtein distance of A's and B's strings of symbols; both learn it";
  family.parameters = {
      CircuitParameter::number("rows", 2000, 1, kSymbolsMax, "how many symbols A has"),
      CircuitParameter::number("columns", 10'000, 1, kSymbolsMax, "how many symbols B has"),
      CircuitParameter::number("symbol_bits", 2, 1, 64, "of a symbol of the alphabet"),
      CircuitParameter::choice("cells", {"differences", "distances"},
                               "what a cell of the table holds")};
  family.make = [](const CircuitArguments& arguments) {
    const std::uint64_t rows = arguments.number("rows"), columns = arguments.number("columns"),
                        symbol_bits = arguments.number("symbol_bits");
    const Shape shape = rows <= columns ? Shape{rows, columns, symbol_bits, 0, 1}
                                        : Shape{columns, rows, symbol_bits, 1, 0};
    const ValueFormat format = symbol_bits % 8 == 0 ? ValueFormat::Bytes : ValueFormat::Integer;
    CircuitInfo info{arguments.spec(),
                     {{"a", bundle_bits(rows * symbol_bits), InputSource::A, format, false},
                      {"b", bundle_bits(columns * symbol_bits), InputSource::B, format, false}},
                     {integer_output("distance", shape.distance_bits())}};
    if (format == ValueFormat::Integer && symbol_bits <= kNumberBitsMax)
      for (InputBundle& input : info.inputs) input.type = "u" + std::to_string(symbol_bits);
    const bool differences = arguments.choice("cells") == "differences";
    return std::make_unique<GeneratedCircuit>(std::move(info), [=](Builder& builder) {
      builder.output(0, differences ? Differences(builder, shape).distance()
                                    : Distances(builder, shape).distance());
    });
  };
  family.lists = {{"a", "rows"}, {"b", "columns"}};
  return family;
}

}  // namespace tinyot::circuit
