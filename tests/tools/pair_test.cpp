// Two parties as child processes: the joined report and exit status are those of the party that
// failed.
#include "tools/cli/pair.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "base/error.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

using Json = nlohmann::json;

const LocalLink kLink{TcpTimeouts{std::chrono::seconds(5), std::chrono::seconds(5)}};

// One party runs `failing`, the other one succeeds.
CommandResult run_with(Party fails, const std::function<CommandResult()>& failing) {
  return run_pair(
      [&](Party party, const Endpoint&) {
        if (party == fails) return failing();
        return CommandResult{{{"party", std::string(1, letter(party))}}, 0};
      },
      kLink);
}

TEST(RunPair, JoinsBothReportsOfASuccess) {
  const CommandResult result = run_with(Party::A, [] {
    return CommandResult{Json{{"party", "A"}}, 0};
  });
  EXPECT_EQ(result.exit_status, 0);
  for (const char* party : {"A", "B"}) EXPECT_EQ(result.report[party]["party"], party);
}

TEST(RunPair, EndsWithTheStatusOfThePartyThatFails) {
  for (const Party party : {Party::A, Party::B}) {
    const CommandResult result = run_with(party, [] {
      return CommandResult{Json{{"complete", false}}, 130};
    });
    EXPECT_EQ(result.exit_status, 130) << letter(party);
    EXPECT_EQ(result.report[std::string(1, letter(party))]["complete"], false);
  }
}

TEST(RunPair, ReportsTheFailureOfEitherParty) {
  for (const Party party : {Party::A, Party::B}) {
    const CommandResult result =
        run_with(party, []() -> CommandResult { throw PeerCheated("EQ of a test"); });
    EXPECT_EQ(result.exit_status, 4) << letter(party);
    EXPECT_EQ(result.report["error"]["class"], "cheated") << result.report;
  }
}

TEST(RunPair, ReportsCheatingRatherThanLostConnection) {
  for (const Party honest : {Party::A, Party::B}) {
    const CommandResult result = run_pair(
        [&](Party party, const Endpoint&) -> CommandResult {
          if (party == honest) throw PeerCheated("EQ of a test");
          throw NetworkError("the connection is cut");
        },
        kLink);
    EXPECT_EQ(result.exit_status, 4) << letter(honest);
    EXPECT_EQ(result.report["error"]["class"], "cheated") << result.report;
  }
}

TEST(RunPair, KilledPartyIsAFailure) {
  for (const Party party : {Party::A, Party::B}) {
    const CommandResult result = run_with(party, []() -> CommandResult {
      raise(SIGKILL);
      return {};
    });
    EXPECT_EQ(result.exit_status, 128 + SIGKILL) << letter(party);
    EXPECT_TRUE(result.report[std::string(1, letter(party))].is_null());
  }
}

}  // namespace
}  // namespace tinyot::test
