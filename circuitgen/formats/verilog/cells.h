// The functions of the cells of a netlist: gates, and the arithmetic that the synthesis leaves to
// circuit/integer.h, which takes fewer ANDs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "circuitgen/formats/verilog/netlist.h"
#include "tinyot/circuit/builder.h"

namespace tinyot::circuit {

// The ports of cells that are outputs.
bool is_output(const std::string& port);

// Why the cell cannot be evaluated; empty if it can.
std::string unsupported(const Cell& cell);

// A $mod has its output at kRemainder; a $div with the same operands may have both.
inline constexpr const char *kQuotient = "Y", *kRemainder = "R";

// Products and sums of single bits that the cell takes, about. It is not an unsupported one.
std::uint64_t bit_operations(const Cell& cell);

// The values of the cell's outputs, one after the other in the order of the ports' names, given
// those of its inputs. The cell is not an unsupported one. Fails: UsageError naming the cell if the
// widths of its ports do not fit.
Bits evaluate(const Cell& cell, const std::function<Bits(const std::string& port)>& input);

// For Yosys, the types of the cells that it leaves as they are.
inline constexpr const char* kArithmeticCells =
    "t:$add t:$sub t:$neg t:$mul t:$div t:$mod t:$lt t:$le t:$gt t:$ge";
inline constexpr const char* kTableCells = "t:$pmux t:$mem*";
inline constexpr const char* kSequentialCells = "t:$*ff* t:$*latch* t:$sr t:$tribuf";

// Arithmetic of small depth for techmap, instead of that of Yosys. A place does not both propagate
// and generate a carry, so the OR that combines two ranges of places is a XOR; ranges are combined
// as in J. Sklansky, "Conditional-sum addition logic", IRE Transactions on Electronic Computers
// EC-9 (1960). The division is that of circuit/integer.h.
inline constexpr const char* kShallowArithmetic = R"(
(* techmap_celltype = "$lcu" *)
module _80_tinyot_lcu (P, G, CI, CO);
  parameter WIDTH = 2;
  (* force_downto *) input [WIDTH-1:0] P, G;
  input CI;
  (* force_downto *) output [WIDTH-1:0] CO;
  localparam LEVELS = $clog2(WIDTH);
  genvar l, i;
  for (l = 0; l <= LEVELS; l = l + 1) begin : level
    wire [WIDTH-1:0] p, g;
    if (l == 0) begin
      assign p = P, g = G ^ (P[0] & CI);
    end else begin
      for (i = 0; i < WIDTH; i = i + 1) begin : place
        localparam BELOW = ((i >> (l - 1)) << (l - 1)) - 1;
        if ((i >> (l - 1)) & 1) begin
          assign g[i] = level[l-1].g[i] ^ (level[l-1].p[i] & level[l-1].g[BELOW]);
          assign p[i] = level[l-1].p[i] & level[l-1].p[BELOW];
        end else begin
          assign g[i] = level[l-1].g[i], p[i] = level[l-1].p[i];
        end
      end
    end
  end
  assign CO = level[LEVELS].g;
endmodule

(* techmap_celltype = "$fa" *)
module _80_tinyot_fa (A, B, C, X, Y);
  parameter WIDTH = 1;
  (* force_downto *) input [WIDTH-1:0] A, B, C;
  (* force_downto *) output [WIDTH-1:0] X, Y;
  genvar i;
  assign Y = A ^ B ^ C;
  for (i = 0; i < WIDTH; i = i + 1)
    assign X[i] = A[i] ^ B[i] ? C[i] : A[i];
endmodule

module \$__div_mod_u (A, B, Y, R);
  parameter WIDTH = 1;
  (* force_downto *) input [WIDTH-1:0] A, B;
  (* force_downto *) output [WIDTH-1:0] Y, R;
  genvar k;
  for (k = 0; k <= WIDTH; k = k + 1) begin : step
    wire [WIDTH:0] rest, addend, carries, sum;
    wire is_negative = sum[WIDTH];
    wire adds;
    if (k == 0) begin
      assign rest = A[WIDTH-1], adds = 0;
    end else if (k < WIDTH) begin
      assign rest = {step[k-1].sum[WIDTH-1:0], A[WIDTH-1-k]}, adds = step[k-1].is_negative;
    end else begin
      assign rest = step[k-1].sum, adds = 1;
    end
    if (k < WIDTH) begin
      assign addend = {1'b0, B} ^ {WIDTH + 1{~adds}};
      assign Y[WIDTH-1-k] = ~is_negative;
    end else begin
      assign addend = B & {WIDTH{step[k-1].is_negative}};
      assign R = sum[WIDTH-1:0];
    end
    \$lcu #(.WIDTH(WIDTH + 1)) lcu (.P(rest ^ addend), .G(rest & addend), .CI(~adds), .CO(carries));
    assign sum = rest ^ addend ^ {carries[WIDTH-1:0], ~adds};
  end
endmodule
)";

// The gates that ABC maps all others to, in the format GENLIB (Berkeley SIS). The areas are ANDs,
// with a little for other gates, the delays AND depth.
inline constexpr const char* kGateLibrary = R"(
GATE TINYOT_ZERO 0 Y=CONST0;
GATE TINYOT_ONE 0 Y=CONST1;
GATE TINYOT_BUF 0 Y=A; PIN * NONINV 1 999 0.001 0 0.001 0
GATE TINYOT_NOT 0.001 Y=!A; PIN * INV 1 999 0.001 0 0.001 0
GATE TINYOT_XOR 0.002 Y=(A*!B)+(!A*B); PIN * UNKNOWN 1 999 0.001 0 0.001 0
GATE TINYOT_AND 1 Y=A*B; PIN * NONINV 1 999 1 0 1 0
GATE TINYOT_OR 1.01 Y=A+B; PIN * NONINV 1 999 1 0 1 0
GATE TINYOT_MUX 1.01 Y=(A*!S)+(B*S); PIN * UNKNOWN 1 999 1 0 1 0
GATE TINYOT_MAJ 1.01 Y=(A*B)+(A*C)+(B*C); PIN * NONINV 1 999 1 0 1 0
)";

}  // namespace tinyot::circuit
