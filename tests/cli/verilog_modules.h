// Verilog modules with random expressions, and fixed designs, for tests against a simulator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tinyot::test {

struct VerilogPort {
  std::string name;
  std::uint32_t bits;
};

// A module named `top`.
struct VerilogModule {
  std::string text;
  std::vector<VerilogPort> inputs, outputs;
};

// Expressions over all operators, signed and unsigned, on widths of 1 to 40 bits. No divisor is 0.
VerilogModule random_module(std::uint64_t seed);

// An ALU, dividers, a floating-point adder with 8 bits of exponent and 10 of mantissa, and tables.
std::vector<VerilogModule> fixed_modules();

}  // namespace tinyot::test
