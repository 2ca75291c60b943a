// The names of test parameters: GoogleTest allows letters, digits and underscores.
#pragma once

#include <algorithm>
#include <string>

namespace tinyot::test {

template <class Value>
std::string test_name(const Value& value) {
  std::string name(name_of(value));
  std::ranges::replace(name, '-', '_');
  return name;
}

}  // namespace tinyot::test
