// The order in which a circuit compares values: of unsigned or signed numbers, or of texts.
//
// Comparators compare unsigned numbers, bit 0 the lowest. A signed number becomes one by inverting
// its sign, a text by taking its first byte as the highest: neither costs an AND.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "circuitgen/generators/family.h"

namespace tinyot::circuit {

class ValueOrder {
 public:
  // Adds the parameters `signed`, `fraction` and `text` to a family whose inputs and outputs of
  // these names have values in this order.
  static void add_to(CircuitFamily& family, std::vector<std::string> compared);

  // From the parameters above and `bits`. Fails: UsageError if they exclude each other.
  explicit ValueOrder(const CircuitArguments& arguments);

  std::uint64_t bits() const { return bits_; }

  // The place in a bundle of bit i of the number that stands for value k.
  std::uint64_t place(std::uint64_t k, std::uint64_t i) const;
  // That bit from the input's bit, or the output's bit from it.
  Bit converted(const Bit& bit, std::uint64_t i) const;

  // Bundles of so many values; outputs go to both parties. A list has the type of its values, a
  // single number without a sign has none.
  InputBundle input(std::string name, std::uint64_t count, Party owner) const;
  OutputBundle output(std::string name, std::uint64_t count) const;

 private:
  template <class Bundle>
  void describe(Bundle& bundle, std::uint64_t count) const;

  std::uint64_t bits_, fraction_;
  bool is_signed_, is_text_;
};

}  // namespace tinyot::circuit
