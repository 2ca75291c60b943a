// `tinyot circuit import` of designs that ask for files, commands, or more than their share: the
// scan refuses them, and where it is left out, the sandbox and the options of Yosys hold.
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/error.h"
#include "circuitgen/formats/verilog/design_text.h"
#include "circuitgen/formats/verilog/import.h"
#include "tests/support/command_test.h"

namespace tinyot::test {
namespace {

namespace fs = std::filesystem;
using system::Confinement;
using system::Limits;

// A design whose table is filled by `fill`, a part of a module.
std::string table_design(const std::string& fill) {
  return "module top(input [1:0] a, output [31:0] y);\nreg [31:0] m [0:3];\n" + fill +
         "\nassign y = m[a];\nendmodule\n";
}

// Calls system(command) while Yosys evaluates constants: the text is written byte by byte to
// memory that is mapped at a fixed address.
std::string command_design(const std::string& command) {
  const std::string address = std::to_string(0x10000000);
  std::string text =
      "import \"DPI-C\" function integer mmap(integer a, integer b, integer c, integer d, integer "
      "e, integer f);\n"
      "import \"DPI-C\" function integer memset(integer a, integer b, integer c);\n"
      "import \"DPI-C\" function integer system(integer a);\n"
      "module top(input a, output y);\n"
      "localparam integer step_0 = mmap(" +
      address + ", 4096, 3, 50, -1, 0);\n";
  for (std::size_t i = 0; i < command.size(); ++i)
    text += "localparam integer step_" + std::to_string(i + 1) + " = memset(" + address + " + " +
            std::to_string(i) + " + 0 * step_" + std::to_string(i) + ", " +
            std::to_string(static_cast<int>(command[i])) + ", 1);\n";
  return text + "localparam integer status = system(" + address + " + 0 * step_" +
         std::to_string(command.size()) + ");\nassign y = a ^ (status == 1);\nendmodule\n";
}

class VerilogRequestTest : public CommandTest {
 protected:
  void SetUp() override {
    if (std::system("yosys -V > /dev/null 2>&1") != 0)
      GTEST_SKIP() << "yosys is not installed: tools/setup-tests installs it";
    // Files that any user may read.
    fs::permissions(dir_, fs::perms(0777));
    write_file(path("key.hex"), "10110111\n1100\n1\n0\n");
    write_file(path("part.v"), "initial begin m[0] = 5; m[1] = 6; m[2] = 7; m[3] = 8; end\n");
  }

  Ended import(const std::string& file, const Arguments& more = {}) const {
    return tinyot(
        Arguments{"circuit", "import", file, "--top", "top", "--output", path("top.txt")} + more);
  }
  Ended import_text(const std::string& text, const Arguments& more = {}) const {
    write_file(path("design.v"), text);
    return import(path("design.v"), more);
  }
  void expect_refusal(const std::string& text, const std::string& reason) const {
    EXPECT_TRUE(ended_with(import_text(text), 2, reason)) << text;
    EXPECT_FALSE(fs::exists(path("top.txt"))) << text;
  }
  // Yosys without the scan. Returns its error; empty if there is none.
  static std::string error_of(const Confinement& yosys, const std::string& text,
                              const Limits& limits = {}) {
    try {
      circuit::synthesise(yosys, {"design.v", text, "top"}, circuit::Goal::Ands, limits);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }
  // Yosys in no sandbox, although there may be one.
  Confinement unconfined_yosys() const {
    const TemporaryVariable path("PATH", yosys_only());
    return circuit::confined_yosys();
  }
  // The command line with this value of PATH.
  Ended import_with_path(const std::string& folders, const Arguments& more) const {
    return Process("/usr/bin/env",
                   Arguments{"PATH=" + folders, TINYOT_BINARY, "circuit", "import",
                             path("design.v"), "--top", "top", "--output", path("top.txt")} +
                       more)
        .end();
  }
  // A folder that has yosys and nothing else.
  std::string yosys_only() const {
    fs::create_directory(path("bin"));
    fs::create_symlink(system::found_on_path("yosys").value(), path("bin/yosys"));
    return path("bin");
  }
};

constexpr const char* kSumDesign =
    "module top(input [3:0] a, b, output [3:0] y); assign y = a + b; endmodule\n";

TEST_F(VerilogRequestTest, RefusesFunctionsOfCWithTheirLine) {
  const std::string design = command_design("id > '" + path("ran") + "'");
  expect_refusal("// first line\n" + design, "design.v:2: a function imported from C (DPI)");
  expect_refusal(
      "import /* */ \"DPI\"\n function integer f(integer a);\n" + std::string(kSumDesign),
      "design.v:1: a function imported from C");
  EXPECT_FALSE(fs::exists(path("ran")));
}

TEST_F(VerilogRequestTest, YosysCallsNoFunctionOfC) {
  const std::string error =
      error_of(circuit::confined_yosys(), command_design("id > '" + path("ran") + "'"));
  EXPECT_NE(error.find("Found DPI function"), std::string::npos) << error;
  EXPECT_FALSE(fs::exists(path("ran")));
}

// Were Yosys to call functions of C, their commands would see the sandbox only.
TEST_F(VerilogRequestTest, CommandsInSandboxReachNothing) {
  const Confinement yosys = circuit::confined_yosys();
  if (yosys.missing()) GTEST_SKIP() << yosys.missing()->reason;
  const std::string command =
      "id > '" + path("ran") + "'; cat '" + path("key.hex") + "' >&2; echo ran >&2";
  const system::Outcome outcome =
      yosys.run({"-q", "-p", "read_verilog -sv design.v; hierarchy -top top; proc"},
                {{"design.v", command_design(command)}}, {});
  EXPECT_NE(outcome.err.find("ran\n"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("10110111"), std::string::npos) << outcome.err;
  EXPECT_FALSE(fs::exists(path("ran")));
}

// A part of a module that fills its table, and the refusal. KEY and PART are files.
using Requests = std::vector<std::pair<std::string, std::string>>;

// Ways to name $readmemh and `include that Yosys 0.23 takes.
const Requests& requests() {
  static const Requests kRequests = {
      {"initial $readmemh(\"KEY\", m);",
       "design.v:3: $readmemh is not one of the system functions"},
      {"initial\n$readmemb(\"KEY\", m);", "design.v:4: $readmemb is not"},
      {"initial #3$readmemh(\"KEY\", m);", "design.v:3: $readmemh is not"},
      {"initial $read\rmemh(\"KEY\", m);", "design.v:3: $readmemh is not"},
      {"initial \\$readmemh (\"KEY\", m);", "design.v:3: $readmemh is not"},
      // A number and a system function.
      {"`define X readmemh\ninitial begin #1_$`X(\"KEY\", m); end",
       "design.v:4: the name _$ has a $"},
      {"`define D $read\ninitial `D``memh (\"KEY\", m);", "design.v:3: $read is not"},
      {"`define D(x) $``x\ninitial `D(readmemh)(\"KEY\", m);", "design.v:3: $ is not"},
      {"wire \\a\" = 0;\ninitial $readmemh(\"KEY\", m); wire \\b\" = 1;",
       "design.v:3: the escaped name \\a\""},
      {"`include \"PART\"", "design.v:3: `include: a design is data"},
      {"`define F \"PART\"\n`include `F", "design.v:4: `include: a design is data"},
      {"`define I `include \"PART\"\n`I", "design.v:3: `include: a design is data"},
      {"`define I(x) `inc\n`I()lude \"PART\"", "design.v:3: `inc, which"},
      {"`define I(x) `\n`I()include \"PART\"", "design.v:3: `, which"},
      {"wire \\a\" = 0; // \"\n`include \"PART\"\nwire \\b\" = 1;",
       "design.v:3: the escaped name \\a\""},
  };
  return kRequests;
}

// What is refused because it is not clear.
const Requests& unclear_requests() {
  static const Requests kRequests = {
      {"`define D \\$rea\ninitial `D``dmemh (\"KEY\", m);", "design.v:3: $rea is not"},
      {"`define R #1_$read``memh\ninitial `R(\"KEY\", m);", "design.v:3: the name _$read has a $"},
      {"`define X readmemh\ninitial #1e1$`X(\"KEY\", m);", "design.v:4: the name e1$ has a $"},
      {"localparam p = \"\"\" ; \"\n`include \"PART\"\n", "design.v:3: three quotation marks"},
      {"`ifdef NONE\n\" text\n`endif\n`include \"PART\"\n//\"", "design.v:4: a string"},
      {"`define S(x) `\"x`\"\nlocalparam p = `S(\"a);", "design.v:3: `\""},
  };
  return kRequests;
}

std::string with_files(std::string text, const std::string& key, const std::string& part) {
  for (const auto& [word, file] :
       {std::pair(std::string("KEY"), key), std::pair(std::string("PART"), part)})
    if (const auto at = text.find(word); at != std::string::npos)
      text.replace(at, word.size(), file);
  return text;
}

TEST_F(VerilogRequestTest, RefusesToReadFilesWithTheirLine) {
  for (const Requests* list : {&requests(), &unclear_requests()})
    for (const auto& [fill, reason] : *list)
      expect_refusal(table_design(with_files(fill, path("key.hex"), path("part.v"))), reason);
}

TEST_F(VerilogRequestTest, RefusesCompressedAndOtherDesignsThatAreNoText) {
  expect_refusal("\x1f\x8b\x08 compressed", "it is not a text");
  expect_refusal(kSumDesign + std::string("\0", 1) + kSumDesign, "it is not a text");
  expect_refusal(kSumDesign + std::string("// \x1b[31m"), "it is not a text");
}

// Without the scan.
TEST_F(VerilogRequestTest, SandboxHasNoFileToRead) {
  const Confinement inside = circuit::confined_yosys();
  if (inside.missing()) GTEST_SKIP() << inside.missing()->reason;
  const Confinement outside = unconfined_yosys();
  for (const auto& [fill, reason] : requests()) {
    const std::string text = table_design(with_files(fill, path("key.hex"), path("part.v")));
    EXPECT_NE(error_of(inside, text), "") << text;
    EXPECT_EQ(error_of(outside, text), "") << "not read without a sandbox: " << text;
  }
}

TEST_F(VerilogRequestTest, RefusesOtherTasksOfFilesAndCommands) {
  for (const char* call :
       {"$fopen(\"f\")", "$fread(m, 1)", "$fscanf(1, \"%d\", m)", "$fgetc(1)", "$fdisplay(1, m)",
        "$fwrite(1, m)", "$system(\"id\")", "$dumpfile(\"f\")", "$writememh(\"f\", m)",
        "$sreadmemh(m, 0, 3)", "$unknown(1)", "$value$plusargs(\"f\", m)"}) {
    const std::string name = std::string(call).substr(0, std::string(call).find('('));
    expect_refusal(table_design("initial " + std::string(call) + ";"), "design.v:3: " + name);
  }
}

// Comments, strings, names and macros that only look like requests.
TEST_F(VerilogRequestTest, AcceptsWhatAsksForNothing) {
  const Ended ended = import_text(R"(`timescale 1ns/1ps
// `include "x" $readmemh " isn't read \
`define WIDTH 4
`define PASTE(a, b) a``_``b
`define SUM(a, b) \
   (a + b) // "
/* $fopen("x"), `include, import "DPI-C" /*/
module top(input [`WIDTH-1:0] a, b, output [3:0] y); // grüße
  localparam text = "$readmemh `include \" // /* DPI-C", name = 1, next = 2, t1 = $clog2(4);
  wire [3:0] `PASTE(one, two) = $signed(a), \a+b[0] = b, \$paramod\top = 0;
  initial $display("%d", 1);
`ifdef SIMULATION
  initial $finish;
`endif
  assign y = `SUM(one_two, \a+b[0]  + 0) + $unsigned(2'd0) + \$paramod\top ;
endmodule
)");
  EXPECT_TRUE(ended_with(ended, 0));
  std::string text = read_file(path("design.v"));
  for (auto at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 2))
    text.insert(at, "\r");
  EXPECT_TRUE(ended_with(import_text(text), 0)) << "with CR LF";
}

TEST_F(VerilogRequestTest, NamesOfFilesAreNoCommands) {
  const std::string command = "shell touch " + path("ran");
  const std::vector<std::string> names = {"-p " + command,
                                          "a;" + command + ".v",
                                          "a\n" + command + "\n.v",
                                          "a\" -p \"" + command + "\".v",
                                          "a'$(touch ran)`touch ran`.v",
                                          "*?[a-z]#.v",
                                          "<<EOT"};
  for (std::string name : names) {
    std::replace(name.begin(), name.end(), '/', '_');
    write_file(path(name), kSumDesign);
    EXPECT_TRUE(ended_with(import(path(name)), 0)) << name;
    const Ended relative =
        Process("/usr/bin/env", {"--chdir", dir_.string(), TINYOT_BINARY, "circuit", "import",
                                 "--top", "top", "--output", "relative.txt", "--", name})
            .end();
    EXPECT_TRUE(ended_with(relative, 0)) << name;
  }
  for (const char* file : {"ran", "_ran"}) EXPECT_FALSE(fs::exists(path(file)));
}

TEST_F(VerilogRequestTest, NamesOfModulesAreNoCommands) {
  write_file(path("design.v"), kSumDesign);
  for (const std::string top :
       {"top; shell touch ran", "top\nshell touch ran", "top\n! touch ran", "-auto-top",
        "top -lib x", "\"top\"", "$(touch ran)", "top*", "\\top", "@x", "%top", ""}) {
    const Ended ended =
        Process("/usr/bin/env", {"--chdir", dir_.string(), TINYOT_BINARY, "circuit", "import",
                                 "design.v", "--output", "top.txt", "--top=" + top})
            .end();
    EXPECT_TRUE(ended_with(ended, 2, top.empty() ? "--top" : "name of a module")) << top;
  }
  EXPECT_FALSE(fs::exists(path("ran")));
}

TEST_F(VerilogRequestTest, ReadsTheFileThatALinkNames) {
  fs::create_directory(path("elsewhere"));
  write_file(path("elsewhere/adder.v"), kSumDesign);
  fs::create_symlink("elsewhere", path("folder"));
  fs::create_symlink("folder/adder.v", path("link.v"));
  EXPECT_TRUE(ended_with(import(path("link.v")), 0));
  EXPECT_TRUE(ended_with(import(path("folder/adder.v")), 0));
}

TEST_F(VerilogRequestTest, RefusesWhatIsNoFileWithoutWaiting) {
  ASSERT_EQ(::mkfifo(path("pipe.v").c_str(), 0600), 0);
  fs::create_symlink("pipe.v", path("link.v"));
  fs::create_symlink("/dev/zero", path("zero.v"));
  for (const std::string& file : {path("pipe.v"), path("link.v"), path("zero.v"), dir_.string()})
    EXPECT_TRUE(ended_with(import(file), 2, "it is not a regular file")) << file;
}

TEST_F(VerilogRequestTest, DesignsAreStoppedAtTheirLimits) {
  EXPECT_TRUE(ended_with(import_text("module top(input a, output y); genvar i;\n"
                                     "for (i = 0; i < 2; i = i ^ 1) begin : g wire w; end\n"
                                     "assign y = a; endmodule\n",
                                     {"--timeout", "1"}),
                         2, "it has not ended within 1 s; --timeout allows longer"));
  EXPECT_TRUE(
      ended_with(import_text("module top(input a, output y); genvar i;\n"
                             "for (i = 0; i < 2000000000; i = i + 1) begin : g wire w; end\n"
                             "assign y = a; endmodule\n",
                             {"--memory", "100M"}),
                 2, "it needs more memory than 100000000 bytes; --memory allows more"));
  EXPECT_TRUE(ended_with(import_text("module top(input [9999:0] a, b, output [9999:0] y);\n"
                                     "assign y = a * b; endmodule\n"),
                         2, "($mul) makes the circuit too large"));
  Limits limits;
  limits.output_bytes = 50000;
  EXPECT_EQ(error_of(circuit::confined_yosys(),
                     "module top(input [511:0] a, b, output [511:0] y);\n"
                     "assign y = a & b | (a ^ b); endmodule\n",
                     limits),
            "yosys cannot synthesise design.v: it writes more than 50000 bytes");
  write_file(path("design.v"), kSumDesign);
  for (const char* seconds : {"0", "1000001"})
    EXPECT_TRUE(
        ended_with(import(path("design.v"), {"--timeout", seconds}), 2, "--timeout must be"));
}

TEST_F(VerilogRequestTest, ReportNamesTheSandbox) {
  const Confinement yosys = circuit::confined_yosys();
  const Json report = json_of(import_text(kSumDesign, {"--format", "json"}));
  EXPECT_EQ(report["sandbox"], name_of(yosys.sandbox()));
  const Ended text = import_text(kSumDesign, {"--require-sandbox"});
  if (yosys.missing()) GTEST_SKIP() << yosys.missing()->reason;
  EXPECT_TRUE(ended_with(text, 0));
  EXPECT_NE(text.out.find("sandbox: bubblewrap\n"), std::string::npos) << text.out;
  EXPECT_EQ(text.err.find("sandbox"), std::string::npos) << text.err;
}

TEST_F(VerilogRequestTest, WithoutSandboxWarnsOrRefuses) {
  write_file(path("design.v"), kSumDesign);
  const std::string folder = yosys_only();
  const Ended refused = import_with_path(folder, {"--require-sandbox", "--format", "json"});
  EXPECT_TRUE(ended_with(refused, 2, "bubblewrap is not installed: apt install bubblewrap"));
  EXPECT_EQ(json_of(refused)["error"]["remedy"], "apt install bubblewrap");
  EXPECT_FALSE(fs::exists(path("top.txt")));
  const Ended warned = import_with_path(folder, {"--format", "json"});
  EXPECT_TRUE(ended_with(warned, 0, "bubblewrap is not installed: apt install bubblewrap"));
  EXPECT_EQ(json_of(warned)["sandbox"], "none");
  EXPECT_NE(import_with_path(folder, {}).out.find("sandbox: none\n"), std::string::npos);
}

// Yosys gives the directory to a shell.
TEST_F(VerilogRequestTest, TemporaryDirectoryIsNoCommand) {
  write_file(path("design.v"), kSumDesign);
  const std::string directory = path("x;touch ran;");
  fs::create_directory(directory);
  const TemporaryVariable temporary("TMPDIR", directory);
  EXPECT_TRUE(ended_with(import_with_path(yosys_only(), {}), 2, "set TMPDIR to another one"));
  EXPECT_TRUE(fs::is_empty(directory));
}

TEST_F(VerilogRequestTest, BubblewrapThatFailsIsNoFaultOfTheDesign) {
  write_file(path("design.v"), kSumDesign);
  const std::string folder = yosys_only();
  write_file(path("bin/bwrap"),
             "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n");
  fs::permissions(path("bin/bwrap"), fs::perms(0755));
  const std::string reason =
      "bubblewrap cannot set up a sandbox here (bwrap: No permissions to create new namespace): "
      "allow user namespaces";
  const Ended warned = import_with_path(folder, {"--format", "json"});
  EXPECT_TRUE(ended_with(warned, 0, reason));
  EXPECT_EQ(json_of(warned)["sandbox"], "none");
  EXPECT_TRUE(ended_with(import_with_path(folder, {"--require-sandbox"}), 2, reason));
}

// Macros that end with the first half of what opens a comment, or with an escaped name that goes on
// after them: what is a string to the scan is none to Yosys, or the other way round.
TEST_F(VerilogRequestTest, RefusesRequestsThatTheScanTakesForStrings) {
  const std::string key = "localparam K = \"" + path("key.hex") + "\";\n";
  const std::string include = "include \"" + path("part.v") + "\"";
  const std::vector<std::string> fills = {
      "`define C(x) /x\n" + key + "`C(*) \" */ initial $readmemb(K, m); // \"",
      "`define S /\n" + key + "`S* \" */ initial $readmemb(K, m); // \"",
      "`define S /``*\n" + key + "`S \" */ initial $readmemb(K, m); // \"",
      "`define E \\q\n" + key + "wire `E\" = 0; initial $readmemb(K, m); wire `E\" = 0;",
      "`define E \\q\nwire `E\" ; `" + include + " // \"",
      key + "genvar \\a\v\" ; initial $readmemb(K, m); genvar \\b\v\" ;",
      key + "genvar \\a\f\" ; initial $readmemb(K, m); genvar \\b\f\" ;",
      "`define D `define\n`D C(x) /x\n" + key + "`C(*) \" */ initial $readmemb(K, m); // \"",
      "`define D `define C(x) x\n`D\n" + key + "`C(/)* \" */ initial $readmemb(K, m); // \"",
      "`define define x\n`define D `define\n`D C(x) /x\n" + key +
          "`C(*) \" */ initial $readmemb(K, m); // \"",
      key +
          "/* synopsys translate_off */ \" /* synopsys translate_on */ initial $readmemb(K, m); // "
          "\"",
      key +
          "// synthesis translate_off\n\" /* synthesis translate_on */ initial $readmemb(K, m); // "
          "\"",
      "`define OFF // synopsys translate_off\n" + key +
          "`OFF\n\" /* synopsys translate_on */ initial $readmemb(K, m); // \""};
  const std::string folder = yosys_only();
  for (const std::string& fill : fills) {
    write_file(path("design.v"), table_design(fill));
    EXPECT_TRUE(ended_with(import_with_path(folder, {}), 2)) << fill;
    EXPECT_FALSE(fs::exists(path("top.txt"))) << fill;
    fs::remove(path("top.txt"));
  }
}

// Without a sandbox: names for values and expressions.
TEST_F(VerilogRequestTest, RefusesMacrosThatAreNotPlain) {
  const std::string folder = yosys_only();
  const auto imported = [&](const std::string& fill) {
    write_file(path("design.v"),
               fill + "\nmodule top(input [3:0] a, output [3:0] y); assign y = a; endmodule\n");
    fs::remove(path("top.txt"));
    return import_with_path(folder, {});
  };
  for (const char* fill :
       {"`define W 4", "`define W 4 // bits", "`define W 4\n`define M (`W + 1)", "`define E",
        "`define P *", "`define K 4'b10\\\n10", "`define W 4\n`ifdef W\n`undef W\n`endif",
        "`define A ((1 << 2) - $clog2(8))", "// there is no translate_off here",
        "`define N 2\nmodule part(input a); wire [2*`N-1:0] w; wire v = w[`N]; endmodule"})
    EXPECT_TRUE(ended_with(imported(fill), 0)) << fill;
  // Yosys refuses some of these as well, for another reason.
  const std::string arguments = "a macro with arguments", joined = "a macro that joins",
                    part = "a macro with one of", comment = "a macro with a \\ in its comment",
                    next_to = "a macro next to one of";
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"`define F(x) x", arguments},
      {"`define F (x) (x)\n`define G(y) y", arguments},
      {"`define D /", part},
      {"`define M (`W + 1)", "a macro that is no plain one"},
      {"`define ifdef x", "the name of a directive"},
      {"`define Q \"q\"", part},
      {"`define Q \"", "a string that does not end on its line"},
      {"`define B \\q", part},
      {"`define J a``b", joined},
      {"`define E\nmodule part; wire [7:0] w = 8`E/ 2; endmodule", next_to},
      {"`define E\nmodule part; wire [7:0] w = 8 /`E 2; endmodule", next_to},
      {"`define E\nwire w = 1/`E*2;", next_to},
      {"`define W 4 // \\\n5", comment},
      {"`define C /* x */ 4", part},
      {"`define R $readmem", "$readmem"},
      {"`define E\n`define D 1`E/ 2", next_to}};
  for (const auto& [fill, reason] : refused)
    EXPECT_TRUE(ended_with(imported(fill), 2, reason)) << fill;
}

TEST_F(VerilogRequestTest, ErrorsHaveNoControlCharactersOfTheDesign) {
  for (const char* design :
       {"module top((* owner = \"\\033[31mX\\007\" *) input a, output y); assign y = a; "
        "endmodule\n",
        "(* blackbox *) module foo(input A, output Y); endmodule\n"
        "module top(input a, output y); (* src = \"\\033[31mX\\007\" *) foo u(.A(a), .Y(y));\n"
        "endmodule\n"})
    EXPECT_EQ(import_text(design).err.find('\033'), std::string::npos) << design;
}

// What Yosys has written is data of the design as well.
TEST_F(VerilogRequestTest, RefusesCellsWhosePortsDoNotFit) {
  const auto with_cell = [](const std::string& cell) {
    return "module top(input a, b, output y, z); " + cell + " endmodule\n";
  };
  expect_refusal("(* blackbox *) module TINYOT_AND(input A, output Y); endmodule\n" +
                     with_cell("TINYOT_AND u(.A(a), .Y(y)); assign z = b;"),
                 "design.v:2.49-2.64: cell u (TINYOT_AND) has no port B");
  expect_refusal("(* blackbox *) module TINYOT_NOT(input [1:0] A, output Y); endmodule\n" +
                     with_cell("TINYOT_NOT u(.A({a, b}), .Y(y)); assign z = b;"),
                 "has not one bit at its port A");
  expect_refusal("(* blackbox *) module TINYOT_NOT(input A, output [1:0] Y); endmodule\n" +
                     with_cell("TINYOT_NOT u(.A(a), .Y({y, z}));"),
                 "has outputs of another width than its kind");
  expect_refusal("(* blackbox *) module TINYOT_ONE(output Z); endmodule\n" +
                     with_cell("TINYOT_ONE u(.Z(y)); assign z = b;"),
                 "has not the outputs of its kind");
}

}  // namespace
}  // namespace tinyot::test
