// Options from the command line, the environment and files; sizes; suggestions; progress.
#include "tools/cli/command_line.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/suggestion.h"
#include "tests/support/files.h"
#include "tests/support/temporary_variable.h"
#include "tools/cli/progress.h"

namespace tinyot::test {
namespace {

using tools::Arguments;
using tools::CommandLine;
using tools::parse_size;
using tools::Progress;
using tools::progress_text;

CommandLine line_of_run() {
  CommandLine line("run", "[options]", "tinyot run");
  line.options()
      .value("sigma", "bits", "40")
      .value("connect-timeout", "seconds")
      .alias("wait")
      .values("output", "files")
      .values("input", "values")
      .secret()
      .flag("live", "at once");
  return line;
}

std::string refusal_of(CommandLine line, const Arguments& arguments) {
  try {
    line.parse(arguments);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

class CommandLineTest : public ::testing::Test {
 protected:
  std::string file(const std::string& text) {
    const std::string path = directory_ / "options";
    write_file(path, text);
    return path;
  }

  const TestDirectory directory_;
};

TEST_F(CommandLineTest, EnvironmentAndFileSetOptions) {
  const TemporaryVariable sigma("TINYOT_SIGMA", "64"), live("TINYOT_LIVE", "yes");
  CommandLine line = line_of_run();
  ASSERT_TRUE(line.parse({"--config", file("connect-timeout = 5\noutput = a\noutput = b\n")}));
  EXPECT_EQ(line.text("sigma"), "64");
  EXPECT_TRUE(line.is_explicit("sigma"));
  EXPECT_TRUE(line.has("live"));
  EXPECT_EQ(line.text("connect-timeout"), "5");
  EXPECT_EQ(line.list("output"), (std::vector<std::string>{"a", "b"}));
}

TEST_F(CommandLineTest, CommandLinePrecedesEnvironmentPrecedesFilePrecedesDefault) {
  const std::string path = file("sigma = 50\n");
  {
    CommandLine line = line_of_run();
    line.parse({});
    EXPECT_EQ(line.text("sigma"), "40");
    EXPECT_FALSE(line.is_explicit("sigma"));
  }
  {
    CommandLine line = line_of_run();
    line.parse({"--config", path});
    EXPECT_EQ(line.text("sigma"), "50");
  }
  const TemporaryVariable sigma("TINYOT_SIGMA", "60"), config("TINYOT_CONFIG", path);
  {
    CommandLine line = line_of_run();
    line.parse({});
    EXPECT_EQ(line.text("sigma"), "60");
  }
  CommandLine line = line_of_run();
  line.parse({"--sigma", "70"});
  EXPECT_EQ(line.text("sigma"), "70");
}

TEST_F(CommandLineTest, SectionsAreForOneSubcommand) {
  CommandLine line = line_of_run();
  line.parse({"--config", file("sigma = 50\n[preprocess]\nands = 1M\n[run]\nwait = 7\n")});
  EXPECT_EQ(line.text("sigma"), "50");
  EXPECT_EQ(line.text("connect-timeout"), "7");
}

TEST_F(CommandLineTest, RefusesFilesAndVariablesItDoesNotUnderstand) {
  const auto refusal = [&](const std::string& text) {
    return refusal_of(line_of_run(), {"--config", file(text)});
  };
  EXPECT_NE(refusal("sgima = 50\n").find("(did you mean sigma?)"), std::string::npos);
  EXPECT_NE(refusal("[runs]\nsigma = 50\n").find("no subcommand for the section [runs]"),
            std::string::npos);
  EXPECT_NE(refusal("sigma\n").find("options"), std::string::npos);
  EXPECT_NE(refusal("sigma = 50\nsigma = 60\n").find("more than once"), std::string::npos);
  EXPECT_NE(refusal("live = perhaps\n").find("must be yes or no"), std::string::npos);
  EXPECT_NE(refusal_of(line_of_run(), {"--config", "/nowhere/options"}).find("cannot read"),
            std::string::npos);
  const TemporaryVariable live("TINYOT_LIVE", "perhaps");
  EXPECT_NE(refusal_of(line_of_run(), {}).find("TINYOT_LIVE must be yes or no"), std::string::npos);
}

TEST_F(CommandLineTest, TakesSecretsFromTheCommandLineOnly) {
  const std::string of_file = refusal_of(line_of_run(), {"--config", file("input = key=5eC4e7\n")});
  EXPECT_NE(of_file.find("input is not taken from a file"), std::string::npos) << of_file;
  EXPECT_EQ(of_file.find("5eC4e7"), std::string::npos) << of_file;
  const TemporaryVariable input("TINYOT_INPUT", "key=5eC4e7");
  const std::string of_environment = refusal_of(line_of_run(), {});
  EXPECT_NE(of_environment.find("unset TINYOT_INPUT"), std::string::npos) << of_environment;
  EXPECT_EQ(of_environment.find("5eC4e7"), std::string::npos) << of_environment;
}

TEST_F(CommandLineTest, OtherNamesAreTheSameOption) {
  CommandLine line = line_of_run();
  line.parse({"--wait", "9"});
  EXPECT_EQ(line.text("connect-timeout"), "9");
  EXPECT_EQ(refusal_of(line_of_run(), {"--wait", "9", "--connect-timeout", "9"}),
            "--wait is another name of --connect-timeout: give only one of them");
}

TEST_F(CommandLineTest, NamesAllThatIsMissing) {
  CommandLine line = line_of_run();
  line.require("connect-timeout");
  line.require_one_of({"live", "output"});
  EXPECT_EQ(refusal_of(line, {}),
            "these are missing: --connect-timeout, --live or --output; see tinyot run --help");
  EXPECT_EQ(refusal_of(line, {"--output", "x"}),
            "--connect-timeout is missing; see tinyot run --help");
  EXPECT_EQ(refusal_of(line, {"--live", "--wait", "1"}), "accepted");
}

TEST(ParseSize, TakesSuffixesAndPowers) {
  for (const auto& [text, size] : std::initializer_list<std::pair<const char*, std::uint64_t>>{
           {"0", 0},
           {"4096", 4096},
           {"2^20", 1 << 20},
           {"2^62", std::uint64_t{1} << 62},
           {"1k", 1000},
           {"1K", 1000},
           {"1Ki", 1024},
           {"3M", 3000000},
           {"1Mi", 1 << 20},
           {"2G", 2000000000},
           {"1Gi", 1 << 30},
           {"1T", 1000000000000},
           {"1.5M", 1500000},
           {"0.5Ki", 512},
           {"1e6", 1000000},
           {"2.5e3", 2500},
           {"9223372036854775807", 9223372036854775807}})
    EXPECT_EQ(parse_size("ands", text), size) << text;
}

TEST(ParseSize, RefusesAnythingElse) {
  for (const char* text :
       {"",          "-1",     "+1",   "1 M",  "M",    ".",    "1.",
        "1.5",       "1.23e1", "1e",   "1e19", "1e-3", "1MM",  "1Mb",
        "1iM",       "2^",     "2^63", "2^-1", "0x10", "many", "9223372036854775808",
        "10000000T", "1..5k"})
    EXPECT_THROW(parse_size("ands", text), UsageError) << text;
}

TEST(DidYouMean, FindsTheNearestWord) {
  const std::vector<std::string> known = {"preprocess", "params", "run", "report"};
  EXPECT_EQ(did_you_mean("preproces", known), " (did you mean preprocess?)");
  EXPECT_EQ(did_you_mean("parmas", known), " (did you mean params?)");
  EXPECT_EQ(did_you_mean("rnu", known), " (did you mean run?)");
  EXPECT_EQ(did_you_mean("reprot", known), " (did you mean report?)");
  EXPECT_EQ(did_you_mean("something", known), "");
  EXPECT_EQ(did_you_mean("x", {"y", "xy"}), " (did you mean xy?)");
  EXPECT_EQ(did_you_mean("x", {"y"}), "");
  EXPECT_EQ(did_you_mean("", known), "");
}

TEST(ProgressText, HasNoRateBeforeThereIsOne) {
  const auto text = [](double made, double made_at_start, double elapsed_s, double before = 0) {
    return progress_text({1000, before, made, made_at_start, elapsed_s}, "ANDs", "gates");
  };
  EXPECT_EQ(text(0, 0, 7), "0.0 %, preparing (gates)");
  EXPECT_EQ(text(0, 0, 7, 500), "50.0 %, preparing (gates)");
  // The first report comes after some time of which nothing is known.
  EXPECT_EQ(text(250, 250, 0), "25.0 %, in progress (gates)");
  EXPECT_EQ(text(250, 0, 0.001), "25.0 %, in progress (gates)");
  EXPECT_EQ(text(350, 250, 2), "35.0 %, 50 ANDs/s, 13.0 s left (gates)");
  EXPECT_EQ(text(250, 0, 10, 500), "75.0 %, 25 ANDs/s, 10.0 s left (gates)");
  EXPECT_EQ(progress_text({0, 0, 0, 0, 1}, "ANDs", "gates"), "0.0 %, preparing (gates)");
}

TEST(Progress, CountsFromItsFirstReport) {
  for (const char* phase : {"gates", "rows", "verify", "merge"}) {
    Progress progress("items", false);
    progress.observe(phase, 250, 1000);
    EXPECT_EQ(progress.state().made, 250) << phase;
    EXPECT_EQ(progress.state().made_at_start, 250) << phase;
  }
}

}  // namespace
}  // namespace tinyot::test
