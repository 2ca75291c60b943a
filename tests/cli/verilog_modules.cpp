#include "tests/cli/verilog_modules.h"

#include <algorithm>
#include <array>
#include <random>

namespace tinyot::test {
namespace {

class ModuleMaker {
 public:
  explicit ModuleMaker(std::uint64_t seed) : rng_(seed) {}

  VerilogModule make() && {
    std::string ports, body;
    for (const std::uint32_t count = 2 + below(3); module_.inputs.size() < count;) {
      ports += declared("input", "i", module_.inputs);
      variables_.push_back(module_.inputs.back());
    }
    for (std::uint32_t i = below(3); i-- > 0;) {
      std::vector<VerilogPort> wire;
      body += "  " + declared("wire", "w" + std::to_string(i), wire);
      body.resize(body.size() - 2);
      body += " = " + expression(2) + ";\n";
      variables_.push_back(wire[0]);
    }
    for (int i = 0; i < 4; ++i) {
      const bool is_case = below(4) == 0;
      ports += declared(is_case ? "output reg" : "output", "o", module_.outputs);
      const std::string& name = module_.outputs.back().name;
      body += is_case ? case_of(name) : "  assign " + name + " = " + expression(3) + ";\n";
    }
    ports.resize(ports.size() - 2);
    module_.text = "module top(" + ports + ");\n" + body + "endmodule\n";
    return std::move(module_);
  }

 private:
  static constexpr std::uint32_t kBitsMax = 40;

  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(rng_() % bound); }
  template <std::size_t n>
  const char* one_of(const std::array<const char*, n>& words) {
    return words[below(n)];
  }

  // Small widths are as frequent as large ones.
  std::uint32_t width() { return 1 + below(below(2) == 0 ? 8 : kBitsMax); }

  std::string declared(const std::string& kind, const std::string& prefix,
                       std::vector<VerilogPort>& ports) {
    const VerilogPort port{prefix + std::to_string(ports.size()), width()};
    ports.push_back(port);
    const bool counts_up = below(8) == 0;
    if (counts_up) counts_up_.push_back(port.name);
    const std::string high = std::to_string(port.bits - 1);
    return kind + (below(2) == 0 ? " signed [" : " [") + (counts_up ? "0:" + high : high + ":0") +
           "] " + port.name + ", ";
  }

  std::string case_of(const std::string& name) {
    // unsigned, as Icarus Verilog 11 does not extend the sign of $signed(...) in a case
    std::string text = "  always @* case ({" + expression(1) + "})\n";
    for (std::uint32_t i = 0; i < 5; ++i)
      text += "    " + std::to_string(i) + ": " + name + " = " + expression(1) + ";\n";
    return text + "    default: " + name + " = " + expression(1) + ";\n  endcase\n";
  }

  std::string literal() {
    const std::uint32_t bits = 1 + below(16);
    return std::to_string(bits) + (below(2) == 0 ? "'sd" : "'d") +
           std::to_string(rng_() & ((1u << bits) - 1));
  }

  // Selects are of vectors that count down, and of bits that they have.
  std::string leaf() {
    const VerilogPort& variable = variables_[below(static_cast<std::uint32_t>(variables_.size()))];
    const bool counts_down = std::ranges::find(counts_up_, variable.name) == counts_up_.end();
    switch (below(counts_down ? 7 : 3)) {
      case 0:
        return literal();
      case 3: {
        const std::uint32_t low = below(variable.bits), high = low + below(variable.bits - low);
        return variable.name + "[" + std::to_string(high) + ":" + std::to_string(low) + "]";
      }
      case 4:
      case 5:
        return variable.bits == 1 ? variable.name : selected(variable);
      default:
        return variable.name;
    }
  }

  // The bits from one on whose number is an input.
  std::string selected(const VerilogPort& variable) {
    const VerilogPort& index = variables_[0];
    std::uint32_t index_bits = 1;
    while (index_bits < index.bits && (2u << index_bits) <= variable.bits) ++index_bits;
    const bool counts_up = std::ranges::find(counts_up_, index.name) != counts_up_.end();
    const std::string high = std::to_string(index_bits - 1);
    const std::uint32_t bits_max = variable.bits - (1u << index_bits) + 1;
    return variable.name + "[" + index.name + (counts_up ? "[0:" + high : "[" + high + ":0") +
           "] +: " + std::to_string(1 + below(bits_max)) + "]";
  }

  std::string expression(int depth) {
    if (depth == 0) return leaf();
    switch (below(12)) {
      case 0:
        return std::string("(") +
               one_of<10>({"~", "-", "+", "!", "&", "|", "^", "~&", "~|", "~^"}) + "(" +
               expression(depth - 1) + "))";
      case 1:
        return "(" + expression(depth - 1) + " ? " + expression(depth - 1) + " : " +
               expression(depth - 1) + ")";
      case 2:
        return "{" + leaf() + ", " + leaf() + "}";
      case 3:
        return "{" + std::to_string(1 + below(3)) + "{" + leaf() + "}}";
      case 4:
        return std::string(below(2) == 0 ? "$signed(" : "$unsigned(") + expression(depth - 1) + ")";
      case 5:
        return divides_ ? leaf() : quotient_or_remainder();
      case 6:
        if (products_++ < 2) return "(" + leaf() + " * " + leaf() + ")";
        return leaf();
      default:
        return "(" + expression(depth - 1) + " " +
               one_of<18>({"+", "-", "&", "|", "^", "~^", "<<", ">>", "<<<", ">>>", "<", "<=", ">",
                           ">=", "==", "!=", "&&", "||"}) +
               " " + expression(depth - 1) + ")";
    }
  }

  // The divisor is odd: 2'sb01 keeps signed operands signed.
  std::string quotient_or_remainder() {
    divides_ = true;
    return "(" + leaf() + (below(2) == 0 ? " / (" : " % (") + leaf() + " | 2'sb01))";
  }

  std::mt19937_64 rng_;
  VerilogModule module_;
  std::vector<VerilogPort> variables_;
  std::vector<std::string> counts_up_;
  std::uint32_t products_ = 0;
  bool divides_ = false;
};

}  // namespace

VerilogModule random_module(std::uint64_t seed) { return ModuleMaker(seed).make(); }

std::vector<VerilogModule> fixed_modules() {
  std::vector<VerilogModule> modules;
  modules.push_back({R"(
module top(input [3:0] op, input [15:0] a, b, output reg [15:0] y, output zero);
  wire signed [15:0] sa = a, sb = b;
  always @* case (op)
    0: y = a + b;
    1: y = a - b;
    2: y = a & b;
    3: y = a | b;
    4: y = a ^ b;
    5: y = a << b[3:0];
    6: y = a >> b[3:0];
    7: y = sa >>> b[3:0];
    8: y = {15'd0, sa < sb};
    9: y = {15'd0, a < b};
    10: y = a * b;
    11: y = b == 0 ? 16'hffff : a / b;
    12: y = b == 0 ? a : a % b;
    default: y = 0;
  endcase
  assign zero = y == 0;
endmodule
)",
                     {{"op", 4}, {"a", 16}, {"b", 16}},
                     {{"y", 16}, {"zero", 1}}});
  modules.push_back({R"(
module top(input [11:0] a, input [4:0] b, input signed [6:0] c, d, output [11:0] q, r,
           output signed [6:0] sq, sr, output [11:0] tenth);
  // sized constants: a division is as wide as its widest operand
  assign q = b == 0 ? 12'd0 : a / b, r = b == 0 ? 12'd0 : a % b;
  assign sq = d == 0 ? 7'sd0 : c / d, sr = d == 0 ? 7'sd0 : c % d;
  assign tenth = a / 12'd10;
endmodule
)",
                     {{"a", 12}, {"b", 5}, {"c", 7}, {"d", 7}},
                     {{"q", 12}, {"r", 12}, {"sq", 7}, {"sr", 7}, {"tenth", 12}}});
  modules.push_back({R"(
module top(input [18:0] x, y, output reg [18:0] sum);
  // sign, exponent, mantissa; rounds towards 0, without subnormal numbers
  wire swap = x[17:0] < y[17:0];
  wire [18:0] greater = swap ? y : x, lesser = swap ? x : y;
  wire [7:0] shift = greater[17:10] - lesser[17:10];
  wire [13:0] a = {greater[17:10] != 0, greater[9:0], 3'd0};
  wire [13:0] b = {lesser[17:10] != 0, lesser[9:0], 3'd0} >> shift;
  wire [14:0] total = greater[18] == lesser[18] ? a + b : a - b;
  reg [14:0] value;
  reg [8:0] exponent;
  integer i;
  always @* begin
    value = total;
    exponent = {1'b0, greater[17:10]} + 1;
    for (i = 0; i < 14; i = i + 1)
      if (!value[14] && exponent != 0) begin
        value = value << 1;
        exponent = exponent - 1;
      end
    sum = {greater[18], 18'd0};
    if (value[14] && exponent != 0) sum[17:0] = {exponent[7:0], value[13:4]};
  end
endmodule
)",
                     {{"x", 19}, {"y", 19}},
                     {{"sum", 19}}});
  modules.push_back({R"(
module top(input [4:0] z, input [5:0] x, output [69:0] wide, output reg [6:0] y);
  reg [69:0] table_of_words [3:30];
  integer i;
  initial for (i = 3; i < 31; i = i + 1) table_of_words[i] = i * 70'h123456789abcdef01;
  assign wide = table_of_words[z];
  always @* case (x)
    0: y = 5; 1: y = 63; 2: y = 17; 3: y = 9; 4: y = 122; 5: y = 33; 6: y = 44; 7: y = 12;
    8: y = 61; 9: y = 3; 10: y = 55; 11: y = 18; 12: y = 19; 13: y = 20; 14: y = 40; 15: y = 1;
    16: y = 65; 17: y = 3; 18: y = 17; 19: y = 99; 20: y = 122; 21: y = 3; 22: y = 44; 23: y = 2;
    default: y = 50;
  endcase
endmodule
)",
                     {{"z", 5}, {"x", 6}},
                     {{"wide", 70}, {"y", 7}}});
  return modules;
}

}  // namespace tinyot::test
