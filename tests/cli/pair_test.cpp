// Two parties as child processes: the joined report and exit status are those of the party that
// failed.
#include "tools/bench/pair.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "tests/support/layers.h"
#include "tests/support/temporary_variable.h"
#include "tools/bench/pair_report.h"

namespace tinyot::test {
namespace {

// A shell in place of a party's command.
PairEnded run_shells(const std::string& of_a, const std::string& of_b) {
  const auto command = [](const std::string& script) { return tools::PairCommand{{"-c", script}}; };
  return tools::run_both("/bin/sh", {command(of_a), command(of_b)}, std::chrono::seconds(5));
}

// One party runs `failing`, the other one succeeds.
PairEnded run_with(Party fails, const std::string& failing) {
  const std::string succeeding = R"(echo '{"complete": true}')";
  return fails == Party::A ? run_shells(failing, succeeding) : run_shells(succeeding, failing);
}

// As a command that fails reports it.
std::string failing_as(const std::string& error_class, int status) {
  return R"(echo '{"error": {"class": ")" + error_class + R"("}}'; exit )" + std::to_string(status);
}

tools::Json printed(const PairEnded& ended) {
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(tools::print(Format::Json, ended), ended.cause().status);
  return tools::Json::parse(::testing::internal::GetCapturedStdout());
}

TEST(RunPair, JoinsBothReportsOfASuccess) {
  const PairEnded ended = run_shells(R"(echo "{\"party\": \"$TINYOT_PARTY_OF_PAIR\"}")",
                                     R"(echo "{\"party\": \"$TINYOT_PARTY_OF_PAIR\"}")");
  EXPECT_EQ(ended.cause().status, 0);
  const tools::Json report = printed(ended);
  for (const char* party : {"A", "B"}) EXPECT_EQ(report[party]["party"], party);
  EXPECT_EQ(report["wall_s"], ended.wall_s);
}

TEST(RunPair, EndsWithTheStatusOfThePartyThatFails) {
  for (const Party party : {Party::A, Party::B}) {
    const PairEnded ended = run_with(party, R"(echo '{"complete": false}'; exit 130)");
    EXPECT_EQ(ended.cause().status, 130) << letter(party);
    EXPECT_EQ(printed(ended)[std::string(1, letter(party))]["complete"], false);
  }
}

TEST(RunPair, ReportsTheFailureOfEitherParty) {
  for (const Party party : {Party::A, Party::B}) {
    const PairEnded ended = run_with(party, failing_as("cheated", 4));
    EXPECT_EQ(ended.cause().status, 4) << letter(party);
    EXPECT_EQ(printed(ended)["error"]["class"], "cheated");
  }
}

TEST(RunPair, ReportsCheatingRatherThanLostConnection) {
  const std::string cheated = failing_as("cheated", 4), cut = failing_as("network", 3);
  for (const PairEnded& ended : {run_shells(cheated, cut), run_shells(cut, cheated)}) {
    EXPECT_EQ(ended.cause().status, 4);
    EXPECT_EQ(printed(ended)["error"]["class"], "cheated");
  }
}

// Of two failures the one that explains the other is reported, whichever party has it.
TEST(RunPair, RanksEveryPairOfStatuses) {
  // From what explains nothing to what explains all; those of a rank are reported as A has them.
  const std::vector<std::vector<int>> ranks{
      {0}, {128 + SIGTERM}, {3}, {1, 2, 5, 6, 7, 130, 128 + SIGKILL}, {4}};
  for (std::size_t lower = 0; lower < ranks.size(); ++lower)
    for (const int status : ranks[lower])
      for (std::size_t higher = lower; higher < ranks.size(); ++higher)
        for (const int other : ranks[higher]) {
          PairEnded ended;
          ended.commands[0].status = status, ended.commands[1].status = other;
          EXPECT_EQ(ended.cause().status, lower == higher ? status : other);
          std::swap(ended.commands[0].status, ended.commands[1].status);
          EXPECT_EQ(ended.cause().status, other);
        }
}

TEST(RunPair, KilledPartyIsAFailure) {
  for (const Party party : {Party::A, Party::B}) {
    const PairEnded ended = run_with(party, "kill -KILL $$");
    EXPECT_EQ(ended.cause().status, 128 + SIGKILL) << letter(party);
    EXPECT_TRUE(printed(ended)[std::string(1, letter(party))].is_null());
  }
}

// A party that does not notice is ended, and does not explain.
TEST(RunPair, EndsAPartyThatDoesNotNotice) {
  tools::PairCommand failing{{"-c", failing_as("store", 5)}}, waiting{{"-c", "exec sleep 1000"}};
  tools::PairCommands commands;
  commands[0] = std::move(waiting);
  commands[1] = std::move(failing);
  const PairEnded ended = tools::run_both("/bin/sh", commands, std::chrono::milliseconds(1));
  EXPECT_EQ(ended.of(Party::A).status, 128 + SIGTERM);
  EXPECT_EQ(ended.cause().status, 5);
}

TEST(RunPair, OptionsInTheEnvironmentAreNotTheParties) {
  const TemporaryVariable sigma("TINYOT_SIGMA", "64");
  const PairEnded ended = run_shells("env", "env");
  EXPECT_EQ(ended.of(Party::A).out.find("TINYOT_SIGMA"), std::string::npos);
  EXPECT_NE(ended.of(Party::A).out.find("PATH="), std::string::npos);
}

// An input is in memory alone, which the command inherits and can read once or several times.
TEST(RunPair, InputsAreInherited) {
  tools::PairCommand reading, other{{"-c", "ls /proc/self/fd | wc -l"}};
  reading.add_input("key", "0x2a");
  ASSERT_EQ(reading.arguments.size(), 2u);
  const std::string file = reading.arguments[1].substr(std::string("key=@").size());
  reading.arguments = {"-c", "cat " + file + " " + file};
  tools::PairCommands commands;
  commands[0] = std::move(reading);
  commands[1] = std::move(other);
  const PairEnded ended = tools::run_both("/bin/sh", commands, std::chrono::seconds(5));
  EXPECT_EQ(ended.of(Party::A).out, "0x2a0x2a");
  // The standard streams, and that of the list.
  EXPECT_EQ(ended.of(Party::B).out, "4\n");
}

}  // namespace
}  // namespace tinyot::test
