// Circuits from files and from the content of files.
#include "engine/circuit_source.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "tests/support/circuit_files.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(CircuitSource, ContentOfFileGivesSameCircuitAsFile) {
  CircuitFileOptions swapped;
  swapped.owners = {{0, Party::B}, {1, Party::A}};
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
        content_of(path), std::filesystem::path(path).stem().string(), options, 3);
    EXPECT_FALSE(file.digest().empty());
    EXPECT_EQ(text.digest(), file.digest());
    EXPECT_EQ(text.fingerprint(), file.fingerprint());
    EXPECT_EQ(text.info().name, file.info().name);
    EXPECT_EQ(text.lanes(), 3u);
    EXPECT_EQ(text.cost().ands, file.cost().ands);
  }
}

TEST(CircuitSource, DigestIsOfBytesAndFingerprintAlsoOfRoles) {
  const std::string path = circuit_file("adder64.txt"), text = content_of(path);
  const auto circuit = LoadedCircuit::from_file(path, {}, 1);
  const auto changed = LoadedCircuit::from_text(text + "\n", "adder64", {}, 1);
  EXPECT_NE(changed.digest(), circuit.digest());
  EXPECT_NE(changed.fingerprint(), circuit.fingerprint());
  CircuitFileOptions to_b;
  to_b.other_receivers = Receiver::B;
  const auto other_roles = LoadedCircuit::from_text(text, "adder64", to_b, 1);
  EXPECT_EQ(other_roles.digest(), circuit.digest());
  EXPECT_NE(other_roles.fingerprint(), circuit.fingerprint());
  EXPECT_EQ(LoadedCircuit::generated("aes128", 1)->digest(), "");
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
