// The help texts and the version of the command.
#include <regex>

#include "tests/support/command_test.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

const std::vector<Arguments> kLeaves = {{"demo"},
                                        {"preprocess"},
                                        {"run"},
                                        {"serve"},
                                        {"client", "run"},
                                        {"client", "submit"},
                                        {"client", "status"},
                                        {"client", "result"},
                                        {"client", "cancel"},
                                        {"client", "stock"},
                                        {"client", "peers"},
                                        {"client", "retire"},
                                        {"key", "create"},
                                        {"key", "import"},
                                        {"key", "derive"},
                                        {"key", "list"},
                                        {"key", "show"},
                                        {"key", "encrypt"},
                                        {"key", "decrypt"},
                                        {"key", "sign"},
                                        {"key", "verify"},
                                        {"key", "rotate"},
                                        {"key", "refresh"},
                                        {"key", "certificate"},
                                        {"key", "verify-certificate"},
                                        {"key", "rebind"},
                                        {"key", "suspend"},
                                        {"key", "resume"},
                                        {"key", "deactivate"},
                                        {"key", "destroy"},
                                        {"key", "backups"},
                                        {"key", "restore"},
                                        {"key", "backup-key"},
                                        {"key", "approvals"},
                                        {"key", "approve"},
                                        {"key", "deny"},
                                        {"key", "audit", "verify"},
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
  for (const Arguments& group : {Arguments{"client"},
                                 {"key"},
                                 {"key", "audit"},
                                 {"local"},
                                 {"store"},
                                 {"circuit"},
                                 {"bench"}}) {
    const Ended ended = tinyot(group + Arguments{"--help"});
    EXPECT_TRUE(ended_with(ended, 0));
    std::string name = "tinyot";
    for (const std::string& word : group) name += " " + word;
    EXPECT_NE(ended.out.find("Usage: " + name + " COMMAND"), std::string::npos) << ended.out;
    EXPECT_NE(ended.out.find("Example:"), std::string::npos) << ended.out;
  }
}

// The short names, and the subcommand `help`.
TEST(HelpTest, HelpAndVersionHaveSeveralNames) {
  EXPECT_EQ(tinyot({"-h"}).out, tinyot({"--help"}).out);
  EXPECT_EQ(tinyot({"help"}).out, tinyot({"--help"}).out);
  EXPECT_EQ(tinyot({"-V"}).out, tinyot({"--version"}).out);
  EXPECT_EQ(tinyot({"run", "-h"}).out, tinyot({"run", "--help"}).out);
  EXPECT_EQ(tinyot({"help", "run"}).out, tinyot({"run", "--help"}).out);
  EXPECT_EQ(tinyot({"help", "store"}).out, tinyot({"store", "--help"}).out);
  EXPECT_EQ(tinyot({"store", "help", "info"}).out, tinyot({"store", "info", "--help"}).out);
  EXPECT_EQ(tinyot({"help", "client", "run"}).out, tinyot({"client", "run", "--help"}).out);
  EXPECT_EQ(tinyot({"help", "store", "info"}).out, tinyot({"store", "info", "--help"}).out);
  EXPECT_EQ(tinyot({"help", "key", "audit", "verify"}).out,
            tinyot({"key", "audit", "verify", "--help"}).out);
}

TEST(HelpTest, RareOptionsAreInHelpAllOnly) {
  const Ended usual = tinyot({"preprocess", "--help"}), all = tinyot({"preprocess", "--help-all"});
  EXPECT_TRUE(ended_with(all, 0));
  for (const char* group : {"Peer:", "Store:", "Material:", "Security:", "General:"}) {
    EXPECT_NE(usual.out.find(group), std::string::npos) << group;
    EXPECT_NE(all.out.find(group), std::string::npos) << group;
  }
  for (const char* option : {"--softspoken-k", "--shard", "--insecure-plaintext"}) {
    EXPECT_EQ(usual.out.find(std::string("  ") + option + " "), std::string::npos) << option;
    EXPECT_NE(all.out.find(std::string("  ") + option + " "), std::string::npos) << option;
  }
  EXPECT_NE(usual.out.find("--help-all prints further options"), std::string::npos);
  EXPECT_EQ(all.out.find("--help-all prints further options"), std::string::npos);
}

TEST(HelpTest, TopLevelNamesEverySubcommandAndStatus) {
  const Ended ended = tinyot({"--help"});
  EXPECT_TRUE(ended_with(ended, 0));
  for (const char* word :
       {"demo", "keygen", "preprocess", "run", "serve", "client", "key", "local", "params", "store",
        "circuit", "--version", "2 usage", "6 the parties disagree"})
    EXPECT_NE(ended.out.find(word), std::string::npos) << word;
}

TEST(HelpTest, AdvisesFilesForSecrets) {
  for (const Arguments& command : {Arguments{"run"}, {"local", "run"}, {"client", "run"}}) {
    const Ended ended = tinyot(command + Arguments{"--help"});
    EXPECT_NE(ended.out.find("@FILE"), std::string::npos);
    EXPECT_NE(ended.out.find("for real secrets"), std::string::npos) << ended.out;
  }
}

TEST(HelpTest, VersionNamesTheBuild) {
  const Ended ended = tinyot({"--version"});
  EXPECT_TRUE(ended_with(ended, 0));
  static const std::regex kVersion(R"(tinyot \S+, vector instructions in use: [A-Za-z0-9_]+, )"
                                   R"(wire version [0-9]+, daemon version [0-9]+, )"
                                   R"(store format [0-9]+\n)");
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
