// The help texts and the version of the command.
#include <regex>

#include "tests/support/layers.h"
#include "tests/tools/command_test.h"

namespace tinyot::test {
namespace {

const std::vector<Arguments> kLeaves = {{"demo"},
                                        {"preprocess"},
                                        {"run"},
                                        {"local", "preprocess"},
                                        {"local", "run"},
                                        {"params"},
                                        {"store", "info"},
                                        {"circuit", "list"},
                                        {"circuit", "info"},
                                        {"circuit", "eval"},
                                        {"circuit", "convert"},
                                        {"keygen"},
                                        {"bench", "offline"},
                                        {"bench", "online"},
                                        {"bench", "fig17"},
                                        {"bench", "ot"}};

TEST(HelpTest, EverySubcommandHasAnExample) {
  for (const Arguments& leaf : kLeaves) {
    std::string name = "tinyot";
    for (const std::string& word : leaf) name += " " + word;
    const Ended ended = tinyot(leaf + Arguments{"--help"});
    EXPECT_TRUE(ended_with(ended, 0));
    EXPECT_EQ(ended.err, "");
    EXPECT_NE(ended.out.find("Usage: " + name), std::string::npos) << ended.out;
    EXPECT_NE(ended.out.find("Example:\n  " + name), std::string::npos) << ended.out;
    for (const char* option : {"--help", "--format", "--quiet"})
      EXPECT_NE(ended.out.find(option), std::string::npos) << name << " " << option;
  }
}

TEST(HelpTest, EveryGroupOfSubcommandsHasAnExample) {
  for (const char* group : {"local", "store", "circuit", "bench"}) {
    const Ended ended = tinyot({group, "--help"});
    EXPECT_TRUE(ended_with(ended, 0));
    EXPECT_NE(ended.out.find(std::string("Usage: tinyot ") + group), std::string::npos)
        << ended.out;
    EXPECT_NE(ended.out.find("Example:"), std::string::npos) << ended.out;
  }
}

TEST(HelpTest, TopLevelNamesEverySubcommandAndStatus) {
  const Ended ended = tinyot({"--help"});
  EXPECT_TRUE(ended_with(ended, 0));
  for (const char* word : {"demo", "keygen", "preprocess", "run", "local", "params", "store",
                           "circuit", "--version", "2 usage", "6 the parties disagree"})
    EXPECT_NE(ended.out.find(word), std::string::npos) << word;
}

TEST(HelpTest, AdvisesFilesForSecrets) {
  for (const char* command : {"run", "local"}) {
    const Ended ended = tinyot(command == std::string("run") ? Arguments{"run", "--help"}
                                                             : Arguments{"local", "run", "--help"});
    EXPECT_NE(ended.out.find("@FILE"), std::string::npos);
    EXPECT_NE(ended.out.find("for real secrets"), std::string::npos) << ended.out;
  }
}

TEST(HelpTest, VersionNamesTheBuild) {
  const Ended ended = tinyot({"--version"});
  EXPECT_TRUE(ended_with(ended, 0));
  static const std::regex kVersion(R"(tinyot \S+, vector instructions in use: [A-Za-z0-9_]+, )"
                                   R"(wire version [0-9]+, store format [0-9]+\n)");
  EXPECT_TRUE(std::regex_match(ended.out, kVersion)) << ended.out;
}

// A command whose report cannot be written fails.
TEST(HelpTest, UnwritableOutputIsAnError) {
  const Ended ended = Process("/bin/sh", {"-c", std::string("exec '") + TINYOT_BINARY +
                                                    "' circuit list > /dev/full"})
                          .end();
  EXPECT_TRUE(ended_with(ended, 1, "tinyot: "));
}

}  // namespace
}  // namespace tinyot::test
