// Stores that grow, by two processes as users run them.
#include <signal.h>

#include "storage/store.h"
#include "tests/support/held_test.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

const Arguments kFastProfile = {"--profile", "fast"};
const Arguments kWanProfile = {"--profile", "wan", "--silent-set", "b9"};
const Arguments kSmallUnits = {"--unit", "2^10"};

class GrowthTest : public HeldTest {
 protected:
  // Both parties preprocess with these options; returns A's report, whose amounts B's has too.
  Json grow(const Arguments& options) const {
    const BothEnded ended = both("preprocess", options, options);
    EXPECT_TRUE(ended_with(ended.a, 0));
    EXPECT_TRUE(ended_with(ended.b, 0));
    if (ended.a.status != 0 || ended.b.status != 0) return {};
    Json a = json_of(ended.a);
    const Json b = json_of(ended.b);
    for (const char* field : {"ands", "ands_left", "inputs_left", "complete", "unit", "bucket"})
      EXPECT_EQ(a[field], b[field]) << field;
    return a;
  }
  void expect_left(const Json& report, std::uint64_t made, std::uint64_t ands,
                   std::uint64_t inputs) const {
    EXPECT_EQ(report["ands"], made);
    EXPECT_EQ(report["ands_left"], ands);
    EXPECT_EQ(report["inputs_left"], inputs);
    EXPECT_EQ(report["complete"], true);
  }

  // 63 ANDs and 64 inputs of each party.
  void run_once() const {
    const Arguments circuit = {"--circuit", "hamming:bits=64"};
    const BothEnded ended = both("run", circuit + Arguments{"--input", "a=0x2a"},
                                 circuit + Arguments{"--input", "b=0x17"});
    ASSERT_TRUE(ended_with(ended.a, 0));
    ASSERT_TRUE(ended_with(ended.b, 0));
    EXPECT_NE(ended.a.out.find("0x05"), std::string::npos) << ended.a.out;
  }

  void expect_halves_match() const {
    const auto verify = [&](char party) {
      Arguments arguments = as(party, "store", {});
      arguments.insert(arguments.begin() + 1, "verify");
      return arguments;
    };
    Process a(TINYOT_BINARY, verify('A')), b(TINYOT_BINARY, verify('B'));
    EXPECT_TRUE(ended_with(a.end(), 0));
    EXPECT_TRUE(ended_with(b.end(), 0));
  }

  // B is killed while the stores grow, when it has sent three quarters of what it sends for the
  // units of a new job of `measured`; A notices.
  void kill_b_while_growing(const Arguments& options, const Arguments& measured) {
    Held held = start_held(options, options, {.hold_at = sent_by_b(measured).until(3, 4)});
    held.b->signal(SIGKILL);
    EXPECT_EQ(held.b->end().status, 128 + SIGKILL);
    held.relay->cut();
    EXPECT_TRUE(ended_with(held.a->end(), 3));
    ASSERT_EQ(store_info('A')["state"], "open");
    ASSERT_GE(store_info('A')["units_made"], 2);
  }
};

TEST_F(GrowthTest, AddsUnitsOfAnySize) {
  for (const Arguments& profile : {kFastProfile, kFewColumns, kWanProfile}) {
    SCOPED_TRACE(profile[1]);
    for (const char* party : {"A", "B"}) std::filesystem::remove_all(path(party));
    expect_left(grow(profile + Arguments{"--ands", "1000", "--inputs", "80"}), 1000, 1000, 80);
    const std::string session = store_info('A')["session"];
    expect_left(grow({"--add", "3000", "--inputs", "7"}), 3000, 4000, 87);
    expect_left(grow(kSmallUnits + Arguments{"--add", "3000", "--inputs", "0"}), 3000, 7000, 87);
    const Json info = store_info('B');
    EXPECT_EQ(info["session"], session);
    EXPECT_EQ(info["state"], "complete");
    EXPECT_EQ(info["units_made"], 5);
    EXPECT_EQ(info["ands_requested"], 7000);
    run_once();
    expect_halves_match();
  }
}

// An earlier release has begun them with a set that is retired since.
TEST_F(GrowthTest, RefusesStoresOfARetiredSet) {
  (void)grow(kWanProfile + Arguments{"--ands", "1000", "--inputs", "80"});
  for (const char* party : {"A", "B"})
    storage::Store::open(path(party), {.purpose = storage::Purpose::Make})
        .update_manifest([](storage::Manifest& manifest) {
          manifest.own = named_values(Profile::Wan, WanParameters{.silent_set = LpnSet::S13});
        });
  const Json info = store_info('A');
  EXPECT_EQ(info["silent_set"], "s13");
  EXPECT_EQ(info["lpn_bits"], 70.9);
  EXPECT_EQ(info["is_lpn_retired"], true);
  EXPECT_NE(tinyot({"store", "info", path("A")}).out.find("lpn: 70.9 bits (s13, retired)"),
            std::string::npos);
  for (const Arguments& more : {Arguments{"--add", "1000"},
                                {"--until-left", "5000"},
                                {"--resume"},
                                {"--add", "1000", "--profile", "wan", "--silent-set", "b12"}}) {
    const Ended ended = tinyot(as('A', "preprocess", more));
    EXPECT_NE(ended.status, 0);
    EXPECT_NE(ended.err.find("silent-set s13 is retired"), std::string::npos) << ended.err;
    EXPECT_NE(ended.err.find("use b12, and a new store"), std::string::npos) << ended.err;
  }
  run_once();
}

TEST_F(GrowthTest, MakesWhatIsMissing) {
  expect_left(grow(kFastProfile + Arguments{"--until-left", "2000", "--inputs", "100"}), 2000, 2000,
              100);
  const Arguments threads = {"--threads", "3"};
  expect_left(grow(threads + Arguments{"--until-left", "2000", "--inputs", "100"}), 0, 2000, 100);
  run_once();
  expect_left(grow(threads + Arguments{"--until-left", "2000", "--inputs", "100"}), 63, 2000, 100);
  run_once();
  // Inputs come with at least one AND.
  expect_left(grow({"--until-left", "500", "--inputs", "100"}), 1, 1938, 100);
  expect_left(grow({"--until-left", "1", "--inputs", "0"}), 0, 1938, 100);
  expect_halves_match();
}

TEST_F(GrowthTest, MakesWhatRunsOfCircuitTake) {
  const Arguments adders = {"--for", "hamming:bits=64", "--runs", "10"};
  expect_left(grow(kFewColumns + adders), 630, 630, 640);
  run_once();
  expect_left(grow(adders), 63, 630, 640);
  for (int i = 0; i < 10; ++i) run_once();
  const BothEnded ended = both("run", {"--circuit", "hamming:bits=64", "--input", "a=1"},
                               {"--circuit", "hamming:bits=64", "--input", "b=1"});
  EXPECT_TRUE(ended_with(ended.a, 5, "a complete store gets more with tinyot preprocess --add N"));
  expect_left(grow({"--circuit", "hamming:bits=64", "--lanes", "5"}), 315, 315, 320);
}

TEST_F(GrowthTest, GoesOnAfterKill) {
  const Arguments first =
      kFastProfile + kSmallUnits + Arguments{"--ands", "2^10", "--inputs", "64"};
  grow(first);
  const Arguments target = kSmallUnits + Arguments{"--until-left", "2^15", "--inputs", "64"};
  kill_b_while_growing(target, kFastProfile + kSmallUnits + Arguments{"--ands", "2^15"});
  const Ended early = tinyot(as('A', "preprocess", {"--add", "1"}));
  EXPECT_TRUE(ended_with(early, 5, "is not complete, so nothing can be added to it yet"));
  EXPECT_TRUE(ended_with(early, 5, "--resume"));
  // Runs can use what there is.
  run_once();
  // The job is finished as it was begun, and what the run took is made as well.
  const Json report = grow(target);
  EXPECT_EQ(report["ands_left"], 1 << 15);
  EXPECT_EQ(report["inputs_left"], 64);
  EXPECT_EQ(store_info('A')["kinds"]["triples"]["made"], (1 << 15) + 63);
  expect_halves_match();
}

TEST_F(GrowthTest, ResumeFinishesJobAsBegun) {
  for (const Arguments& profile : {kFastProfile, kWanProfile}) {
    SCOPED_TRACE(profile[1]);
    for (const char* party : {"A", "B"}) std::filesystem::remove_all(path(party));
    grow(profile + Arguments{"--ands", "2^10"});
    kill_b_while_growing(kSmallUnits + Arguments{"--add", "2^14", "--inputs", "99"},
                         profile + kSmallUnits + Arguments{"--ands", "2^14"});
    const Json report = grow({"--resume"});
    EXPECT_EQ(report["ands_left"], (1 << 14) + (1 << 10));
    EXPECT_EQ(report["inputs_left"], 1024 + (1 << 10) / 16 + 99);
    EXPECT_EQ(report["unit"], 1 << 10);
    expect_halves_match();
  }
}

// Otherwise a party that is killed before it has recorded the job would end at once when it is
// started again, as everything it knows of is complete, and its peer would wait for it.
TEST_F(GrowthTest, IsNoLongerCompleteAtBothOnceTheJobIsDiscussed) {
  grow(kFastProfile + Arguments{"--ands", "2^10"});
  const Arguments nothing = {"--until-left", "1", "--inputs", "0"};
  constexpr std::uint64_t kInSecondStatus = 50;  // bytes before the end
  for (std::optional<std::uint64_t> bytes; const bool is_first : {true, false}) {
    Relay relay(port_, {.hold_at = bytes});
    peer_port_ = relay.port();
    auto [a, b] = start("preprocess", nothing, nothing);
    if (is_first) {
      EXPECT_TRUE(ended_with(a.end(), 0));
      EXPECT_TRUE(ended_with(b.end(), 0));
      relay.cut();
      bytes = relay.bytes(Direction::FromConnecting) - kInSecondStatus;
    } else {
      relay.wait_until_held();
      for (Process* party : {&a, &b}) party->signal(SIGKILL);
      a.end(), b.end();
    }
    peer_port_ = port_;
    for (const char* party : {"A", "B"})
      EXPECT_EQ(Store::open(path(party), {.purpose = Purpose::Inspect}).manifest().peer_complete,
                is_first)
          << party;
  }
  grow({"--resume"});
  for (const char* party : {"A", "B"})
    EXPECT_TRUE(Store::open(path(party), {.purpose = Purpose::Inspect}).manifest().peer_complete);
}

TEST_F(GrowthTest, RunsDrawMeanwhile) {
  grow(kFastProfile + Arguments{"--ands", "2^13"});
  const Arguments more = kSmallUnits + Arguments{"--add", "2^15"};
  auto [a, b] = start("preprocess", more, more);
  const std::string growing_port = port_;
  port_ = peer_port_ = reserved_port();
  int runs = 0;
  for (; store_info('A')["units_made"] < 1 + 64 && runs < 50; ++runs) run_once();
  EXPECT_TRUE(ended_with(a.end(), 0));
  EXPECT_TRUE(ended_with(b.end(), 0));
  EXPECT_EQ(store_info('A')["kinds"]["triples"]["left"], (1 << 13) + (1 << 15) - 63 * runs);
  expect_halves_match();
}

TEST_F(GrowthTest, PartiesDisagree) {
  grow(kFastProfile + Arguments{"--ands", "1000"});
  const auto expect_disagreement = [&](const Arguments& of_a, const Arguments& of_b,
                                       const std::string& on) {
    const BothEnded ended = both("preprocess", of_a, of_b);
    EXPECT_TRUE(ended_with(ended.a, 6, "the parties disagree on " + on));
    EXPECT_TRUE(ended_with(ended.b, 6, "the parties disagree on " + on));
    EXPECT_EQ(store_info('A')["state"], "complete");
  };
  expect_disagreement({"--add", "1000"}, {"--add", "2000"}, "ands: this party has ");
  expect_disagreement({"--add", "1000"}, {"--until-left", "1000"}, "ands: this party has ");
  expect_disagreement({"--add", "1000"}, {"--add", "1000", "--inputs", "3"},
                      "inputs: this party has ");
  expect_disagreement({"--add", "2^11"}, {"--add", "2^11", "--unit", "2^10"},
                      "the unit of the job: this party has ");
  grow({"--add", "1000"});
}

TEST_F(GrowthTest, RefusesOptionsThatExcludeEachOther) {
  const auto refused = [&](const Arguments& options, const std::string& message) {
    return ended_with(tinyot(as('A', "preprocess", options)), 2, message);
  };
  EXPECT_TRUE(refused({"--ands", "5", "--add", "5"}, "--ands and --add exclude each other"));
  EXPECT_TRUE(refused({"--add", "5", "--resume"}, "leave one of them out"));
  EXPECT_TRUE(refused({"--add", "5", "--runs", "5"}, "--runs requires --for CIRCUIT"));
  EXPECT_TRUE(refused({"--for", "no-such-circuit"}, "no-such-circuit"));
  EXPECT_TRUE(refused({"--until-left", "0"}, "the number of ANDs is out of range"));
  EXPECT_TRUE(refused({}, "--until-left"));
  for (const Arguments& options : {Arguments{"--add", "5"}, Arguments{"--resume"}})
    EXPECT_TRUE(ended_with(tinyot(as('A', "preprocess", options)), 5, "no store in"));
}

TEST_F(GrowthTest, RefusesOtherParametersThanBegun) {
  grow(kFastProfile + Arguments{"--ands", "1000"});
  const auto refused = [&](const Arguments& options, const std::string& message) {
    return ended_with(tinyot(as('A', "preprocess", options)), 5, message);
  };
  EXPECT_TRUE(refused({"--add", "5", "--profile", "nnob12"}, "profile fast, not nnob12"));
  EXPECT_TRUE(refused({"--add", "5", "--sigma", "64"}, "sigma 40, not 64"));
  EXPECT_TRUE(refused({"--add", "5", "--softspoken-k", "4"}, "softspoken-k auto, not 4"));
  EXPECT_TRUE(refused({"--ands", "2000", "--resume"},
                      "a complete store gets more with tinyot preprocess --add N"));
  expect_left(grow({"--resume"}), 0, 1000, 1024 + 1000 / 16);
}

}  // namespace
}  // namespace tinyot::test
