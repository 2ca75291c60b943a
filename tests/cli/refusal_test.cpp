// What one party rejects by itself, before a byte is sent: each case with its exit status and a
// message that names the cause.
#include <sys/stat.h>

#include "tests/support/command_test.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

struct Refusal {
  Arguments arguments;
  int status;
  std::string message;
};

void expect_refusals(const std::vector<Refusal>& refusals) {
  for (const Refusal& refusal : refusals) {
    std::string line;
    for (const std::string& argument : refusal.arguments) line += " " + argument;
    SCOPED_TRACE("tinyot" + line);
    EXPECT_TRUE(ended_with(tinyot(refusal.arguments, {}, std::chrono::seconds(15)), refusal.status,
                           refusal.message));
  }
}

class RefusalTest : public CommandTest {};

const std::string kWeakOptions =
    "use a bucket of 5 or more, or larger units; set --bucket or --unit, or --allow-weak for "
    "measurements\n";

TEST_F(RefusalTest, UnknownSubcommands) {
  expect_refusals(
      {{{}, 2, "Usage: tinyot SUBCOMMAND"},
       {{"preproces"}, 2, "'tinyot preproces' (did you mean preprocess?); see tinyot --help"},
       {{"ruin"}, 2, "did you mean run?"},
       {{"help", "prams"}, 2, "did you mean params?"},
       {{"something"}, 2, "'tinyot something'; see tinyot --help"},
       {{"local"}, 2, "Usage: tinyot local COMMAND"},
       {{"local", "demo"}, 2, "'tinyot local demo'; see tinyot local --help"},
       {{"store"}, 2, "Usage: tinyot store COMMAND"},
       {{"store", "inof", "x"}, 2, "did you mean info?"},
       {{"circuit"}, 2, "Usage: tinyot circuit COMMAND"},
       {{"circuit", "lst"}, 2, "did you mean list?"}});
}

TEST_F(RefusalTest, RetiredSetsOfSilentBits) {
  const Arguments wan = {"--profile", "wan", "--silent-set", "s13"},
                  silent = {"--profile", "fast", "--abits", "silent", "--silent-set", "s10"},
                  store = {"--party", "A",          "--connect", "127.0.0.1:1",
                           "--store", path("none"), "--ands",    "2^10"},
                  live = {"--party",         "A",       "--connect",
                          "127.0.0.1:1",     "--live",  "--circuit",
                          "hamming:bits=64", "--input", "a=0x2a"};
  const std::string s13 = "silent-set s13 is retired: ", s10 = "silent-set s10 is retired: ";
  expect_refusals(
      {{Arguments{"preprocess"} + store + wan, 2, s13},
       {Arguments{"preprocess"} + store + wan, 2, "use b12"},
       {Arguments{"preprocess"} + store + silent, 2, s10},
       {Arguments{"preprocess"} + store + silent, 2, "use b9"},
       {Arguments{"run"} + live + wan, 2, s13},
       {Arguments{"run"} + live + silent, 2, s10},
       {Arguments{"local", "preprocess", "--ands", "2^10", "--store", path("none")} + wan, 2, s13},
       {Arguments{"params", "--ands", "2^10"} + wan, 2, s13},
       {Arguments{"bench", "offline", "--ands", "2^10"} + wan, 2, s13}});
  EXPECT_FALSE(std::filesystem::exists(path("none")));
}

TEST_F(RefusalTest, UnknownMissingOrMalformedOptions) {
  expect_refusals(
      {{{"params", "--andz", "2^10"}, 2, "--andz"},
       {{"params", "--and", "2^10"}, 2, "--and"},
       {{"params"}, 2, "--ands or --for is missing"},
       {{"preprocess", "--listen", "127.0.0.1:1"},
        2,
        "these are missing: --party, --store, --ands (or --add, --until-left, --for, --resume); "
        "see "
        "tinyot preprocess --help"},
       {{"preprocess", "--pary", "A"}, 2, "'--pary' of tinyot preprocess (did you mean --party?)"},
       {{"preprocess", "--connect", "127.0.0.1:1", "--peer", "127.0.0.1:1"},
        2,
        "--peer is another name of --connect"},
       {{"params", "--ands"}, 2, "--ands"},
       {{"params", "--ands", "many"}, 2, "--ands 'many'"},
       {{"params", "--ands", "-1"}, 2, "--ands '-1'"},
       {{"params", "--ands", "2^99"}, 2, "--ands '2^99'"},
       {{"params", "--ands", "0"}, 2, "--ands is out of range"},
       {{"params", "--ands", "2^10", "--format", "xml"}, 2, "--format"},
       {{"params", "--ands", "2^10", "--profile", "quick"}, 2, "--profile"},
       {{"params", "--ands", "2^10", "--labit-columns", "all"}, 2, "--labit-columns"},
       {{"params", "--ands", "2^10", "--bucket", "6+6"}, 2, "another number of sizes"},
       {{"params", "--ands", "2^10", "--bucket", "6+"}, 2, "--bucket"},
       {{"preprocess", "--ands", "2^10", "--store", path("x"), "--listen", "127.0.0.1:7766"},
        2,
        "--party is missing"},
       {{"preprocess", "--ands", "2^10", "--store", path("x"), "--party", "C", "--listen",
         "127.0.0.1:7766"},
        2,
        "--party must be A or B"},
       {{"preprocess", "--ands", "2^10", "--store", path("x"), "--party", "A"}, 2, "--listen"},
       {as('A', "preprocess", {"--ands", "2^10", "--connect", "127.0.0.1:7766"}), 2,
        "one of --listen"},
       {{"preprocess", "--ands", "2^10", "--party", "A", "--listen", "127.0.0.1:7766"},
        2,
        "--store is missing"},
       {{"preprocess", "--ands", "2^10", "--store", path("x"), "--party", "A", "--listen", "7766"},
        2,
        "HOST:PORT"},
       {{"preprocess", "--ands", "2^10", "--store", path("x"), "--party", "A", "--listen",
         "127.0.0.1:99999"},
        2,
        "the port of '127.0.0.1:99999' is not within 0 to 65535"},
       {as('A', "preprocess", {"--ands", "2^10", "--connect-timeout", "0"}), 2,
        "--connect-timeout"},
       {as('A', "run", {}), 2, "--circuit is missing"}});
  EXPECT_FALSE(std::filesystem::exists(path("x")));
  EXPECT_FALSE(std::filesystem::exists(path("A")));
}

TEST_F(RefusalTest, InsecureParameters) {
  for (const Arguments& command : {Arguments{"params"}, as('A', "preprocess", {}),
                                   Arguments{"local", "preprocess", "--store", dir_.string()}})
    expect_refusals({{command + Arguments{"--ands", "2^10", "--bucket", "3"}, 2, kWeakOptions},
                     {command + Arguments{"--ands", "2^10", "--bucket", "1"}, 2,
                      "bucket 1 is out of range: 2 to 160\n"},
                     {command + Arguments{"--ands", "2^10", "--sigma", "39"}, 2,
                      "sigma 39 is out of range: 40 to 128 bits (usual: 40, 64, 80)\n"},
                     {command + Arguments{"--ands", "2^10", "--sigma", "129"}, 2,
                      "sigma 129 is out of range: 40 to 128 bits (usual: 40, 64, 80)\n"},
                     {command + Arguments{"--ands", "2^10", "--unit", "0"}, 2,
                      "unit 0 is out of range: 1 to 2^24 ANDs, which are permuted together\n"}});
  EXPECT_TRUE(ended_with(
      tinyot({"params", "--ands", "2^10", "--bucket", "3", "--allow-weak", "--no-calibration"}),
      0));
}

TEST_F(RefusalTest, OptionsOfAnotherProfile) {
  for (const Arguments& command : {Arguments{"params"}, as('A', "preprocess", {}),
                                   Arguments{"local", "preprocess", "--store", dir_.string()}}) {
    const Arguments paper = command + Arguments{"--ands", "2^10"},
                    fast = paper + Arguments{"--profile", "fast"};
    expect_refusals(
        {{fast + Arguments{"--softspoken-k", "3"}, 2, "softspoken-k 3 is not 1, 2 or 4\n"},
         {fast + Arguments{"--softspoken-k", "0"}, 2, "softspoken-k 0 is not 1, 2 or 4\n"},
         {fast + Arguments{"--softspoken-k", "2^40"}, 2, "is not 1, 2 or 4\n"},
         {fast + Arguments{"--labit-columns", "theorem"}, 2,
          "--labit-columns requires --profile nnob12"},
         {fast + Arguments{"--material", "aand-aot"}, 2,
          "the fast profile makes no aand-aot, but triples or garbling\n"},
         {fast + Arguments{"--unit", "2^10", "--bucket", "3"}, 2, kWeakOptions},
         {paper + Arguments{"--softspoken-k", "2"}, 2, "--softspoken-k requires --profile fast"}});
  }
  EXPECT_FALSE(std::filesystem::exists(path("A")));
}

TEST_F(RefusalTest, FastStoresWithOtherParameters) {
  const Arguments fast = {"--ands", "2^10", "--profile", "fast"};
  ASSERT_TRUE(
      ended_with(tinyot(Arguments{"local", "preprocess", "--store", dir_.string()} + fast), 0));
  const auto resume = [&](const Arguments& with) {
    return as('A', "preprocess", Arguments{"--ands", "2^10", "--resume"} + with);
  };
  expect_refusals(
      {{resume({"--profile", "nnob12"}), 5,
        "begun with profile fast, not nnob12; use the same value, or begin a new one\n"},
       {resume({"--profile", "fast", "--softspoken-k", "1"}), 5,
        "begun with softspoken-k auto, not 1; use the same value, or begin a new one\n"}});
}

TEST_F(RefusalTest, JobsTooLargeForTheMachine) {
  // terabytes
  const Arguments huge = {"--ands", "2^30", "--unit", "2^24", "--threads", "64", "--sigma", "128"};
  expect_refusals(
      {{as('A', "preprocess", huge), 2, "would fit"},
       {Arguments{"local", "preprocess", "--store", dir_.string()} + huge, 2,
        "free here for 2 parties"},
       {{"params", "--ands", "2^10", "--threads", "0"}, 2, "--threads is out of range: 1 to 64"},
       {{"params", "--ands", "2^10", "--threads", "65"}, 2, "--threads is out of range"},
       {{"params", "--ands", "2^30", "--unit", "1"},
        2,
        "more than 2^20 units: use larger units\n"}});
  EXPECT_FALSE(std::filesystem::exists(path("A")));
}

TEST_F(RefusalTest, UnknownOrMalformedCircuits) {
  write_file(path("number"), "1 3\n2 1 1\n1 1\n\n2 1 0 1 x AND\n");
  write_file(path("gate"), "1 3\n2 1 1\n1 1\n\n2 1 0 1 2 NAND\n");
  write_file(path("short"), "2 4\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n");
  write_file(path("huge"), "1152921504606846976 3\n2 1 1\n1 1\n");
  write_file(path("empty"), "");
  write_file(path("noise"), std::string("\x7f"
                                        "ELF\0\1\2\3\n\0\0",
                                        11));
  expect_refusals({{{"circuit", "info", "aes129"}, 2, "'aes129' is neither"},
                   {{"circuit", "info", path("none")}, 2, "is neither"},
                   {{"circuit", "info", dir_.string()}, 2, "is neither"},
                   {{"circuit", "info"}, 2, "--circuit is missing"},
                   {{"circuit", "info", path("number")}, 2, path("number") + ", line 5"},
                   {{"circuit", "info", path("gate")}, 2, path("gate") + ", line 5"},
                   {{"circuit", "info", path("short")}, 2, "ends after 1 of the 2 gates"},
                   {{"circuit", "info", path("huge")}, 2, path("huge") + ", line 1"},
                   {{"circuit", "info", path("empty")}, 2, path("empty")},
                   {{"circuit", "info", path("noise")}, 2, path("noise")},
                   {as('A', "run", {"--circuit", "aes129"}), 2, "'aes129' is neither"},
                   {as('A', "run", {"--circuit", path("gate")}), 2, path("gate") + ", line 5"}});
}

TEST_F(RefusalTest, InputsAndOutputsUnsuitableForTheCircuit) {
  const std::string adder = circuit_file("adder64.txt");
  const auto eval = [&](const Arguments& more) {
    return Arguments{"circuit", "eval", adder} + more;
  };
  expect_refusals(
      {{eval({"--input", "0=1"}), 2, "--input 1"},
       {eval({"--input", "0=1", "--input", "2=1"}), 2, "no input '2'"},
       {eval({"--input", "0=1", "--input", "0=1"}), 2, "--input 0 is given twice"},
       {eval({"--input", "0"}), 2, "NAME=VALUE"},
       {eval({"--input", "0=@" + path("none"), "--input", "1=1"}), 2,
        "cannot read " + path("none")},
       {eval({"--input", "0=@" + dir_.string(), "--input", "1=1"}), 2, dir_.string()},
       {eval({"--input", "0=1,2", "--input", "1=1"}), 2, "2 values given, 1 expected"},
       {eval({"--lanes", "2", "--input", "0=1,2,3", "--input", "1=1,1"}), 2,
        "3 values given, 2 expected"},
       {eval({"--lanes", "0", "--input", "0=1", "--input", "1=1"}), 2, "--lanes"},
       {eval({"--blocks", "2", "--input", "0=1", "--input", "1=1"}), 2, "no blocks"},
       {eval({"--bit-order", "middle", "--input", "0=1", "--input", "1=1"}), 2, "--bit-order"},
       {eval({"--owner", "0=C"}), 2, "A, B, shared or public"},
       {eval({"--owner", "7=A"}), 2, "7"},
       {eval({"--to", "C"}), 2, "A or B"},
       {{"circuit", "eval", "aes128", "--owner", "0=A"}, 2, "--owner"},
       {as('A', "run", {"--circuit", adder}), 2, "--input 0"},
       {as('A', "run", {"--circuit", adder, "--input", "1=1"}), 2, "input"},
       {as('B', "run", {"--circuit", adder, "--input", "0=1", "--input", "1=1"}), 2,
        "does not belong to party B"},
       {as('A', "run", {"--circuit", adder, "--input", "0=1", "--output", "0=" + path("sum")}), 2,
        "NAME=@FILE"},
       {as('A', "run", {"--circuit", adder, "--input", "0=1", "--output", "3=@" + path("sum")}), 2,
        "no output '3'"},
       {as('A', "run",
           {"--circuit", adder, "--to", "B", "--input", "0=1", "--output", "0=@" + path("sum")}),
        2, "does not learn"}});
}

TEST_F(RefusalTest, MissingForeignOrExistingStores) {
  preprocess("2^10");
  const std::string adder = circuit_file("adder64.txt");
  const Arguments value = {"--circuit", adder, "--input", "0=1"};
  std::filesystem::create_directory(path("notes"));
  write_file(path("notes/diary.txt"), "not a store\n");
  std::filesystem::create_directory(path("noise"));
  ASSERT_EQ(::chmod(path("noise").c_str(), 0700), 0);
  for (const char* name : {"noise/material.mdb", "noise/store.keys"}) {
    write_file(path(name), random_hex(20000));
    ASSERT_EQ(::chmod(path(name).c_str(), 0600), 0);
  }
  expect_refusals(
      {{{"store", "info", path("none")}, 5, "no store in " + path("none")},
       {{"store", "info", path("notes")}, 5, path("notes")},
       {{"store", "info", path("notes/diary.txt")}, 5, "no store in"},
       {{"store", "info", path("noise")}, 5, path("noise")},
       {{"store", "info"}, 2, "--store is missing"},
       {as('A', "preprocess", {"--ands", "2^10"}), 5,
        path("A") + " already holds a store; continue it, or choose another directory; "
                    "to continue, use tinyot preprocess with --resume\n"},
       {as('B', "preprocess", Arguments{"--ands", "2^11", "--resume"} + kFewColumns), 5,
        "begun with ands 1024, not 2048; use the same value, or begin a new one; a "
        "complete store gets more with tinyot preprocess --add N or --until-left N\n"},
       {as('B', "preprocess", {"--ands", "2^10", "--resume", "--labit-columns", "theorem"}), 5,
        "begun with columns experiment, not theorem; use the same value, or "
        "begin a new one\n"},
       {as('B', "preprocess",
           Arguments{"--ands", "2^10", "--resume", "--sigma", "64"} + kFewColumns),
        5, "begun with sigma 40, not 64; use the same value, or begin a new one\n"}});
  std::filesystem::rename(path("A"), path("a")), std::filesystem::rename(path("B"), path("A"));
  expect_refusals({{as('A', "run", value), 5, "party B's"}});
  std::filesystem::remove_all(path("A"));
  expect_refusals(
      {{as('A', "run", value), 5, "no store in " + path("A")},
       {as('A', "preprocess", {"--ands", "2^10", "--resume"}), 5, "no store in " + path("A")}});
  ASSERT_EQ(::chmod(path("a").c_str(), 0755), 0);
  expect_refusals({{{"store", "info", path("a")}, 5, path("a")}});
}

}  // namespace
}  // namespace tinyot::test
