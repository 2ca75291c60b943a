// The self-test's table is complete, its verdicts are correct, and a sample of its deviations ends
// as the table says.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "crypto/ml_kem.h"
#include "tests/support/layers.h"
#include "tests/support/repetitions.h"
#include "tools/selftest/render/campaign.h"

namespace tinyot::test {
namespace {

constexpr MessageTag kFirstMessage = net::message_tag("eq.point"),
                     kSecondMessage = net::message_tag("eq.answer");

// A sends a word, B sends it back, and A checks the answer, or does not.
class Echo final : public Scenario {
 public:
  explicit Echo(bool is_checked) : is_checked_(is_checked) {}

  void run(Party me, Channel& channel) override {
    if (me == Party::B) {
      send_object(channel, kSecondMessage, recv_object<std::uint64_t>(channel, kFirstMessage));
      return;
    }
    send_object(channel, kFirstMessage, std::uint64_t{5});
    const auto answer = recv_object<std::uint64_t>(channel, kSecondMessage);
    if (is_checked_ && answer != 5) throw PeerCheated("EQ of an answer");
    output_ = answer;
  }
  std::string flaw(Party honest) override {
    return honest == Party::A && output_ != 0 && output_ != 5 ? "it has accepted another word" : "";
  }

 private:
  bool is_checked_;
  std::uint64_t output_ = 0;
};

ScenarioKind echo(bool is_checked) {
  return {"echo", "", "", [=](std::uint64_t) { return std::make_unique<Echo>(is_checked); }};
}

Verdict verdict_of(const ScenarioKind& kind, const Deviation& deviation) {
  return judge(*row_of(kSecondMessage.id), deviation.kind, attempt(kind, 1, Party::B, &deviation))
      .verdict;
}

TEST(Adversary, DetectsMissingCheck) {
  EXPECT_EQ(verdict_of(echo(true), {.kind = DeviationKind::FlipBit}), Verdict::Caught);
  EXPECT_EQ(verdict_of(echo(false), {.kind = DeviationKind::FlipBit}), Verdict::Violation);
  for (const DeviationKind kind :
       {DeviationKind::Zeros, DeviationKind::Ones, DeviationKind::Random, DeviationKind::FlipRow}) {
    EXPECT_EQ(verdict_of(echo(true), {.kind = kind}), Verdict::Caught) << name_of(kind);
    EXPECT_EQ(verdict_of(echo(false), {.kind = kind}), Verdict::Violation) << name_of(kind);
  }
}

TEST(Adversary, DetectsFrameTricksWithoutChecks) {
  for (const DeviationKind kind :
       {DeviationKind::CutShort, DeviationKind::Lengthen, DeviationKind::WrongLength,
        DeviationKind::WrongTag, DeviationKind::WrongSequence})
    EXPECT_EQ(verdict_of(echo(false), {.kind = kind}), Verdict::Caught) << name_of(kind);
}

// Repeating the last message of a session is harmless, but the table says that each of its messages
// is followed by another one.
TEST(Adversary, JudgesUndetectedDeviations) {
  EXPECT_EQ(verdict_of(echo(true), {.kind = DeviationKind::Repeat}), Verdict::Violation);
  EXPECT_EQ(verdict_of(echo(true), {.kind = DeviationKind::Swap}), Verdict::Void)
      << "there is no next message";
  EXPECT_EQ(verdict_of(echo(true), {.kind = DeviationKind::Replay}), Verdict::Void)
      << "there is no earlier session";
  EXPECT_EQ(verdict_of(echo(true), {.message = 7, .kind = DeviationKind::FlipBit}), Verdict::Void)
      << "there is no such message";
}

// A swap with a message of another track changes nothing.
TEST(Adversary, SwapsMessagesOfOneTrack) {
  class TwoTracks final : public Scenario {
   public:
    void run(Party me, Channel& channel) override {
      constexpr MessageTag kBeside = net::message_tag("silent.digest");
      if (me == Party::B) {
        send_object(channel, kFirstMessage, std::uint64_t{1});
        return send_object(channel, kBeside, std::uint64_t{2});
      }
      EXPECT_EQ(recv_object<std::uint64_t>(channel, kFirstMessage), 1u);
      EXPECT_EQ(recv_object<std::uint64_t>(channel, kBeside), 2u);
    }
    std::string flaw(Party) override { return {}; }
  };
  const ScenarioKind kind{"tracks", "", "",
                          [](std::uint64_t) { return std::make_unique<TwoTracks>(); }};
  const Deviation swap{.kind = DeviationKind::Swap};
  const Trial trial = attempt(kind, 1, Party::B, &swap);
  EXPECT_FALSE(trial.conduct.deviated);
  EXPECT_EQ(trial.honest.kind, Ending::Kind::Done) << trial.honest.text;
}

TEST(Adversary, OmittedMessageEndsBothParties) {
  const Deviation omit{.kind = DeviationKind::Omit};
  const Trial of_a = attempt(echo(true), 1, Party::A, &omit),
              of_b = attempt(echo(true), 1, Party::B, &omit);
  EXPECT_EQ(of_a.honest.kind, Ending::Kind::Cut) << of_a.honest.text;
  EXPECT_EQ(of_a.cheater.kind, Ending::Kind::Cut) << of_a.cheater.text;
  EXPECT_EQ(of_b.honest.kind, Ending::Kind::Cut) << of_b.honest.text;
}

TEST(Adversary, TableHasExactlyTheMessagesSent) {
  std::set<std::uint32_t> sent;
  for (const ScenarioKind& kind : scenario_kinds()) {
    for (const Party party : {Party::A, Party::B}) {
      const Trial trial = attempt(kind, 1, party, nullptr);
      ASSERT_EQ(trial.honest.kind, Ending::Kind::Done) << kind.name << ": " << trial.honest.text;
      ASSERT_EQ(trial.cheater.kind, Ending::Kind::Done) << kind.name << ": " << trial.cheater.text;
      EXPECT_EQ(trial.flaw, "");
      for (const SeenMessage& message : trial.conduct.sent) sent.insert(message.tag);
    }
  }
  std::set<std::uint32_t> known;
  for (const TableRow& row : adversary_table())
    EXPECT_TRUE(known.insert(row.message.id).second) << row.message.name << " is listed twice";
  for (const std::uint32_t tag : sent) EXPECT_TRUE(known.contains(tag)) << std::hex << tag;
  for (const TableRow& row : adversary_table())
    EXPECT_TRUE(sent.contains(row.message.id) ||
                (!has_ml_kem() && row.message.name.starts_with("base_ot.kem_")))
        << row.message.name << " is never sent";
}

// Each scenario's attacks, sampled evenly. `tinyot selftest --adversary` runs all of them.
void expect_sample_as_estimated(const std::string& scenario, std::size_t sessions,
                                const std::string& only = {}) {
  CampaignOptions options;
  options.scenario = scenario;
  options.only = only;
  options.occurrences = 1;
  options.threads = 2;
  std::vector<Attack> sample;
  const std::vector<Attack> all = plan_campaign(options);
  const std::size_t wanted = repetitions(sessions);
  for (std::size_t i = 0; i < wanted; ++i) sample.push_back(all[i * all.size() / wanted]);
  const CampaignResult result = carry_out(sample, options);
  EXPECT_GT(result.tried, wanted / 2);
  for (const std::string& violation : result.violations) ADD_FAILURE() << violation;
}

TEST(Adversary, IsCaughtInTheFastProfile) { expect_sample_as_estimated("fast", 60); }
TEST(Adversary, IsCaughtInBaseOtsFromMlKem) {
  if (!has_ml_kem()) GTEST_SKIP() << ml_kem_shortage();
  expect_sample_as_estimated("ml-kem", 30);
}
TEST(Adversary, IsCaughtInTheWanProfile) {
  expect_sample_as_estimated("wan", 20);
  expect_sample_as_estimated("wan", 20, "silent.");
  expect_sample_as_estimated("wan", 30, "bit_triple.");
}

// A chain begins its third iteration, which the session does not end: a deviation in that has no
// effect.
TEST(Adversary, AttacksNothingThatASessionDoesNotUse) {
  CampaignOptions options;
  options.scenario = "wan";
  options.only = "silent.corrections";
  options.occurrences = 100;
  std::set<std::size_t> attacked;
  for (const Attack& attack : plan_campaign(options)) attacked.insert(attack.occurrence);
  // Nine of the start and nine of the set: the next iteration's are sent, but not used.
  std::set<std::size_t> expected;
  for (std::size_t occurrence = 0; occurrence < 18; ++occurrence) expected.insert(occurrence);
  EXPECT_EQ(attacked, expected);
}

TEST(Adversary, IsCaughtInTheNnob12Profile) { expect_sample_as_estimated("nnob12", 20); }
TEST(Adversary, IsCaughtInTheGarbledPhase) { expect_sample_as_estimated("garbled", 60); }
TEST(Adversary, IsCaughtInPreparedRuns) {
  expect_sample_as_estimated("prepared-early", 40);
  expect_sample_as_estimated("prepared-batched", 40);
}
TEST(Adversary, IsCaughtInStoreSynchronisation) { expect_sample_as_estimated("store", 60); }

// A later scenario of another group attacks what both have again: its checks are other ones.
TEST(Adversary, EachGroupAttacksAllOfItsMessages) {
  std::map<std::string, std::set<std::string>> attacked;
  for (const Attack& attack : plan_campaign({}))
    attacked[attack.kind->group].insert(std::string(row_of(attack.tag)->message.name));
  for (const char* group : {"nnob12", "fast", "garbled"})
    for (const char* message : {"base_ot.r", "eq.point", "mac_transcript.digest"})
      EXPECT_TRUE(attacked[group].contains(message)) << group << ": " << message;
  for (const char* message : {"garbled.de", "garbled.rows", "garbled.seed", "garbled.shared"}) {
    EXPECT_TRUE(attacked["prepared-early"].contains(message)) << message;
    EXPECT_TRUE(attacked["prepared-batched"].contains(message)) << message;
  }
  EXPECT_TRUE(attacked["prepared-early"].contains("garbled.mac_rows"));
}

TEST(Adversary, MessageWithoutADeviationIsAViolation) {
  const ScenarioKind kind = echo(true);
  const auto result_of = [&](std::size_t message) {
    const std::vector<Attack> attacks = {{&kind,
                                          Party::B,
                                          1,
                                          kSecondMessage.id,
                                          0,
                                          {.message = message, .kind = DeviationKind::FlipBit}}};
    return carry_out(attacks, {});
  };
  EXPECT_TRUE(result_of(0).violations.empty());
  EXPECT_EQ(result_of(7).violations.size(), 1u);
}

// The exit status and the report of a campaign with this result.
std::pair<int, nlohmann::json> reported(const CampaignResult& result) {
  ::testing::internal::CaptureStdout();
  const int status = report_campaign(result, {}, 1, 0.5, Format::Json);
  return {status, nlohmann::json::parse(::testing::internal::GetCapturedStdout())};
}

TEST(Adversary, ViolationFailsTheCommand) {
  CampaignResult result;
  result.tallies[{kFirstMessage.id, DeviationKind::FlipBit}] = {3, 3, 0, 0, 0, {}};
  EXPECT_EQ(reported(result).first, 0);
  result.violations = {"the last attack"};
  const auto [status, report] = reported(result);
  EXPECT_EQ(status, 1);
  EXPECT_EQ(report["violations"], nlohmann::json({"the last attack"}));
}

TEST(Adversary, GuessesThatSurviveTooOftenFailTheCommand) {
  for (const TableRow& row : adversary_table()) {
    if (row.survival == 0) continue;
    const auto expected = static_cast<std::size_t>(1000 * row.survival);
    for (const auto& [survived, status] :
         {std::pair<std::size_t, int>{expected, 0}, {1000, 1}, {0, 1}}) {
      CampaignResult result;
      result.tallies[{row.message.id, DeviationKind::FlipBit}] = {
          1000, 1000 - survived, 0, survived, 0, {}};
      EXPECT_EQ(reported(result).first, status) << row.message.name << ", " << survived;
    }
  }
}

// Units broken off around each message of EQ, with and without a lie before it.
TEST(Adversary, CountsEveryUnitBrokenOff) {
  for (const auto& [scenario, sessions] : {std::pair{"units-fast", 48}, {"units-nnob12", 12}}) {
    const std::size_t wanted = repetitions(static_cast<std::uint64_t>(sessions));
    CampaignOptions options;
    options.scenario = scenario;
    options.threads = 2;
    std::vector<Attack> attacks = plan_campaign(options);
    std::set<std::pair<std::uint32_t, DeviationKind>> tried;
    for (const Attack& attack : attacks) tried.emplace(attack.tag, attack.deviation.kind);
    EXPECT_EQ(tried.size(), 6u) << "three messages, before and after";
    for (std::size_t i = 0; i < wanted; ++i) attacks[i] = attacks[i * attacks.size() / wanted];
    attacks.resize(wanted);
    const CampaignResult result = carry_out(attacks, options);
    for (const std::string& violation : result.violations) ADD_FAILURE() << violation;
    Tally all;
    for (const auto& [message, tally] : result.tallies) all.add(tally);
    EXPECT_GT(all.counted, attacks.size() / 2);
  }
}

// The table allows no outcome with an attempt that is not counted.
TEST(Adversary, UncountedAttemptIsViolation) {
  Trial trial;
  trial.conduct.deviated = true;
  trial.honest.kind = Ending::Kind::Cut;
  const TableRow& row = *row_of(kSecondMessage.id);
  EXPECT_EQ(judge(row, DeviationKind::HangUpAfter, trial).verdict, Verdict::Counted);
  EXPECT_EQ(judge(row, DeviationKind::FlipBit, trial).verdict, Verdict::Violation);
  trial.flaw = "of 1 units that were broken off, 0 are counted";
  EXPECT_EQ(judge(row, DeviationKind::HangUpAfter, trial).verdict, Verdict::Violation);
  trial.flaw.clear();
  trial.honest.kind = Ending::Kind::Done;
  EXPECT_EQ(judge(row, DeviationKind::HangUpAfter, trial).verdict, Verdict::Violation);
}

}  // namespace
}  // namespace tinyot::test
