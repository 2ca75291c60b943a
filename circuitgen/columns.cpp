#include "circuitgen/columns.h"

#include "circuitgen/integer.h"

namespace tinyot {

void append_inputs(Columns& values, Builder& builder, std::uint32_t bundle, std::uint64_t first, std::uint64_t count) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::uint64_t k = first; k < first + count; ++k) {
      values[i].push_back(builder.input_bit(bundle, static_cast<std::uint32_t>(k * values.size() + i)));
    }
  }
}

Bits less_each(const Columns& values, std::span<const Pair> pairs) {
  Bits borrows(pairs.size());
  for (const Bits& column : values) {
    for (std::size_t k = 0; k < pairs.size(); ++k) borrows[k] = next_borrow(column[pairs[k].x], column[pairs[k].y], borrows[k]);
  }
  return borrows;
}

}  // namespace tinyot
