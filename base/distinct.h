// Compile-time checks of the registries: no value stands twice.
#pragma once

#include <cstddef>
#include <functional>

namespace tinyot {

// Whether `of` gives a different value for each element of the table.
template <class Table, class Projection>
constexpr bool are_distinct(const Table& table, Projection of) {
  for (std::size_t i = 0; i < table.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (std::invoke(of, table[i]) == std::invoke(of, table[j])) return false;
  return true;
}

}  // namespace tinyot
