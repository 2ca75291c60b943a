// Texts of a peer do not reach the log, the interface or a terminal as they are.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "tests/service/scripted_peer.h"

namespace tinyot::test {
namespace {

// Clears a terminal and sets its title, adds a line to a log, and is long.
std::string foreign_text() {
  return "aes128\x1b[2J\x1b]0;title\x07\nsecond line\r\t\x7f\xc2\x9b 1m" + std::string(50'000, 'x');
}
constexpr std::size_t kTextMax = 2000;

::testing::AssertionResult is_clean(const std::string& text) {
  if (text.size() < kTextMax &&
      std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; }))
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << ::testing::PrintToString(text.substr(0, 200));
}

class ForeignTextTest : public ScriptedPeerTest {
 protected:
  void begin(Party scripted) {
    make_with_scripted(scripted, {}, {});
    honest().start();
    peer_->connect();
  }
  // What the commands of a client print; their own lines are separated.
  void expect_clean_output(const Arguments& command) {
    Arguments arguments = {"client"};
    arguments.insert(arguments.end(), command.begin(), command.end());
    arguments.insert(arguments.end(), {"--server", "unix:" + honest().socket().string()});
    const Ended ended = Process(TINYOT_BINARY, arguments).end();
    std::istringstream lines(ended.out + ended.err);
    for (std::string line; std::getline(lines, line);)
      EXPECT_TRUE(is_clean(line)) << command.front();
  }
  // The texts of all events of the daemon, which ends.
  void expect_clean_log() {
    std::istringstream lines(honest().stop().err);
    for (std::string line; std::getline(lines, line);) {
      const auto event = nlohmann::json::parse(line);
      for (const auto& [name, value] : event.items())
        EXPECT_TRUE(!value.is_string() || is_clean(value.get<std::string>())) << name;
    }
  }
  // Of a job that has failed.
  void expect_clean_error(const std::string& job) {
    const v1::Job ended = honest().client().result(job, false).job;
    EXPECT_EQ(ended.state(), v1::FAILED);
    EXPECT_TRUE(is_clean(ended.error().message()));
    expect_clean_output({"status", job});
    expect_clean_output({"result", job});
  }
};

TEST_F(ForeignTextTest, CircuitOfRefusedOffer) {
  begin(Party::A);
  wire::Message message;
  wire::Offer& offer = *message.mutable_offer();
  offer.set_job("job");
  offer.mutable_terms()->set_circuit(foreign_text());
  offer.mutable_terms()->set_fingerprint(std::string(64, '0'));
  peer_->send(message);
  EXPECT_TRUE(is_clean(peer_->refusal("job")));
  offer.mutable_terms()->set_circuit("file");
  offer.mutable_terms()->set_fingerprint(foreign_text());
  peer_->send(message);
  EXPECT_TRUE(is_clean(peer_->refusal("job")));
  expect_clean_log();
}

TEST_F(ForeignTextTest, JobOfRefusedStart) {
  begin(Party::A);
  peer_->start_job(foreign_text());
  // It is refused, or the link ends.
  try {
    EXPECT_TRUE(is_clean(peer_->next(wire::Message::kRefuse).refuse().job()));
  } catch (const NetworkError&) {
  }
  expect_clean_output({"peers"});
  expect_clean_log();
}

// Where the daemon leads and where it follows.
class ForeignTextInEitherRole : public ForeignTextTest,
                                public ::testing::WithParamInterface<Party> {};

// The policy does not look at what is no parameter.
TEST_P(ForeignTextInEitherRole, CircuitOfOtherTerms) {
  begin(GetParam());
  wire::Message offer = submitted("job");
  offer.mutable_offer()->mutable_terms()->set_circuit("aes128:" + foreign_text());
  peer_->send(offer);
  expect_clean_error("job");
  expect_clean_log();
}

TEST_P(ForeignTextInEitherRole, ReasonOfRefusal) {
  begin(GetParam());
  submitted("job");
  peer_->refuse("job", foreign_text());
  expect_clean_error("job");
  expect_clean_log();
}

INSTANTIATE_TEST_SUITE_P(ForeignTextTest, ForeignTextInEitherRole,
                         ::testing::Values(Party::A, Party::B),
                         [](const ::testing::TestParamInfo<Party>& of) {
                           return of.param == Party::A ? "DaemonFollows" : "DaemonLeads";
                         });

TEST_F(ForeignTextTest, ReasonOfDeclinedRefill) {
  begin(Party::B);
  peer_->send_stock({});
  const auto order = [&] { return peer_->next(wire::Message::kRefill).refill(); };
  peer_->answer_refill(order(), false, foreign_text());
  (void)order();  // the answer has been read
  expect_clean_output({"peers"});
  expect_clean_log();
}

}  // namespace
}  // namespace tinyot::test
