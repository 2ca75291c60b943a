#include "circuitgen/generators/set_intersection.h"

namespace tinyot::circuit {

CircuitFamily set_intersection_family() {
  CircuitFamily family;
  family.name = "set_intersection";
  family.description =
      "A's and B's sets as strings with a bit for each possible element; both learn the elements "
      "in common";
  family.parameters = {CircuitParameter::number("element_bits", 20, 1, 28, "bits of an element")};
  family.make = [](const CircuitArguments& arguments) {
    const std::uint32_t elements = std::uint32_t{1} << arguments.number("element_bits");
    CircuitInfo info{arguments.spec(),
                     {bits_input("a", elements, Party::A), bits_input("b", elements, Party::B)},
                     {bits_output("intersection", elements)}};
    return std::make_unique<GeneratedCircuit>(std::move(info), [=](Builder& builder) {
      for (std::uint32_t e = 0; e < elements; ++e) {
        const Bit of_b = builder.input_bit(1, e);
        builder.output_bit(0, e, builder.input_bit(0, e) & of_b);
      }
    });
  };
  return family;
}

}  // namespace tinyot::circuit
