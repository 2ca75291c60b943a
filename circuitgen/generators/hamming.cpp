#include "circuitgen/generators/hamming.h"

#include <bit>

#include "tinyot/circuit/integer.h"

namespace tinyot::circuit {
namespace {

constexpr std::uint64_t kBitsMax = std::uint64_t{1} << 26;

void emit_distance(Builder& builder, std::uint32_t bits) {
  BitSum sum(static_cast<std::size_t>(std::bit_width(bits)));
  for (std::uint32_t i = 0; i < bits; ++i) {
    const Bit of_b = builder.input_bit(1, i);
    sum.add(builder.input_bit(0, i) ^ of_b);
  }
  builder.output(0, std::move(sum).total());
}

}  // namespace

CircuitFamily hamming_family() {
  CircuitFamily family;
  family.name = "hamming";
  family.description = "Hamming distance of A's and B's strings of bits; both learn it";
  family.parameters = {CircuitParameter::number("bits", 900, 1, kBitsMax, "length of the strings")};
  family.make = [](const CircuitArguments& arguments) {
    const auto bits = bundle_bits(arguments.number("bits"));
    CircuitInfo info{
        arguments.spec(),
        {bits_input("a", bits, Party::A), bits_input("b", bits, Party::B)},
        {integer_output("distance", static_cast<std::uint64_t>(std::bit_width(bits)))}};
    return std::make_unique<GeneratedCircuit>(
        std::move(info), [=](Builder& builder) { emit_distance(builder, bits); });
  };
  return family;
}

}  // namespace tinyot::circuit
