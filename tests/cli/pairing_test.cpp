// A party at the shell and a party that is a program with the library evaluate the same circuit,
// each with its own form of it.
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>

#include "base/hex.h"
#include "circuitgen/formats/bristol_writer.h"
#include "circuitgen/formats/file_description.h"
#include "tests/support/command_test.h"
#include "tests/support/layers.h"
#include "tinyot/circuit.h"
#include "tinyot/circuit/fingerprint.h"
#include "tinyot/run.h"

namespace tinyot::test {
namespace {

class PairingTest : public CommandTest {
 protected:
  // One party as a process, with the arguments of `tinyot run`, the other one in this process.
  struct Results {
    Json of_shell;
    RunResult of_library;
  };
  Results run(Party of_shell, const Arguments& arguments, const Circuit& circuit,
              const Values& inputs, std::size_t lanes = 1) {
    Process shell(TINYOT_BINARY, as(letter(of_shell), "run", arguments));
    const std::string address = "127.0.0.1:" + port_;
    const tinyot::RunRequest request{.party = peer_of(of_shell),
                                     .endpoint = of_shell == Party::A
                                                     ? tinyot::Endpoint::connect(address)
                                                     : tinyot::Endpoint::listen(address),
                                     .stores = {path(std::string(1, letter(peer_of(of_shell))))}};
    RunResult result = tinyot::run(request, circuit, inputs, lanes);
    const Ended ended = shell.end();
    EXPECT_TRUE(ended_with(ended, 0));
    Json report = json_of(ended);
    EXPECT_EQ(report["fingerprint"], text_of(circuit::fingerprint_of(circuit)));
    return {std::move(report), std::move(result)};
  }

  void make_stores(const std::string& ands) const {
    ASSERT_TRUE(ended_with(tinyot({"local", "preprocess", "--store", dir_.string(), "--ands", ands,
                                   "--profile", "fast", "--quiet"}),
                           0));
  }

  std::string file_of(const Circuit& circuit) const {
    std::ofstream out(path("circuit.txt"), std::ios::binary);
    write_bristol_fashion(circuit, out);
    write_description(circuit.info(), out);
    return path("circuit.txt");
  }
};

Values zero_bytes(const std::string& name, std::size_t count) {
  const std::vector<std::byte> zeros(count);
  return Values().add(name, zeros);
}

std::string hex_of_output(const RunResult& result, const std::string& name) {
  return hex_of(result.outputs.bytes(name));
}

TEST_F(PairingTest, BuiltInCircuitOfShellAndLibrary) {
  make_stores("2^14");
  const auto aes = named_circuit("aes128");
  const Arguments key_a = {"--circuit", "AES-128",
                           "--input",   "key_a=000102030405060708090a0b0c0d0e0f",
                           "--input",   "message=00112233445566778899aabbccddeeff"};
  const std::string ciphertext = "69c4e0d86a7b0430d8cdb78070b4c55a";
  EXPECT_EQ(
      hex_of_output(run(Party::A, key_a, *aes, zero_bytes("key_b", 16)).of_library, "ciphertext"),
      ciphertext);
  Values of_a = zero_bytes("key_a", 16);
  of_a.add("message", std::vector<std::byte>(16));
  const Results results = run(
      Party::B, {"--circuit", "aes128", "--input", "key_b=" + std::string(32, '0')}, *aes, of_a);
  EXPECT_EQ(results.of_shell["outputs"]["ciphertext"], "66e94bd4ef8a2c3b884cfa59ca342b2e");
}

// A file that was made of the function. Inputs without readers, early outputs, outputs that are
// inputs and constants: in the file, inputs come first and outputs last.
TEST_F(PairingTest, FunctionAndItsFile) {
  make_stores("2^10");
  const auto function = make_circuit("function", [](Program& program) {
    const Number x = program.input("x", 8, Party::A), y = program.input("y", 8, Party::B),
                 k = program.common_input("k", 4, Party::B);
    program.input("unread", 3, Party::A);
    program.output("early", x + y, Receiver::A);
    Number z = x * y;
    z[0] = Bit(true);
    program.output("z", z);
    program.output("k", k);
  });
  const std::string file = file_of(*function);
  const Results first = run(
      Party::A, {"--circuit", file, "--lanes", "2", "--input", "x=3,5", "--input", "unread=1,2"},
      *function, Values().set("k", 9).set("y", std::vector<std::uint64_t>{7, 11}), 2);
  EXPECT_EQ(first.of_library.outputs.integer("z", 1), 55u);
  EXPECT_EQ(first.of_shell["outputs"]["early"], Json({"0x0a", "0x10"}));
  EXPECT_EQ(first.of_shell["outputs"]["k"], Json({"0x9", "0x9"}));
  const Results second = run(Party::B, {"--circuit", file, "--input", "y=7", "--input", "k=9"},
                             *function, Values().set("x", 3).set("unread", 0));
  EXPECT_EQ(second.of_library.outputs.integer("early"), 10u);
  EXPECT_EQ(second.of_shell["outputs"]["z"], "0x15");
}

// The same gates from a design, from the file that was made of it, and from a function.
TEST_F(PairingTest, DesignAndFunction) {
  if (std::system("yosys -V > /dev/null 2>&1") != 0) GTEST_SKIP() << "yosys is not installed";
  make_stores("2^10");
  write_file(path("both.v"),
             "module both(input a, input b, output z); assign z = a & b; endmodule");
  const Json report =
      json_of(tinyot({"circuit", "import", path("both.v"), "--top", "both", "--output",
                      path("imported.txt"), "--format", "json", "--quiet"}));
  const auto function = make_circuit("function", [](Program& program) {
    const Number a = program.input("a", 1, Party::A), b = program.input("b", 1, Party::B);
    program.output("z", a[0] & b[0]);
  });
  EXPECT_EQ(report["fingerprint"], text_of(circuit::fingerprint_of(*function)));
  const Results results = run(Party::A, {"--circuit", path("imported.txt"), "--input", "a=1"},
                              *function, Values().set("b", 1));
  EXPECT_EQ(results.of_library.outputs.integer("z"), 1u);
}

// Larger than the window of gates that are layered together, with an input that is read first in
// the second window, and an output in the first.
TEST_F(PairingTest, LargeFunctionAndItsFileHaveTheSameRounds) {
  make_stores("2^10");
  const auto function = make_circuit("large", [](Program& program) {
    const Number x = program.input("x", 8, Party::A), y = program.input("y", 8, Party::B),
                 late = program.input("late", 8, Party::B);
    const Number product = x * y;
    program.output("product", product);
    Bit sum = product[7];
    for (int i = 0; i < (1 << 20) + 1000; ++i) sum = sum ^ x[static_cast<std::size_t>(i) % 8];
    Number z = late * product;
    z[0] = z[0] ^ sum;
    program.output("z", z);
  });
  const Results results = run(Party::A, {"--circuit", file_of(*function), "--input", "x=3"},
                              *function, Values().set("y", 5).set("late", 2));
  EXPECT_EQ(results.of_library.outputs.integer("product"), 15u);
  EXPECT_EQ(results.of_shell["outputs"]["product"], "0x0f");
  EXPECT_EQ(results.of_library.outputs.integer("z") & 0xfe, 30u);
}

}  // namespace
}  // namespace tinyot::test
