// Parties with different parameters: both end with exit status 6, and each names both values.
#include "tests/support/command_test.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

class DisagreementTest : public CommandTest {
 protected:
  // Expects both parties to report A's value and B's value.
  static void expect_disagreement(const BothEnded& ended, const std::string& what,
                                  const std::string& of_a, const std::string& of_b) {
    EXPECT_TRUE(
        ended_with(ended.a, 6, what + ": this party has " + of_a + ", the peer has " + of_b));
    EXPECT_TRUE(
        ended_with(ended.b, 6, what + ": this party has " + of_b + ", the peer has " + of_a));
  }
};

TEST_F(DisagreementTest, OnTheParty) {
  Arguments second = as('B', "preprocess", Arguments{"--ands", "2^10"} + kFewColumns);
  std::replace(second.begin(), second.end(), std::string("B"), std::string("A"));
  Process a(TINYOT_BINARY, as('A', "preprocess", Arguments{"--ands", "2^10"} + kFewColumns)),
      also_a(TINYOT_BINARY, second);
  const std::string message = "both are A; one of them must be B; set it with --party\n";
  EXPECT_TRUE(ended_with(a.end(), 6, message));
  EXPECT_TRUE(ended_with(also_a.end(), 6, message));
}

TEST_F(DisagreementTest, OnPreprocessParameters) {
  const Arguments small = Arguments{"--ands", "2^10"} + kFewColumns;
  expect_disagreement(both("preprocess", small, small + Arguments{"--sigma", "64"}), "sigma", "40",
                      "64");
  expect_disagreement(both("preprocess", small, Arguments{"--ands", "2^11"} + kFewColumns), "ands",
                      "1024", "2048");
  expect_disagreement(both("preprocess", small, {"--ands", "2^10"}), "columns", "experiment",
                      "theorem");
  expect_disagreement(
      both("preprocess", small + Arguments{"--unit", "2^8"}, small + Arguments{"--unit", "2^9"}),
      "unit", "256", "512");
  expect_disagreement(
      both("preprocess", small + Arguments{"--bucket", "5"}, small + Arguments{"--bucket", "6"}),
      "bucket", "5", "6");
  expect_disagreement(
      both("preprocess", small + Arguments{"--inputs", "10"}, small + Arguments{"--inputs", "11"}),
      "inputs", "10", "11");
  expect_disagreement(
      both("preprocess", small + Arguments{"--threads", "2"}, small + Arguments{"--threads", "3"}),
      "threads", "2", "3");
  EXPECT_FALSE(std::filesystem::exists(path("A")));
  EXPECT_FALSE(std::filesystem::exists(path("B")));
}

TEST_F(DisagreementTest, OnTheFastProfileAndItsOptions) {
  const Arguments small = {"--ands", "2^10"}, fast = small + Arguments{"--profile", "fast"};
  expect_disagreement(both("preprocess", small, fast), "profile", "nnob12", "fast");
  expect_disagreement(both("preprocess", fast + Arguments{"--softspoken-k", "4"}, fast),
                      "softspoken-k", "4", "auto");
  expect_disagreement(both("preprocess", small + Arguments{"--material", "triples"}, small),
                      "material", "triples", "aand-aot");
  EXPECT_FALSE(std::filesystem::exists(path("A")));
  EXPECT_FALSE(std::filesystem::exists(path("B")));
}

TEST_F(DisagreementTest, OnRunParameters) {
  preprocess("2^10");
  const std::string adder = circuit_file("adder64.txt"), sub = circuit_file("sub64.txt");
  const Arguments a = {"--circuit", adder, "--input", "0=1"},
                  b = {"--circuit", adder, "--input", "1=1"};
  expect_disagreement(
      both("run", Arguments{"--circuit", adder, "--lanes", "2", "--input", "0=1,2"}, b), "lanes",
      "2", "1");

  BothEnded ended = both("run", a, {"--circuit", sub, "--input", "1=1"});
  for (const Ended& each : {ended.a, ended.b}) {
    EXPECT_TRUE(ended_with(each, 6, "the circuit's gates: this party has "));
    EXPECT_TRUE(ended_with(each, 6, "adder64 ("));
    EXPECT_TRUE(ended_with(each, 6, "sub64 ("));
  }
  // The same name, but one gate of another kind.
  std::string text = read_file(adder);
  text.replace(text.rfind("XOR"), 3, "AND");
  std::filesystem::create_directory(path("other"));
  write_file(path("other/adder64.txt"), text);
  ended = both("run", a, {"--circuit", path("other/adder64.txt"), "--input", "1=1"});
  EXPECT_TRUE(ended_with(ended.a, 6, "circuit's gates: this party has adder64 ("));
  EXPECT_TRUE(ended_with(ended.b, 6, "circuit's gates: this party has adder64 ("));
  ended = both("run", a + Arguments{"--to", "A"}, b);
  EXPECT_TRUE(ended_with(ended.a, 6, "receivers, formats): this party has adder64 ("));
  EXPECT_TRUE(ended_with(ended.b, 6, "receivers, formats): this party has adder64 ("));
  // A built-in circuit matches itself alone.
  Process convert(TINYOT_BINARY,
                  {"circuit", "convert", "millionaires", "--output", path("millionaires.txt")});
  EXPECT_TRUE(ended_with(convert.end(), 0));
  ended = both("run", {"--circuit", "millionaires", "--input", "a=1"},
               {"--circuit", path("millionaires.txt"), "--input", "b=1"});
  EXPECT_TRUE(ended_with(ended.a, 6, "circuit's gates: this party has millionaires (built in, "));
  EXPECT_TRUE(ended_with(ended.b, 6, "the peer has millionaires (built in, "));

  for (const char party : {'A', 'B'})
    EXPECT_EQ(store_info(party)["kinds"]["auth_ands_a"]["spent"], 0) << party;
  ended = both("run", a, b);
  EXPECT_EQ(json_of(ended.a)["outputs"]["0"], "0x0000000000000002");
}

TEST_F(DisagreementTest, OnTheSession) {
  preprocess("2^10");
  const Json of_a = store_info('A');
  std::filesystem::rename(path("A"), path("kept"));
  std::filesystem::remove_all(path("B"));
  preprocess("2^10");
  const Json of_b = store_info('B');
  std::filesystem::remove_all(path("A"));
  std::filesystem::rename(path("kept"), path("A"));
  const std::string adder = circuit_file("adder64.txt");
  expect_disagreement(
      both("run", {"--circuit", adder, "--input", "0=1"}, {"--circuit", adder, "--input", "1=1"}),
      "session", of_a["session"], of_b["session"]);
}

TEST_F(DisagreementTest, OnTheCommand) {
  preprocess("2^10");
  Process a(TINYOT_BINARY,
            as('A', "run", {"--circuit", circuit_file("adder64.txt"), "--input", "0=1"}));
  Arguments other = as('B', "preprocess", Arguments{"--ands", "2^10"} + kFewColumns);
  std::replace(other.begin(), other.end(), path("B"), path("new"));
  Process b(TINYOT_BINARY, other);
  EXPECT_TRUE(ended_with(a.end(), 6));
  EXPECT_TRUE(ended_with(b.end(), 6));
  EXPECT_FALSE(std::filesystem::exists(path("new")));
}

}  // namespace
}  // namespace tinyot::test
