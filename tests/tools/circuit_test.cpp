// `tinyot circuit convert`, and circuit files of all formats on the command line.
#include "base/error.h"
#include "tests/support/layers.h"
#include "tests/tools/command_test.h"
#include "tools/circuit_spec.h"

namespace tinyot::test {
namespace {

class CircuitTest : public CommandTest {
 protected:
  Json json(const Arguments& more) const {
    return json_of(tinyot(Arguments{"circuit"} + more + Arguments{"--format", "json"}));
  }
  std::size_t files() const {
    const std::filesystem::directory_iterator begin(dir_);
    return static_cast<std::size_t>(std::distance(begin, std::filesystem::directory_iterator()));
  }
};

const Arguments kBundles = {"--bundles", "16,16"};

TEST_F(CircuitTest, ConvertedGeneratorHasSameCostAndFunction) {
  const std::size_t before = files();
  const Json report =
      json({"convert", "aes128", "--forget-receivers", "--output", path("aes.txt")});
  EXPECT_EQ(report["circuit"], "aes128");
  EXPECT_EQ(report["bytes"], std::filesystem::file_size(path("aes.txt")));
  EXPECT_EQ(files(), before + 1) << "no other file is left";

  const Json generator = json({"info", "aes128"}), file = json({"info", path("aes.txt")});
  for (const char* count : {"ands", "xors", "nots", "and_depth"})
    EXPECT_EQ(generator[count], file[count]) << count;
  // FIPS-197 C.1 with each byte's bits as the generator numbers them: lowest bit first, so the
  // integer has its bytes reversed.
  const Json eval =
      json({"eval", path("aes.txt"), "--input", "0=0x0f0e0d0c0b0a09080706050403020100", "--input",
            "1=0", "--input", "2=0xffeeddccbbaa99887766554433221100"});
  EXPECT_EQ(eval["outputs"]["0"], "0x5ac5b47080b7cdd830047b6ad8e0c469");
}

// The policy of the daemon names a file by it.
TEST_F(CircuitTest, InfoPrintsDigestOfFileWhateverItsRoles) {
  const std::string adder = circuit_file("adder64.txt");
  const std::string digest = LoadedCircuit::from_file(adder, CircuitFileOptions{}, 1).digest();
  ASSERT_FALSE(digest.empty());
  EXPECT_EQ(json({"info", adder})["digest"], digest);
  EXPECT_EQ(json({"info", adder, "--to", "A"})["digest"], digest);
  EXPECT_NE(tinyot({"circuit", "info", adder}).out.find("\ndigest: " + digest + "\n"),
            std::string::npos);
  write_file(path("other.txt"), read_file(adder) + "\n");
  EXPECT_NE(json({"info", path("other.txt")})["digest"], digest);
  EXPECT_FALSE(json({"info", "aes128"}).contains("digest"));
}

TEST_F(CircuitTest, RejectsConversionThatLosesReceiversOrOwners) {
  const std::size_t before = files();
  const std::string adder = circuit_file("adder64.txt");
  const auto convert = [&](const Arguments& more) {
    return tinyot(Arguments{"circuit", "convert", "--output", path("new.txt")} + more);
  };
  EXPECT_TRUE(ended_with(convert({"aes128"}), 2,
                         "output ciphertext goes to B alone: convert it with --forget-receivers, "
                         "and use the file with --to B"));
  EXPECT_TRUE(ended_with(convert({adder, "--to", "A"}), 2, "use the file with --to A"));
  EXPECT_TRUE(ended_with(
      convert({adder, "--owner", "1=A"}), 2,
      "input 1 is A's: convert it with --forget-receivers, and use the file with --owner 1=A"));
  EXPECT_EQ(files(), before);
  const Ended defaults = convert({adder, "--owner", "1=B"});
  EXPECT_TRUE(ended_with(defaults, 0));
  EXPECT_EQ(defaults.err, "");
}

TEST_F(CircuitTest, NamesOptionsThatRestoreReceiversAndOwners) {
  const Ended aes = tinyot({"circuit", "convert", "aes128", "--output", path("aes.txt"),
                            "--forget-receivers", "--quiet"});
  EXPECT_TRUE(ended_with(aes, 0, "output ciphertext goes to B alone: use it with --to B\n"));
  EXPECT_EQ(json({"info", path("aes.txt")})["outputs"][0]["to"], "both");
  EXPECT_EQ(json({"info", path("aes.txt"), "--to", "B"})["outputs"][0]["to"], "B");
  const Arguments roles = {"--owner", "0=B", "--owner", "1=A", "--to", "A"};
  const Ended adder = tinyot(Arguments{"circuit", "convert", circuit_file("adder64.txt"),
                                       "--output", path("adder.txt"), "--forget-receivers"} +
                             roles);
  EXPECT_TRUE(ended_with(adder, 0, "use it with --owner 0=B --owner 1=A --to A\n"));
  EXPECT_EQ(json(Arguments{"info", path("adder.txt")} + roles)["inputs"][0]["owner"], "B");
}

TEST_F(CircuitTest, RejectsConversionOfOutputsWithDifferentReceivers) {
  const auto to = [](std::vector<Receiver> receivers) {
    CircuitInfo info{"mixed", {}, {}};
    for (const Receiver receiver : receivers)
      info.outputs.push_back({"x", 1, receiver, ValueFormat::Integer});
    return info;
  };
  EXPECT_THROW(roles_lost_in_file(to({Receiver::A, Receiver::B})), UsageError);
  EXPECT_THROW(roles_lost_in_file(to({Receiver::A, Receiver::Both})), UsageError);
  EXPECT_EQ(roles_lost_in_file(to({Receiver::B, Receiver::B})).options, "--to B");
  EXPECT_EQ(roles_lost_in_file(to({Receiver::Both, Receiver::Both})).text, "");
}

TEST_F(CircuitTest, ConversionReplacesFileEvenItsInput) {
  write_file(path("lt.txt"), read_file(circuit_file("lt16.lps")));
  EXPECT_TRUE(ended_with(
      tinyot(Arguments{"circuit", "convert", path("lt.txt"), "--output", path("lt.txt")} +
             kBundles),
      0));
  EXPECT_EQ(json({"info", path("lt.txt")})["ands"], 16);
  EXPECT_EQ(json({"eval", path("lt.txt"), "--input", "0=5", "--input", "1=6"})["outputs"]["0"],
            "0x1");
  EXPECT_TRUE(
      ended_with(tinyot({"circuit", "convert", path("lt.txt"), "--output", path("lt.txt")}), 0));
  EXPECT_EQ(json({"eval", path("lt.txt"), "--input", "0=6", "--input", "1=6"})["outputs"]["0"],
            "0x0");
}

TEST_F(CircuitTest, FailedConversionLeavesNothing) {
  write_file(path("old.txt"), "kept");
  write_file(path("bad.txt"), "2 4\n1 2\n1 1\n2 1 0 1 2 AND\n2 1 0 1 2 XOR\n");
  const std::size_t before = files();
  EXPECT_TRUE(
      ended_with(tinyot({"circuit", "convert", path("bad.txt"), "--output", path("old.txt")}), 2,
                 "line 5: wire 2 is written twice"));
  EXPECT_TRUE(ended_with(tinyot({"circuit", "convert", "sha256", "--output", path("none/new.txt")}),
                         1, "cannot write"));
  EXPECT_TRUE(ended_with(tinyot({"circuit", "convert", "sha256", "--output", dir_.string()}), 2,
                         "not a regular file"));
  EXPECT_TRUE(ended_with(tinyot({"circuit", "convert", "aes128"}), 2, "--output"));
  EXPECT_EQ(read_file(path("old.txt")), "kept");
  EXPECT_EQ(files(), before);
}

TEST_F(CircuitTest, BundlesAreForTruthTablesOnly) {
  const std::string lt = circuit_file("lt16.lps");
  EXPECT_EQ(json(Arguments{"info", lt} + kBundles)["inputs"],
            Json({{{"name", "0"}, {"bits", 16}, {"owner", "A"}},
                  {{"name", "1"}, {"bits", 16}, {"owner", "B"}}}));
  EXPECT_EQ(json({"info", lt})["inputs"], Json({{{"name", "0"}, {"bits", 32}, {"owner", "A"}}}));
  EXPECT_TRUE(ended_with(tinyot({"circuit", "info", lt, "--bundles", "16,17"}), 2,
                         "the circuit has 32 inputs, but the bundles have 33 bits"));
  for (const char* wrong : {"16,x", "0,32", "", "4294967296"})
    EXPECT_TRUE(ended_with(tinyot({"circuit", "info", lt, "--bundles", wrong}), 2, "--bundles"));
  EXPECT_TRUE(
      ended_with(tinyot(Arguments{"circuit", "info", circuit_file("adder64.txt")} + kBundles), 2,
                 "give no other widths"));
  EXPECT_TRUE(ended_with(tinyot(Arguments{"circuit", "info", "aes128"} + kBundles), 2,
                         "are for circuit files"));
}

TEST_F(CircuitTest, RunsTruthTableFile) {
  preprocess("2^8");
  const Arguments local = {"local",    "run",  "--store",   dir_.string(),
                           "--format", "json", "--circuit", circuit_file("lt16.lps")};
  const Json report =
      json_of(tinyot(local + kBundles + Arguments{"--input", "0=1000", "--input", "1=1001"}));
  EXPECT_EQ(report["B"]["outputs"], Json({{"0", "0x1"}}));

  const Arguments run = {"--circuit", circuit_file("lt16.lps"), "--input"};
  const BothEnded ended =
      both("run", run + Arguments{"0=1"} + kBundles, run + Arguments{"1=1", "--bundles", "15,17"});
  EXPECT_TRUE(ended_with(ended.a, 6, "circuit: this party has lt16 "));
  EXPECT_TRUE(ended_with(ended.b, 6, "circuit: this party has lt16 "));
}

// Two input bits; the outputs are their XOR and their AND.
TEST_F(CircuitTest, EvaluationPrintsEveryOutputAndRequiresEveryInput) {
  write_file(path("half_adder.txt"), "2 4\n2 1 1\n2 1 1\n\n2 1 0 1 2 XOR\n2 1 0 1 3 AND\n");
  const auto eval = [&](const Arguments& inputs) {
    return tinyot(Arguments{"circuit", "eval", path("half_adder.txt"), "--format", "json"} +
                  inputs);
  };
  const Ended ended = eval({"--input", "0=1", "--input", "1=1"});
  ASSERT_TRUE(ended_with(ended, 0));
  EXPECT_EQ(json_of(ended)["outputs"], Json({{"0", "0x0"}, {"1", "0x1"}}));
  EXPECT_TRUE(ended_with(eval({"--input", "0=1"}), 2, "--input 1=... is missing"));
  EXPECT_TRUE(ended_with(eval({"--input", "1=1"}), 2, "--input 0=... is missing"));
  EXPECT_TRUE(ended_with(eval({}), 2, "these are missing: --input 0=..., --input 1=..."));
}

TEST_F(CircuitTest, PrintsNumbersInTheBaseAskedFor) {
  const auto sum = [&](const Arguments& more) {
    const Ended ended =
        tinyot(Arguments{"circuit", "eval", circuit_file("adder64.txt"), "--format", "json",
                         "--input", "0=18446744073709551000", "--input", "1=0b11"} +
               more);
    EXPECT_TRUE(ended_with(ended, 0));
    return json_of(ended)["outputs"]["0"].get<std::string>();
  };
  EXPECT_EQ(sum({}), "0xfffffffffffffd9b");
  EXPECT_EQ(sum({"--output-base", "10"}), "18446744073709551003");
  EXPECT_EQ(sum({"--output-base", "2"}), "0b" + std::string(54, '1') + "0110011011");
  EXPECT_TRUE(ended_with(tinyot({"circuit", "eval", "aes128", "--output-base", "8"}), 2,
                         "--output-base must be 2, 10 or 16"));
}

}  // namespace
}  // namespace tinyot::test
