#include "online/masked/group_products.h"

namespace tinyot::online {

FactorWires wires_of(const circuit::RoundGroup& group, circuit::GroupPart product) {
  FactorWires wires;
  const auto factors = circuit::factors_of(product);
  for (std::size_t i = 0; i < wires.size(); ++i)
    if (std::has_single_bit(factors[i]))
      wires[i] = group.inputs[static_cast<std::size_t>(std::countr_zero(factors[i]))];
  return wires;
}

std::size_t parts_of(const std::vector<circuit::RoundGroup>& groups) {
  std::size_t parts = 0;
  for (const circuit::RoundGroup& group : groups) parts += group.shape->parts.size();
  return parts;
}

}  // namespace tinyot::online
