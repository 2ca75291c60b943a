// `tinyot local`: both parties on this machine, and all ways to pass inputs and
// to receive outputs.
#include <sys/stat.h>

#include "tests/support/command_test.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

constexpr const char* kShaIv = "0x6a09e667bb67ae853c6ef372a54ff53a510e527f9b05688c1f83d9ab5be0cd19";

std::string padded_abc() { return "0x61626380" + std::string(118, '0') + "18"; }

class LocalTest : public CommandTest {
 protected:
  Ended run(const std::string& circuit, const Arguments& more,
            const std::string& input = {}) const {
    return tinyot(Arguments{"local", "run", "--store", dir_.string(), "--format", "json",
                            "--circuit", circuit} +
                      more,
                  input);
  }
  Json outputs(char party, const std::string& circuit, const Arguments& more,
               const std::string& input = {}) const {
    const Ended ended = run(circuit, more, input);
    EXPECT_TRUE(ended_with(ended, 0));
    return json_of(ended)[std::string(1, party)]["outputs"];
  }
};

TEST_F(LocalTest, Sha256OfAbcAndAesFromFileWithMirroredBits) {
  preprocess_fast("30000", {"--unit", "2^14"});
  EXPECT_EQ(outputs('A', circuit_file("sha256.txt"),
                    {"--input", "0=" + padded_abc(), "--input", std::string("1=") + kShaIv}),
            Json({{"0", "0xba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}}));
  EXPECT_EQ(outputs('B', circuit_file("aes_128_msb.txt"),
                    {"--bit-order", "msb", "--input", "0=0x00112233445566778899aabbccddeeff",
                     "--input", "1=0x000102030405060708090a0b0c0d0e0f"}),
            Json({{"0", "0x69c4e0d86a7b0430d8cdb78070b4c55a"}}));
}

TEST_F(LocalTest, MaterialOfSeveralWorkersServesARun) {
  preprocess_fast("20000", {"--unit", "2^11", "--threads", "3", "--allow-weak"});
  EXPECT_EQ(outputs('B', circuit_file("aes_128.txt"),
                    {"--input", "0=0x000102030405060708090a0b0c0d0e0f", "--input",
                     "1=0x00112233445566778899aabbccddeeff"}),
            Json({{"0", "0x69c4e0d86a7b0430d8cdb78070b4c55a"}}));
}

TEST_F(LocalTest, AesFromFileInFipsOrder) {
  preprocess("2^13");
  EXPECT_EQ(outputs('B', circuit_file("aes_128.txt"),
                    {"--input", "0=0x000102030405060708090a0b0c0d0e0f", "--input",
                     "1=0x00112233445566778899aabbccddeeff"}),
            Json({{"0", "0x69c4e0d86a7b0430d8cdb78070b4c55a"}}));
}

TEST_F(LocalTest, ValuesFromFilesAndStandardInput) {
  preprocess("2^10");
  const std::string adder = circuit_file("adder64.txt");
  write_file(path("value"), "0x2a\n");
  write_file(path("values"), "1\n0x20\n3\n");
  EXPECT_EQ(outputs('A', adder, {"--input", "0=@" + path("value"), "--input", "1=0x17"}),
            Json({{"0", "0x0000000000000041"}}));
  EXPECT_EQ(outputs('B', adder, {"--input", "0=0x2a", "--input", "1=-"}, "0x17\n"),
            Json({{"0", "0x0000000000000041"}}));
  EXPECT_EQ(
      outputs('B', adder,
              {"--lanes", "3", "--input", "0=@" + path("values"), "--input", "1=0x10,0x10,0x10"}),
      Json({{"0", {"0x0000000000000011", "0x0000000000000030", "0x0000000000000013"}}}));
  EXPECT_EQ(outputs('B', adder, {"--lanes", "1", "--input", "0=1", "--input", "1=1"}),
            Json({{"0", {"0x0000000000000002"}}}));
  EXPECT_TRUE(ended_with(
      tinyot({"circuit", "eval", adder, "--input", "0=-", "--input", "1=0x17"}, "0x2a"), 0));
}

TEST_F(LocalTest, OutputFileIsPrivateAndNotInTheReport) {
  preprocess("2^10");
  const std::string adder = circuit_file("adder64.txt"), file = path("sum");
  const Ended ended =
      run(adder, {"--to", "B", "--input", "0=0x2a", "--input", "1=0x17", "--output", "0=@" + file});
  ASSERT_TRUE(ended_with(ended, 0));
  EXPECT_EQ(json_of(ended)["B"]["outputs"], Json::object());
  EXPECT_EQ(ended.out.find("0000000000000041"), std::string::npos);
  EXPECT_EQ(read_file(file), "0x0000000000000041\n");
  struct stat status {};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(LocalTest, ExistingOutputFileBecomesPrivate) {
  preprocess("2^10");
  const std::string file = path("sum");
  write_file(file, "an older and much longer text that was here before\n");
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  ASSERT_TRUE(ended_with(run(circuit_file("adder64.txt"), {"--to", "B", "--input", "0=1", "--input",
                                                           "1=1", "--output", "0=@" + file}),
                         0));
  EXPECT_EQ(read_file(file), "0x0000000000000002\n");
  struct stat status {};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(LocalTest, UnwritableOutputFileCostsNoMaterial) {
  preprocess("2^10");
  const Ended ended =
      run(circuit_file("adder64.txt"),
          {"--to", "B", "--input", "0=1", "--input", "1=1", "--output", "0=@" + path("none/sum")});
  EXPECT_NE(ended.status, 0);
  EXPECT_NE(ended.err.find(path("none/sum")), std::string::npos) << ended.err;
  EXPECT_EQ(store_info('B')["kinds"]["auth_ands_a"]["spent"], 0);
}

TEST_F(LocalTest, WritesOneLanePerLineToFile) {
  preprocess("2^10");
  ASSERT_TRUE(ended_with(
      run(circuit_file("adder64.txt"), {"--to", "A", "--lanes", "2", "--input", "0=1,2", "--input",
                                        "1=3,4", "--output", "0=@" + path("sums")}),
      0));
  EXPECT_EQ(read_file(path("sums")), "0x0000000000000004\n0x0000000000000006\n");
}

TEST_F(LocalTest, OptionsSetOwnersAndReceivers) {
  preprocess("2^10");
  const std::string sub = circuit_file("sub64.txt");
  const Arguments values = {"--input", "0=0x50", "--input", "1=0x08"};
  const Json wanted = {{"0", "0x0000000000000048"}};
  const Json to_b = json_of(run(sub, Arguments{"--to", "B"} + values)),
             to_a = json_of(run(sub, Arguments{"--to", "A", "--owner", "0=B"} + values));
  EXPECT_EQ(to_b["A"]["outputs"], Json::object());
  EXPECT_EQ(to_b["B"]["outputs"], wanted);
  EXPECT_EQ(to_a["A"]["outputs"], wanted);
  EXPECT_EQ(to_a["B"]["outputs"], Json::object());

  // A gives all inputs, B none.
  const Arguments common = {"--circuit", sub, "--owner", "1=A", "--to", "B"};
  const BothEnded ended = both("run", common + values, common);
  EXPECT_EQ(json_of(ended.a)["outputs"], Json::object());
  EXPECT_EQ(json_of(ended.b)["outputs"], wanted);
}

TEST_F(LocalTest, TextReportNamesTheOutputs) {
  preprocess("2^10");
  const Ended ended =
      tinyot({"local", "run", "--store", dir_.string(), "--circuit", circuit_file("adder64.txt"),
              "--input", "0=0x2a", "--input", "1=0x17"});
  EXPECT_TRUE(ended_with(ended, 0));
  EXPECT_NE(ended.out.find("0 = 0x0000000000000041"), std::string::npos) << ended.out;
}

// Before anything is made.
TEST_F(LocalTest, PartiesShareNoSessionFile) {
  for (const Arguments& more :
       {Arguments{"--session", path("session")}, Arguments{"--shard", "1/2"}}) {
    EXPECT_TRUE(ended_with(
        tinyot(Arguments{"local", "preprocess", "--store", path("new"), "--ands", "1K"} + more), 2,
        more.front() + " cannot be used here: both parties would make the same session file"));
    EXPECT_FALSE(std::filesystem::exists(path("new")));
  }
}

TEST_F(LocalTest, EachPartysFailureHasItsOwnLine) {
  const Ended ended = run(circuit_file("adder64.txt"), {"--input", "0=1", "--input", "1=1"});
  EXPECT_EQ(ended.status, 5);
  for (const char* party : {"A", "B"}) {
    const std::string line = std::string(party) + ": no store in " + path(party) +
                             "; make material with tinyot preprocess --ands N, in a new store\n";
    EXPECT_NE(ended.err.find(line), std::string::npos) << ended.err;
  }
}

TEST_F(LocalTest, LiveMaterialNeedsNoStore) {
  const Ended ended =
      tinyot({"local", "run", "--live", "--profile", "fast", "--circuit", "hamming:bits=8",
              "--input", "a=0x11", "--input", "b=0x13", "--format", "json"});
  ASSERT_TRUE(ended_with(ended, 0));
  for (const char* party : {"A", "B"})
    EXPECT_EQ(json_of(ended)[party]["outputs"]["distance"], "0x1");
}

TEST_F(LocalTest, QuietPrintsNothingOnStderr) {
  const Ended ended = tinyot(
      Arguments{"local", "preprocess", "--store", dir_.string(), "--ands", "2^10", "--quiet"} +
      kFewColumns);
  EXPECT_TRUE(ended_with(ended, 0));
  EXPECT_EQ(ended.err, "");
}

}  // namespace
}  // namespace tinyot::test
