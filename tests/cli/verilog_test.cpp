// `tinyot circuit import`: refusals, roles of ports, costs, and imported circuits in runs.
#include <cstdlib>
#include <sstream>

#include "tests/support/command_test.h"

namespace tinyot::test {
namespace {

class VerilogTest : public CommandTest {
 protected:
  void SetUp() override {
    if (std::system("yosys -V > /dev/null 2>&1") != 0)
      GTEST_SKIP() << "yosys is not installed: tools/setup-tests installs it";
  }

  // Imports the module `top` of the text.
  Ended import(const std::string& text, const Arguments& more = {}) const {
    write_file(path("design.v"), text);
    return tinyot(Arguments{"circuit", "import", path("design.v"), "--top", "top", "--output",
                            path("top.txt")} +
                  more);
  }
  Json report(const std::string& text, const Arguments& more = {}) const {
    return json_of(import(text, more + Arguments{"--format", "json"}));
  }
  Json info() const {
    return json_of(tinyot({"circuit", "info", path("top.txt"), "--format", "json"}));
  }
  void expect_refusal(const std::string& text, const std::string& reason) const {
    EXPECT_TRUE(ended_with(import(text), 2, reason)) << text;
    EXPECT_FALSE(std::filesystem::exists(path("top.txt"))) << text;
  }
};

// A module of one operation on two inputs.
std::string binary_module(const std::string& kind, int bits, const std::string& operation) {
  const std::string range = kind + " [" + std::to_string(bits - 1) + ":0] ";
  return "module top(input " + range + "a, b, output " + range + "y); assign y = a " + operation +
         " b; endmodule\n";
}

TEST_F(VerilogTest, RefusesSequentialCellsNamingSource) {
  expect_refusal(
      "module top(input clk, d, output reg q);\n  always @(posedge clk) q <= d;\nendmodule\n",
      "design.v:2.3-2.32: cell ");
  expect_refusal("module top(input clk, d, output reg q); always @(posedge clk) q <= d; endmodule",
                 "($dff) is a flip-flop: a circuit keeps no state");
  expect_refusal("module top(input en, d, output reg q); always @* if (en) q = d; endmodule",
                 "is a latch");
  expect_refusal("module top(input en, d, output q); assign q = en ? d : 1'bz; endmodule",
                 "is a tristate buffer");
  expect_refusal(
      "module top(input clk, input [3:0] a, d, output [3:0] q); reg [3:0] m [0:15];\n"
      "always @(posedge clk) m[a] <= d; assign q = m[a]; endmodule",
      "is a memory that is written or clocked");
}

TEST_F(VerilogTest, RefusesWiresWithoutOneValue) {
  expect_refusal("module top(input a, output y); wire w; assign y = a & w; endmodule",
                 "is used but has no driver");
  expect_refusal("module top(input a, b, output y); assign y = a; assign y = ~b; endmodule",
                 "multiple conflicting drivers");
  expect_refusal("module top(input a, b, output y); wire w = a & y; assign y = w | b; endmodule",
                 "found logic loop");
  expect_refusal("module top(input a, output y); assign y = 1'bz; endmodule",
                 "port y has the value z");
  expect_refusal("module top(input a, output y); endmodule", "output y has a bit without a value");
  expect_refusal("module top(input a, inout y); assign y = a; endmodule",
                 "port y is bidirectional");
}

TEST_F(VerilogTest, RefusesWhatYosysRefusesInItsWords) {
  expect_refusal("module top(input a, output y);\n  assign y = a & ;\nendmodule",
                 "design.v:2: ERROR: syntax error, unexpected ';'");
  expect_refusal("module other(input a, output y); assign y = a; endmodule",
                 "Module `top' not found");
  expect_refusal("module top(input a, output y); missing u(a, y); endmodule",
                 "Module `\\missing' referenced in module `\\top' in cell `\\u'");
}

// Versions after 0.23 have cells for them.
TEST_F(VerilogTest, InstancesMessagesAndPropertiesTakeNoGates) {
  const auto ands_with = [&](const std::string& statements) {
    return report(R"((* of = "part" *) module part(input [3:0] a, input c, output reg [3:0] y);
                     always @* begin y = a ^ {4{c}}; )" +
                  statements + R"( end endmodule
                     module top(input [3:0] a, b, output reg [3:0] y); wire [3:0] z;
                     (* of = "top" *) part first(.a(a), .c(b[0]), .y(z));
                     always @* begin y = z + b; )" +
                  statements + " end endmodule\n")["ands"];
  };
  EXPECT_EQ(ands_with(""), 3);
  EXPECT_EQ(ands_with("$display(\"%d\", a * y); if (a == 7) $write(\"%b\", a / y);"), 3);
  EXPECT_EQ(ands_with("assert (a * y != 3); assume (a != 15); if (a == 7) cover (a / y == 2);"), 3);
}

TEST_F(VerilogTest, RefusesTableWithLongIndex) {
  expect_refusal(
      "module top(input [16:0] a, output [1:0] y); reg [1:0] m [131069:131071];\n"
      "initial begin m[131069] = 1; m[131070] = 2; m[131071] = 3; end assign y = m[a]; endmodule",
      "is a table with an index of more than 16 bits");
}

TEST_F(VerilogTest, SignedPortsAreReadSo) {
  report(
      "module top(input signed [7:0] a, b, input [7:0] c,\n"
      "           output less, output signed [7:0] least);\n"
      "assign less = a < b, least = less ? a : b; endmodule");
  const Json file = info();
  EXPECT_EQ(file["inputs"][0]["reading"], "signed");
  EXPECT_EQ(file["inputs"][2]["reading"], "unsigned");
  EXPECT_EQ(file["outputs"][1]["type"], "i8");
  const Arguments eval = {"circuit", "eval", path("top.txt"), "--format", "json"};
  const Arguments inputs = {"--input", "a=-5", "--input", "b=3", "--input", "c=0"};
  EXPECT_EQ(json_of(tinyot(eval + inputs))["outputs"]["least"], "-5");
  EXPECT_TRUE(ended_with(tinyot(eval + Arguments{"--type", "a=u8"}), 2,
                         "the circuit reads it as signed, not as u8"));
  EXPECT_TRUE(ended_with(tinyot(eval + Arguments{"--type", "c=i8"}), 2,
                         "the circuit reads it as unsigned, not as i8"));
}

TEST_F(VerilogTest, TableOfOneWordHasItsValue) {
  report(
      "module top(input [3:0] a, output [7:0] y, z); reg [7:0] m [0:0], n [3:3];\n"
      "initial begin m[0] = 8'h35; n[3] = 8'h7e; end assign y = m[a] ^ a, z = n[a]; endmodule");
  const Json eval = json_of(tinyot({"circuit", "eval", path("top.txt"), "--lanes", "2", "--input",
                                    "a=0,3", "--format", "json"}));
  EXPECT_EQ(eval["outputs"]["y"][0], "0x35");
  EXPECT_EQ(eval["outputs"]["z"][1], "0x7e");
}

TEST_F(VerilogTest, RefusesFilesAndModulesThatAreNotThere) {
  const auto run = [&](const std::string& file, const std::string& top) {
    return tinyot({"circuit", "import", file, "--top", top, "--output", path("top.txt")});
  };
  write_file(path("design.v"), binary_module("", 4, "+"));
  EXPECT_TRUE(ended_with(run(path("none.v"), "top"), 2, "cannot read "));
  EXPECT_TRUE(
      ended_with(run(path("design.v"), "top; shell true"), 2, "is not the name of a module"));
  EXPECT_TRUE(
      ended_with(tinyot({"circuit", "import", path("design.v"), "--output", "x"}), 2, "--top"));
}

constexpr const char* kRoles = R"(
module top(input [3:0] p, q, (* owner = "B" *) input [3:0] r,
           (* owner = "A", common *) input [0:3] s,
           output [3:0] x, (* receiver = "A" *) output [3:0] y, (* receiver = "none" *) output z);
  assign x = p + q, y = r ^ s, z = p[0];
endmodule
)";

TEST_F(VerilogTest, AttributesAndDefaultsGiveRoles) {
  const Ended ended = import(kRoles, {"--format", "json"});
  const Json report = json_of(ended);
  EXPECT_NE(ended.err.find("by default p is A's, q is B's, x is for both: --owner"),
            std::string::npos)
      << ended.err;
  const Json file = info();
  EXPECT_EQ(report["inputs"], file["inputs"]);
  EXPECT_EQ(report["outputs"], file["outputs"]);
  for (const char* count : {"ands", "xors", "nots", "and_depth"})
    EXPECT_EQ(report[count], file[count]) << count;
  EXPECT_EQ(report["ands"], 3);
  EXPECT_EQ(report["bytes"], std::filesystem::file_size(path("top.txt")));
  std::string inputs, outputs;
  for (const Json& of : file["inputs"])
    inputs += of["name"].get<std::string>() + " " + of["bits"].dump() + " " +
              of["owner"].get<std::string>() + " " + of["reading"].get<std::string>() + "\n";
  for (const Json& of : file["outputs"])
    outputs += of["name"].get<std::string>() + " " + of["bits"].dump() + " " +
               of["to"].get<std::string>() + " " + of["reading"].get<std::string>() + "\n";
  EXPECT_EQ(inputs, "p 4 A unsigned\nq 4 B unsigned\nr 4 B unsigned\ns 4 A unsigned\n");
  EXPECT_EQ(outputs, "x 4 both unsigned\ny 4 A unsigned\nz 1 none unsigned\n");
  // s is common: one value for both lanes.
  const Json eval = json_of(
      tinyot({"circuit", "eval", path("top.txt"), "--lanes", "2", "--input", "p=7,8", "--input",
              "q=1,2", "--input", "r=1,2", "--input", "s=8", "--format", "json"}));
  EXPECT_EQ(eval["outputs"]["x"].dump(), R"(["0x8","0xa"])");
  EXPECT_EQ(eval["outputs"]["y"].dump(), R"(["0x9","0xa"])");
}

TEST_F(VerilogTest, OptionsGoBeforeAttributes) {
  import(kRoles, {"--owner", "p=B", "--owner", "r=A", "--to", "B", "--receiver", "z=both"});
  const Json file = info();
  EXPECT_EQ(file["inputs"][0]["owner"], "B");
  EXPECT_EQ(file["inputs"][2]["owner"], "A");
  EXPECT_EQ(file["outputs"][0]["to"], "B");
  EXPECT_EQ(file["outputs"][1]["to"], "B");
  EXPECT_EQ(file["outputs"][2]["to"], "both");
}

TEST_F(VerilogTest, RefusesRolesThatDoNotFit) {
  const std::vector<std::pair<Arguments, std::string>> refusals = {
      {{"--owner", "pp=A"}, "module top has no input 'pp' (did you mean p?)"},
      {{"--owner", "x=A"}, "it has p, q, r, s"},
      {{"--receiver", "p=A"}, "module top has no output 'p'"},
      {{"--owner", "p=C"}, "--owner must be A, B, shared or public"},
      {{"--to", "none"}, "--to must be A, B or both"},
      {{"--receiver", "x=C"}, "--receiver must be A, B, both or none"}};
  for (const auto& [options, reason] : refusals)
    EXPECT_TRUE(ended_with(import(kRoles, options), 2, reason));
  expect_refusal(
      "module top((* owner = \"C\" *) input a, output y); assign y = a; endmodule",
      "port a: the attribute owner is \"A\", \"B\", \"shared\" or \"public\", not \"C\"");
  expect_refusal("module top(input a, (* receiver = \"C\" *) output y); assign y = a; endmodule",
                 "port y: the attribute receiver is");
  expect_refusal("module top((* receiver = \"A\" *) input a, output y); assign y = a; endmodule",
                 "port a has the attribute receiver, but is an input");
  expect_refusal("module top(input a, (* owner = \"A\" *) output y); assign y = a; endmodule",
                 "port y has the attribute owner, but is an output");
}

TEST_F(VerilogTest, ArithmeticTakesFewestAnds) {
  EXPECT_LE(report(binary_module("", 64, "+"))["ands"], 63);
  EXPECT_LE(report(binary_module("", 64, "-"))["ands"], 63);
  EXPECT_LE(report(binary_module("", 64, "*"))["ands"], 4033);
  EXPECT_LE(report(binary_module("", 64, "/"))["ands"], 2205);
  EXPECT_LE(report(binary_module("signed", 64, "/"))["ands"], 2394);
  const std::string quotient_and_remainder =
      "module top(input [31:0] a, b, output [31:0] q, r); assign q = a / b, r = a % b; endmodule";
  EXPECT_LE(report(quotient_and_remainder)["ands"], 652) << "one division makes both";
  const std::string signed_product =
      "module top(input signed [15:0] a, b, output signed [31:0] y); assign y = a * b; endmodule";
  EXPECT_LE(report(signed_product)["ands"], 2 * 16 * 16 - 16 + 16);
}

TEST_F(VerilogTest, DepthOptionTradesAndsForDepth) {
  const Json few = report(binary_module("", 32, "+")),
             shallow = report(binary_module("", 32, "+"), {"--depth"});
  EXPECT_LE(shallow["and_depth"], 6);
  EXPECT_GT(shallow["ands"], few["ands"]);
  EXPECT_EQ(info()["and_depth"], shallow["and_depth"]);
  for (const Json& each : shallow["candidates"])
    EXPECT_GE(each["and_depth"], shallow["and_depth"]) << each;
  for (const Json& each : few["candidates"]) EXPECT_GE(each["ands"], few["ands"]) << each;
}

TEST_F(VerilogTest, AluRunsWithTwoParties) {
  const std::string alu = R"(
module top((* owner = "A" *) input [1:0] op, (* owner = "A" *) input signed [15:0] a,
           (* owner = "B" *) input signed [15:0] b, (* receiver = "B" *) output reg [15:0] y);
  always @* case (op)
    0: y = a + b;
    1: y = a - b;
    2: y = a >>> b[3:0];
    default: y = {15'd0, a < b};
  endcase
endmodule
)";
  const Json cost = report(alu);
  EXPECT_LE(cost["ands"], 160);
  const Json run = json_of(tinyot({"local", "run", "--live", "--profile", "fast", "--unit", "2^13",
                                   "--circuit", path("top.txt"), "--input", "op=2", "--input",
                                   "a=0x8000", "--input", "b=0x3", "--format", "json"}));
  EXPECT_EQ(run["B"]["outputs"]["y"], "0xf000");
  EXPECT_FALSE(run["A"]["outputs"].contains("y"));
}

// A table of 256 bytes, as a case statement.
TEST_F(VerilogTest, SBoxTableTakesOneAndForEachProductOfIndexBits) {
  static constexpr const char* kFirstRow =
      "637c777bf26b6fc53001672bfed7ab76";  // FIPS-197, Figure 7
  std::ostringstream text;
  text << "module top(input [7:0] x, output reg [7:0] y); always @* case (x)\n";
  const auto byte_at = [](int i) {
    // The inverse in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1, and the affine map.
    const auto times = [](int a, int b) {
      int product = 0;
      for (; b != 0; b >>= 1, a = (a << 1) ^ ((a & 128) != 0 ? 0x11b : 0))
        if ((b & 1) != 0) product ^= a;
      return product;
    };
    int inverse = 1;
    for (int k = 0; k < 254; ++k) inverse = times(inverse, i);
    int result = 0x63;
    for (int k = 0; k < 5; ++k) result ^= (inverse << k | inverse >> (8 - k)) & 255;
    return result;
  };
  for (int i = 0; i < 256; ++i) text << i << ": y = " << byte_at(i) << ";\n";
  text << "endcase endmodule\n";
  const Json cost = report(text.str());
  EXPECT_LE(cost["ands"], 247);
  EXPECT_LE(cost["and_depth"], 3);
  std::string inputs = "x=0", expected;
  for (int i = 1; i < 16; ++i) inputs += "," + std::to_string(i);
  const Json eval = json_of(tinyot({"circuit", "eval", path("top.txt"), "--lanes", "16", "--input",
                                    inputs, "--format", "json"}));
  std::string row;
  for (const Json& byte : eval["outputs"]["y"]) row += byte.get<std::string>().substr(2);
  EXPECT_EQ(row, kFirstRow);
}

TEST_F(CommandTest, VerilogWithoutYosysNamesPackage) {
  write_file(path("design.v"), "module top(input a, output y); assign y = a; endmodule");
  Process import("/usr/bin/env", {"PATH=/nonexistent", TINYOT_BINARY, "circuit", "import",
                                  path("design.v"), "--top", "top", "--output", path("top.txt")});
  EXPECT_TRUE(ended_with(import.end(), 2, "is not installed: apt install yosys"));
}

}  // namespace
}  // namespace tinyot::test
