// The report of a failed command with --format json: one object with the class of the error and its
// message.
#include <new>

#include "tests/support/command_test.h"
#include "tests/support/layers.h"
#include "tools/cli/render/report.h"

namespace tinyot::test {
namespace {

const Arguments kJsonWanted = {"--format", "json"};

// The error that a command reported. Its message must also be on stderr.
Json error_of(const Ended& ended, int status, const std::string& prefix = "tinyot: ") {
  EXPECT_EQ(ended.status, status);
  const Json report = json_of(ended);
  EXPECT_TRUE(is_error_report(ended.out, status)) << ended.out;
  if (!report.contains("error")) return Json::object();
  const Json error = report["error"];
  EXPECT_NE(ended.err.find(prefix + error.value("message", "") + "\n"), std::string::npos)
      << ended.err;
  return error;
}

template <class Exception>
Json reported(const Exception& exception) {
  try {
    throw exception;
  } catch (...) {
    return failure_report(current_failure())["error"];
  }
}

TEST(FailureReport, HasTheClassOfTheException) {
  EXPECT_EQ(reported(UsageError("u")), Json({{"class", "usage"}, {"message", "u"}}));
  EXPECT_EQ(reported(NetworkError("n")), Json({{"class", "network"}, {"message", "n"}}));
  EXPECT_EQ(reported(NetworkError("n", "LaBit")),
            Json({{"class", "network"}, {"phase", "LaBit"}, {"message", "n"}}));
  EXPECT_EQ(reported(PeerAborted())["class"], "network");
  EXPECT_EQ(reported(PeerCheated("EQ of LaBit of A"))["class"], "cheated");
  EXPECT_EQ(reported(PeerCheated("EQ of LaBit of A"))["message"],
            PeerCheated("EQ of LaBit of A").what());
  EXPECT_EQ(reported(StoreError("s")), Json({{"class", "store"}, {"message", "s"}}));
  EXPECT_EQ(reported(OutOfMaterial("m")), Json({{"class", "store"}, {"message", "m"}}));
  EXPECT_EQ(reported(Disagreement("d")), Json({{"class", "disagreement"}, {"message", "d"}}));
  EXPECT_EQ(reported(std::logic_error("l")), Json({{"class", "internal"}, {"message", "l"}}));
  EXPECT_EQ(reported(std::bad_alloc())["class"], "internal");
}

TEST(FailureReport, HasTheRemedyThatEndsTheMessage) {
  EXPECT_EQ(reported(StoreError("s", Remedy::GiveStoreKey)),
            Json({{"class", "store"},
                  {"message", "s; give it with --store-key @FILE"},
                  {"remedy", "give it with --store-key @FILE"}}));
  EXPECT_EQ(reported(NetworkError("n", "gates", Remedy::AllowLongerIdle)),
            Json({{"class", "network"},
                  {"phase", "gates"},
                  {"message", "n; --idle-timeout sets how long to wait"},
                  {"remedy", "--idle-timeout sets how long to wait"}}));
  EXPECT_EQ(reported(CommandError("c: r", ExitStatus::Network, "r")),
            Json({{"class", "network"}, {"message", "c: r"}, {"remedy", "r"}}));
  const Json out_of_memory = reported(std::bad_alloc());
  EXPECT_EQ(out_of_memory["message"].get<std::string>(),
            "out of memory; " + out_of_memory["remedy"].get<std::string>());
  for (int i = 1; i <= static_cast<int>(Remedy::UseShardsTogether); ++i)
    EXPECT_FALSE(reported(Disagreement("d", static_cast<Remedy>(i)))["remedy"].empty()) << i;
}

class FailureTest : public CommandTest {};

TEST_F(FailureTest, UsageErrorIsReportedWhereverTheFormatIsGiven) {
  for (const Arguments& arguments :
       {Arguments{"--format", "json"}, Arguments{"nothing", "--format=json"},
        Arguments{"params", "--format", "json"},
        Arguments{"params", "--ands", "many", "--format", "json"},
        Arguments{"params", "--format", "json", "--unknown"}, Arguments{"local", "--format=json"},
        Arguments{"local", "run", "--format", "json"}, Arguments{"bench", "--format", "json"}})
    EXPECT_EQ(error_of(tinyot(arguments), 2)["class"], "usage");
  EXPECT_EQ(tinyot({"params", "--ands", "many"}).out, "");
  EXPECT_EQ(tinyot({"params", "--format", "text"}).out, "");
}

TEST_F(FailureTest, QuotesNoInvalidUtf8) {
  const Ended ended = tinyot(Arguments{"circuit", "info", "\xff\xfe"} + kJsonWanted);
  EXPECT_EQ(ended.status, 2);
  EXPECT_EQ(json_of(ended)["error"]["class"], "usage");
}

TEST_F(FailureTest, LocalFailureIsInternal) {
  error_of(tinyot(Arguments{"circuit", "convert", "sha256", "--output", path("none/file")} +
                  kJsonWanted),
           1);
}

TEST_F(FailureTest, NetworkErrorNamesThePhaseIfAny) {
  const Arguments small = {"--ands", "2^10",           "--profile", "fast", "--connect-timeout",
                           "1",      "--idle-timeout", "1"};
  EXPECT_FALSE(error_of(tinyot(as('A', "preprocess", small)), 3).contains("phase"));
  Listener listener;
  listener_ = 'B', peer_port_ = listener.port();
  Process party(TINYOT_BINARY, as('A', "preprocess", small));
  const Socket silent = listener.accept(std::chrono::seconds(10));
  const Json error = error_of(party.end(), 3);
  EXPECT_EQ(error["phase"], "handshake");
  EXPECT_EQ(error["remedy"], "--idle-timeout sets how long to wait");
}

TEST_F(FailureTest, OutOfMaterialIsStoreError) {
  error_of(tinyot(Arguments{"store", "info", path("none")} + kJsonWanted), 5);
  preprocess("2^10");
  const Ended ended =
      tinyot(as('A', "run",
                Arguments{"--circuit", "aes128", "--input", "key_a=" + std::string(32, '0'),
                          "--input", "message=" + std::string(32, '0')}));
  EXPECT_NE(error_of(ended, 5)["message"].get<std::string>().find("needs 6400"), std::string::npos);
}

TEST_F(FailureTest, DisagreementIsReportedByBoth) {
  const Arguments small = {"--ands", "2^10", "--profile", "fast"};
  const BothEnded ended = both("preprocess", small, small + Arguments{"--sigma", "64"});
  error_of(ended.a, 6);
  error_of(ended.b, 6);
}

TEST_F(FailureTest, LocalJobReportsThePartyThatFailed) {
  const Arguments run = Arguments{"local",        "run",     "--store", dir_.string(), "--circuit",
                                  "millionaires", "--input", "a=1",     "--input",     "b=1"};
  error_of(tinyot(run + kJsonWanted), 5, "A: ");
  EXPECT_EQ(tinyot(run).out, "");
  preprocess("2^10");
  std::filesystem::remove_all(path("B"));
  const Json error =
      error_of(tinyot(run + kJsonWanted + Arguments{"--connect-timeout", "2"}), 5, "B: ");
  EXPECT_NE(error["message"].get<std::string>().find("no store in " + path("B")), std::string::npos)
      << error;
}

}  // namespace
}  // namespace tinyot::test
