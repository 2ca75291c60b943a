#include "circuitgen/generators/columns.h"

#include "base/error.h"
#include "tinyot/circuit/integer.h"

namespace tinyot::circuit {

void append_inputs(Columns& values, Builder& builder, const ValueOrder& order, std::uint32_t bundle,
                   std::uint64_t first, std::uint64_t count) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::uint64_t k = first; k < first + count; ++k) {
      const Bit bit = builder.input_bit(bundle, static_cast<std::uint32_t>(order.place(k, i)));
      values[i].push_back(order.converted(bit, i));
    }
  }
}

Bits less_each(const Columns& xs, const Columns& ys, std::span<const IndexPair> pairs) {
  ENSURE(xs.size() == ys.size());
  Bits borrows(pairs.size());
  for (std::size_t i = 0; i < xs.size(); ++i) {
    for (std::size_t k = 0; k < pairs.size(); ++k)
      borrows[k] = next_borrow(xs[i][pairs[k].x], ys[i][pairs[k].y], borrows[k]);
  }
  return borrows;
}

// The borrow of x - y - borrow is y where x and y differ, and the borrow elsewhere.
Bits less_each_with_differences(Columns& values, std::span<const IndexPair> pairs) {
  Bits borrows(pairs.size());
  for (Bits& column : values) {
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      Bit& x = column[pairs[k].x];
      const Bit& y = column[pairs[k].y];
      x ^= y;
      borrows[k] ^= x & (y ^ borrows[k]);
    }
  }
  return borrows;
}

}  // namespace tinyot::circuit
