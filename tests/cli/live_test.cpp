// `tinyot run --live`: two processes that make their material during the run.
#include <signal.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "material/material.h"
#include "tests/support/becomes_true.h"
#include "tests/support/command_test.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

const Arguments kLiveFast = {"--profile", "fast"};
// A run that takes several seconds.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr const char* kLongRun = "random:width=4096,depth=500";
#else
constexpr const char* kLongRun = "random:width=4096,depth=4000";
#endif

class LiveTest : public CommandTest {
 protected:
  Arguments live(char party, const Arguments& more) const {
    return Arguments{"run",
                     "--party",
                     std::string(1, party),
                     party == 'A' ? "--listen" : "--connect",
                     "127.0.0.1:" + port_,
                     "--live",
                     "--format",
                     "json",
                     "--quiet"} +
           more;
  }
  BothEnded run_live(const Arguments& of_a, const Arguments& of_b) const {
    Process a(TINYOT_BINARY, live('A', of_a)), b(TINYOT_BINARY, live('B', of_b));
    return {a.end(), b.end()};
  }
  // The FIPS-197 example, the key split between the parties.
  static Arguments aes_of(char party) {
    return party == 'A' ? Arguments{"--circuit", "aes128",
                                    "--input",   "key_a=000102030405060708090a0b0c0d0e0f",
                                    "--input",   "message=00112233445566778899aabbccddeeff"}
                        : Arguments{"--circuit", "aes128", "--input",
                                    "key_b=00000000000000000000000000000000"};
  }
};

TEST_F(LiveTest, AesOnMaterialOfEachProfile) {
  for (const Arguments& material :
       {kLiveFast, kFewColumns, kFewColumns + Arguments{"--material", "triples"}}) {
    const BothEnded ended = run_live(aes_of('A') + material, aes_of('B') + material);
    ASSERT_TRUE(ended_with(ended.a, 0));
    ASSERT_TRUE(ended_with(ended.b, 0));
    const Json a = json_of(ended.a), b = json_of(ended.b);
    EXPECT_EQ(a["outputs"], Json::object());
    EXPECT_EQ(b["outputs"], Json({{"ciphertext", "69c4e0d86a7b0430d8cdb78070b4c55a"}}));
    for (const Json& report : {a, b}) {
      EXPECT_EQ(report["live"], true);
      EXPECT_EQ(report["ands"], 6400);
      EXPECT_EQ(report["store_bytes"], 0);
      EXPECT_EQ(report["sigma"], 40);
    }
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir_)) << "no file is left";
}

TEST_F(LiveTest, ManyUnitsAndLanes) {
  const std::string lanes = "48";
  const Arguments more = kLiveFast + Arguments{"--unit", "2^14", "--lanes", lanes};
  std::string messages = "00112233445566778899aabbccddeeff";
  for (int lane = 1; lane < 48; ++lane) messages += "," + random_hex(16);
  const std::string key_a = random_hex(16), key_b = random_hex(16);
  const BothEnded ended = run_live(
      more + Arguments{"--circuit", "aes128:sbox=shallow", "--input", "key_a=" + key_a, "--input",
                       "message=" + messages},
      more + Arguments{"--circuit", "aes128", "--sbox", "shallow", "--input", "key_b=" + key_b});
  ASSERT_TRUE(ended_with(ended.a, 0));
  const Json wanted = json_of(
      tinyot({"circuit", "eval", "aes128", "--lanes", lanes, "--format", "json", "--input",
              "key_a=" + key_a, "--input", "key_b=" + key_b, "--input", "message=" + messages}));
  const Json report = json_of(ended.b);
  EXPECT_EQ(report["outputs"], wanted["outputs"]);
  EXPECT_EQ(report["and_rounds"], 40);
  EXPECT_EQ(report["ands"], 40 * 34 + 48 * 160 * 34) << "the key is expanded once";
}

TEST_F(LiveTest, BucketsLeaveNoRoomForUnitsThatAreMadeAgain) {
  const Arguments circuit = {"--circuit", "random:width=1024,depth=520", "--profile", "fast"};
  const BothEnded ended =
      run_live(circuit + Arguments{"--input", "a=5"}, circuit + Arguments{"--input", "b=6"});
  ASSERT_TRUE(ended_with(ended.a, 0));
  const Json report = json_of(ended.a);
  EXPECT_EQ(report["unit"], 1 << 19);
  EXPECT_EQ(report["bucket"], 3);
  EXPECT_GE(report["sigma_paper_bound"], 40);
}

TEST_F(LiveTest, BothPartiesMustRunLive) {
  preprocess("2^13");
  const Arguments circuit = {"--circuit", "millionaires"};
  Process a(TINYOT_BINARY, live('A', circuit + Arguments{"--input", "a=5"})),
      b(TINYOT_BINARY, as('B', "run", circuit + Arguments{"--input", "b=6"}));
  EXPECT_TRUE(ended_with(a.end(), 6, "command: this party has live run, the peer has run"));
  EXPECT_TRUE(ended_with(b.end(), 6, "command: this party has run, the peer has live run"));
}

TEST_F(LiveTest, RejectsUnsuitableOptions) {
  const Arguments circuit = {"--circuit", "millionaires", "--input", "a=5"};
  EXPECT_TRUE(ended_with(tinyot(live('A', circuit + Arguments{"--store", path("A")})), 2,
                         "takes no --store"));
  EXPECT_TRUE(ended_with(tinyot(live('A', circuit + Arguments{"--store-key", "@" + path("key")})),
                         2, "--store-key cannot be used with --live"));
  EXPECT_TRUE(ended_with(tinyot(as('A', "run", circuit + Arguments{"--sigma", "64"})), 2,
                         "--sigma requires --live"));
  EXPECT_TRUE(ended_with(tinyot(as('A', "run", circuit + Arguments{"--window", "0"})), 2,
                         "--window is out of range"));
}

TEST_F(LiveTest, ComparesMaterialAndWindow) {
  const Arguments circuit = {"--circuit", "millionaires"},
                  a = circuit + Arguments{"--input", "a=5"},
                  b = circuit + Arguments{"--input", "b=6"};
  const BothEnded profile = run_live(a + kLiveFast, b + kFewColumns);
  EXPECT_TRUE(ended_with(profile.a, 6, "profile: this party has fast, the peer has nnob12"));
  EXPECT_TRUE(ended_with(profile.b, 6, "profile: this party has nnob12, the peer has fast"));
  const BothEnded window = run_live(a + kLiveFast, b + kLiveFast + Arguments{"--window", "77"});
  EXPECT_TRUE(ended_with(window.a, 6, "window: this party has the default, the peer has 77"));
}

TEST_F(LiveTest, AgreesOnTheOnlinePhase) {
  const Arguments garbling =
                      kLiveFast + Arguments{"--circuit", "millionaires", "--material", "garbling"},
                  a = garbling + Arguments{"--input", "a=5"},
                  b = garbling + Arguments{"--input", "b=6"}, garbled = {"--online", "garbled"};
  const BothEnded apart = run_live(a + garbled, b + Arguments{"--online", "interactive"});
  EXPECT_TRUE(ended_with(apart.a, 6, "online phase: this party has garbled, the peer has inter"));
  EXPECT_TRUE(ended_with(apart.b, 6, "online phase: this party has interactive, the peer has ga"));
  const BothEnded accepted = run_live(a + Arguments{"--online", "auto"}, b + garbled);
  ASSERT_TRUE(ended_with(accepted.a, 0));
  EXPECT_EQ(json_of(accepted.a)["online"], "garbled");
  EXPECT_EQ(json_of(accepted.a)["online_chosen_by"], "peer");
  EXPECT_EQ(json_of(accepted.b)["online_chosen_by"], "request");
  const BothEnded chosen = run_live(a, b);
  ASSERT_TRUE(ended_with(chosen.a, 0));
  const Json report = json_of(chosen.a);
  EXPECT_EQ(report["online"], json_of(chosen.b)["online"]);
  EXPECT_EQ(report["online_chosen_by"], "estimate");
  EXPECT_TRUE(report["estimated_s"].contains("interactive"));
  EXPECT_TRUE(report["estimated_s"].contains("garbled"));
  EXPECT_TRUE(ended_with(tinyot(live('A', a + Arguments{"--online", "any"})), 2,
                         "it is auto or interactive or garbled"));
}

// Waits until a process has the threads that make and read material, which start once the parties
// are connected.
void wait_until_at_work(const Process& process) {
  const auto threads = [&] {
    std::ifstream status("/proc/" + std::to_string(process.pid()) + "/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("Threads:")) return std::stoi(line.substr(std::strlen("Threads:")));
    return 0;
  };
  ASSERT_TRUE(becomes_true([&] { return threads() >= 3; }, Process::kDeadline));
}

// Either party may be killed at any time, in either phase: the other one ends.
TEST_F(LiveTest, DetectsKilledPeer) {
  const Arguments circuit = kLiveFast + Arguments{"--circuit", kLongRun, "--unit", "2^14"};
  for (const char victim : {'A', 'B'}) {
    Process a(TINYOT_BINARY, live('A', circuit + Arguments{"--input", "a=5"})),
        b(TINYOT_BINARY, live('B', circuit + Arguments{"--input", "b=6"}));
    wait_until_at_work(a);
    wait_until_at_work(b);
    Process &killed = victim == 'A' ? a : b, &other = victim == 'A' ? b : a;
    killed.signal(SIGKILL);
    EXPECT_EQ(killed.end().status, 128 + SIGKILL);
    EXPECT_TRUE(ended_with(other.end(), 3, "the peer"));
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(LiveTest, MemoryDoesNotGrowWithTheCircuit) {
  const auto peak = [&](const std::string& depth) {
    const Arguments more =
        kLiveFast + Arguments{"--unit", "2^15", "--circuit", "random:width=1024,depth=" + depth};
    const BothEnded ended =
        run_live(more + Arguments{"--input", "a=5"}, more + Arguments{"--input", "b=6"});
    EXPECT_TRUE(ended_with(ended.a, 0));
    return json_of(ended.a)["peak_rss_bytes"].get<double>();
  };
  // The pipe fills the more, the longer a maker has been faster than the evaluator, up to its
  // bound; five million ANDs more that stayed in memory would take at least five times as much.
  EXPECT_LT(peak("7500"), peak("2500") + static_cast<double>(material::kWaitingBytes));
}
#endif

}  // namespace
}  // namespace tinyot::test
