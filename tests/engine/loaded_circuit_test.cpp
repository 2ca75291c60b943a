// Circuits from files and from the content of files.
#include "engine/loaded_circuit.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "tests/support/circuit_files.h"
#include "tests/support/files.h"
#include "tests/support/layers.h"
#include "tinyot/circuit.h"

namespace tinyot::test {
namespace {

TEST(CircuitSource, ContentOfFileGivesSameCircuitAsFile) {
  CircuitFileOptions swapped;
  swapped.sources = {{0, InputSource::B}, {1, InputSource::A}};
  swapped.other_receivers = Receiver::B;
  CircuitFileOptions halves;
  halves.bundles = {16, 16};
  const std::pair<const char*, CircuitFileOptions> files[] = {{"adder64.txt", {}},
                                                              {"adder64.txt", swapped},
                                                              {"sha256.txt", {}},
                                                              {"adder_32bit.txt", {}},
                                                              {"lt16.lps", halves}};
  for (const auto& [name, options] : files) {
    SCOPED_TRACE(name);
    const std::string path = circuit_file(name);
    const auto file = LoadedCircuit::from_file(path, options, 3);
    const auto text = LoadedCircuit::from_text(
        read_file(path), std::filesystem::path(path).stem().string(), options, 3);
    EXPECT_EQ(text.fingerprint(), file.fingerprint());
    EXPECT_EQ(text.info().name, file.info().name);
    EXPECT_EQ(text.lanes(), 3u);
    EXPECT_EQ(text.cost().ands, file.cost().ands);
  }
}

TEST(CircuitSource, CircuitsThatAreNotBuiltInAreCountedAndChecked) {
  const auto file = LoadedCircuit::from_file(circuit_file("adder64.txt"), {}, 1);
  EXPECT_FALSE(file.is_built_in());
  EXPECT_NE(file.known_cost(), nullptr);
  int calls = 0;
  const auto changing = make_circuit("mine", [&](Program& program) {
    const Number x = program.input("x", 2, Party::A);
    program.output("z", ++calls > 2 ? x[0] & x[1] : x[0] ^ x[1]);
  });
  const auto loaded = LoadedCircuit::borrowed(*changing, 1);
  EXPECT_EQ(loaded.known_cost()->ands, 0u);
  CostCounter counter(loaded.info());
  EXPECT_THROW(loaded.circuit().generate(counter), UsageError);
}

// Whether it was counted before, and for whom, changes nothing.
TEST(CircuitSource, CostIsWithinTheAndsThatAreAskedFor) {
  for (const bool is_counted : {false, true}) {
    const auto circuit = LoadedCircuit::not_generated("aes128", 1).value();
    EXPECT_EQ(is_counted ? circuit.cost().ands : 6400u, 6400u);
    EXPECT_EQ(circuit.cost_within_ands(6399), nullptr);
    ASSERT_NE(circuit.cost_within_ands(6400), nullptr);
    EXPECT_EQ(circuit.cost_within_ands(6400)->ands, 6400u);
    EXPECT_EQ(circuit.cost_within_ands(6399), nullptr);
  }
}

// Replaced by another valid file of the same length after it was loaded: no gate of it is
// evaluated.
TEST(CircuitSource, NoGateOfAFileThatHasChangedIsEvaluated) {
  const TestDirectory directory;
  const std::string path = (directory / "f.txt").string();
  std::string text = read_file(circuit_file("adder64.txt"));
  write_file(path, text);
  const auto loaded = LoadedCircuit::from_file(path, {}, 1);
  text.replace(text.rfind("XOR"), 3, "AND");
  write_file(path, text);
  struct Sink final : GateSink {
    void emit(const Gate&) override { ++events; }
    int events = 0;
  } sink;
  EXPECT_THROW(loaded.circuit().generate(sink), UsageError);
  EXPECT_EQ(sink.events, 0);
}

TEST(CircuitSource, ShownWithNameAndShortForm) {
  EXPECT_EQ(LoadedCircuit::generated("aes128", 1)->shown(),
            "aes128 (built in, " +
                short_name(LoadedCircuit::generated("aes128", 1)->fingerprint()) + ")");
  const auto file = LoadedCircuit::from_file(circuit_file("adder64.txt"), {}, 1);
  EXPECT_EQ(file.shown(), "adder64 (" + short_name(file.fingerprint()) + ")");
}

TEST(CircuitSource, RejectsMalformedContentWithItsName) {
  try {
    LoadedCircuit::from_text("1 2\nnonsense", "mine", {}, 1);
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("mine"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tinyot::test
