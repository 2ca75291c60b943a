// Kills parties at random times during preprocess, run, resume, merge and growth. Nothing is served
// twice, confirmed material is lost only if the loss is reported, both stores agree, results are
// correct, and no process hangs.
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cstdio>
#include <future>
#include <nlohmann/json.hpp>

#include "tests/reliability/ledger.h"
#include "tests/reliability/parties.h"
#include "tests/support/files.h"
#include "tests/support/layers.h"
#include "tests/support/repetitions.h"

namespace tinyot::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using namespace std::chrono_literals;

constexpr int kShards = 2;
constexpr std::size_t kBits = 1024;  // of each input
constexpr int kAttemptsMax = 200;
constexpr int kGrowthsMax = 2;

struct Tally {
  std::atomic<std::uint64_t> sessions = 0, commands = 0, runs_done = 0, served = 0, burnt = 0,
                             taken_by_killed_runs = 0;
};

// One session, from preprocessing to the last object.
class SessionTrial {
 public:
  SessionTrial(Killer& killer, Tally& tally) : killer_(killer), tally_(tally) {
    for (const char* party : {"A", "B"}) fs::create_directory(root_ / party);
  }

  void run_all() {
    for (int shard = 1; shard <= kShards && !::testing::Test::HasFailure(); ++shard)
      make_shard(shard);
    if (::testing::Test::HasFailure()) return;
    bool is_merged = false;
    int growths = 0;
    for (bool has_material = true; has_material && !::testing::Test::HasFailure();) {
      if (!is_merged && tally_.sessions % 2 == 1) {
        merge();
        is_merged = true;
      }
      if (is_merged && growths < kGrowthsMax && killer_.random() % 2 == 0) {
        grow();
        ++growths;
      }
      has_material = killer_.random() % 4 == 0 ? run_two() : run();
    }
    expect_consistent();
    ++tally_.sessions;
  }

 private:
  fs::path store_of(const std::string& party, int shard) const {
    return root_ / party / ("shard" + std::to_string(shard));
  }

  // A command may end with: done, killed, or a network error after the peer was killed.
  void expect_allowed_status(const Ended& ended, std::initializer_list<int> others = {}) {
    for (const int status : {0, 128 + 9, 3})
      if (ended.status == status) return;
    for (const int status : others)
      if (ended.status == status) return;
    ADD_FAILURE() << "status " << ended.status << ": " << ended.err;
  }

  void make_shard(int shard) {
    for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
      const auto arguments = [&](const std::string& party) -> Arguments {
        return {"--store",     store_of(party, shard).string(),
                "--session",   (root_ / (party + ".session")).string(),
                "--shard",     std::to_string(shard) + "/" + std::to_string(kShards),
                "--ands",      "2^13",
                "--unit",      "2^11",
                "--inputs",    "2^14",
                "--profile",   "fast",
                "--allow-weak"};
      };
      const PairEnded ended =
          run_pair(killer_, "preprocess", arguments("A"), arguments("B"), 250ms);
      ++tally_.commands;
      for (const Ended& party : {ended.a, ended.b}) expect_allowed_status(party, {6});
      if (ended.both_done() || ::testing::Test::HasFailure()) return;
      if (ended.a.status == 6 && ended.b.status == 6) remove_partial_start(shard);
    }
    ADD_FAILURE() << "shard " << shard << " is not made after " << kAttemptsMax << " attempts";
  }

  // Only one of the parties had begun a store before the other was killed. That store has to be
  // removed, as the error message says.
  void remove_partial_start(int shard) {
    const bool a = fs::exists(store_of("A", shard)), b = fs::exists(store_of("B", shard));
    if (a != b) fs::remove_all(store_of(a ? "A" : "B", shard));
    if (a && b) ADD_FAILURE() << "both parties have a store, but disagree";
    if (shard == 1)
      for (const char* party : {"A.session", "B.session"}) fs::remove(root_ / party);
  }

  Arguments stores_of(const std::string& party) const {
    const fs::path merged = root_ / party / "merged";
    return {"--store", fs::exists(merged) ? merged.string() : (root_ / party).string() + "/*"};
  }

  // Two runs at once get different material.
  bool run_two() {
    auto other = std::async(std::launch::async, [this] { return run(); });
    const bool has_material = run();
    return other.get() && has_material;
  }

  // False if the material is used up.
  bool run() {
    std::string text[2];
    std::uint64_t distance = 0;
    for (std::size_t digit = 0; digit < kBits / 4; ++digit) {
      const unsigned a = killer_.random() % 16, b = killer_.random() % 16;
      text[0] += "0123456789abcdef"[a];
      text[1] += "0123456789abcdef"[b];
      distance += static_cast<std::uint64_t>(std::popcount(a ^ b));
    }
    const auto arguments = [&](const std::string& party, const std::string& input) {
      Arguments all = stores_of(party);
      for (const std::string& more :
           {std::string("--circuit"), "hamming:bits=" + std::to_string(kBits),
            std::string("--input"), input, std::string("--ledger"), ledger_of(party).string(),
            std::string("--format"), std::string("json")})
        all.push_back(more);
      return all;
    };
    const PairEnded ended = run_pair(killer_, "run", arguments("A", "a=0x" + text[0]),
                                     arguments("B", "b=0x" + text[1]), 150ms);
    ++tally_.commands;
    unfinished_[0] += ended.a.status != 0;
    unfinished_[1] += ended.b.status != 0;
    for (const Ended& party : {ended.a, ended.b}) {
      expect_allowed_status(party, {5});
      if (party.status == 0) {
        EXPECT_EQ(std::stoull(json::parse(party.out)["outputs"]["distance"].get<std::string>(),
                              nullptr, 16),
                  distance);
        ++tally_.runs_done;
      }
    }
    const auto is_short = [](const Ended& party) {
      return party.status == 5 && party.err.find("not enough material") != std::string::npos;
    };
    for (const Ended& party : {ended.a, ended.b})
      if (party.status == 5 && party.err.find("material") == std::string::npos)
        ADD_FAILURE() << party.err;
    return !is_short(ended.a) && !is_short(ended.b);
  }

  void merge() {
    for (const std::string party : {"A", "B"}) {
      Arguments arguments = {"store", "merge", (root_ / party / "merged").string()};
      for (int shard = 1; shard <= kShards; ++shard)
        arguments.push_back(store_of(party, shard).string());
      Ended ended;
      for (int attempt = 0;
           attempt < kAttemptsMax && ended.status != 0 && !fs::exists(root_ / party / "merged");
           ++attempt) {
        ended = run_one(killer_, arguments, 60ms);
        ++tally_.commands;
        expect_allowed_status(ended);
      }
      EXPECT_TRUE(fs::exists(root_ / party / "merged"));
      for (int shard = 1; shard <= kShards; ++shard)
        EXPECT_EQ(info(store_of(party, shard))["state"], "revoked");
    }
  }

  // The merged store gets more, while a run draws from it.
  void grow() {
    auto growing = std::async(std::launch::async, [this] { make_more(); });
    run();
    growing.get();
  }

  void make_more() {
    for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
      const auto arguments = [&](const std::string& party) {
        Arguments all = stores_of(party);
        for (const char* more :
             {"--until-left", "2^13", "--unit", "2^11", "--inputs", "2^14", "--allow-weak"})
          all.emplace_back(more);
        return all;
      };
      const PairEnded ended =
          run_pair(killer_, "preprocess", arguments("A"), arguments("B"), 250ms);
      ++tally_.commands;
      for (const Ended& party : {ended.a, ended.b}) expect_allowed_status(party);
      if (ended.both_done() || ::testing::Test::HasFailure()) return;
    }
    ADD_FAILURE() << "the merged store does not grow in " << kAttemptsMax << " attempts";
  }

  json info(const fs::path& store) const {
    const Ended ended =
        Process(tinyot(), {"store", "info", store.string(), "--format", "json"}).end();
    EXPECT_EQ(ended.status, 0) << ended.err;
    return json::parse(ended.out);
  }

  // Sum over the kinds and the stores of a party that are not revoked.
  std::uint64_t total(const std::string& party, const std::string& field) const {
    std::uint64_t sum = 0;
    for (const auto& store : fs::directory_iterator(root_ / party)) {
      const json report = info(store.path());
      if (report["state"] == "revoked") continue;
      for (const json& kind : report["kinds"]) sum += kind[field].get<std::uint64_t>();
    }
    return sum;
  }

  // Triples for the ANDs, and an aBit for each input bit.
  static std::uint64_t need_per_run() {
    static const std::uint64_t kNeed = [] {
      const Ended ended =
          Process(tinyot(),
                  {"circuit", "info", "hamming:bits=" + std::to_string(kBits), "--format", "json"})
              .end();
      return json::parse(ended.out)["ands"].get<std::uint64_t>() + 2 * kBits;
    }();
    return kNeed;
  }

  fs::path ledger_of(const std::string& party) const { return root_ / ("ledger." + party); }

  void expect_consistent() {
    const std::uint64_t made = total("A", "made");
    Ledger ledger;
    for (const std::string party : {"A", "B"}) ledger.read(ledger_of(party));
    EXPECT_EQ(ledger.reused(), 0u);
    for (const std::string party : {"A", "B"}) {
      // All that was made is left or accounted for.
      EXPECT_EQ(total(party, "made"), made);
      EXPECT_EQ(total(party, "left") + total(party, "spent"), made);
      const std::uint64_t served = ledger.served(party[0]), burnt = total(party, "burnt"),
                          reserved = total(party, "spent");
      EXPECT_LE(served + burnt, reserved);
      // At most what killed runs took before they wrote it to the ledger is unaccounted for.
      EXPECT_LE(reserved - served - burnt, unfinished_[party == "B"] * need_per_run());
      tally_.served += served;
      tally_.burnt += burnt;
      tally_.taken_by_killed_runs += reserved - served - burnt;
    }
    for (const auto& store : fs::directory_iterator(root_ / "A"))
      if (info(store.path())["state"] != "revoked") verify_together(store.path().filename());
  }

  // Both halves of what is left match.
  void verify_together(const fs::path& store) {
    Killer no_kills(0, 0);
    const auto arguments = [&](const char* party) {
      return Arguments{"--store", (root_ / party / store).string()};
    };
    const PairEnded ended = run_pair(no_kills, "store verify", arguments("A"), arguments("B"), 1ms);
    EXPECT_TRUE(ended.both_done()) << ended.a.out << ended.a.err << ended.b.out << ended.b.err;
  }

  Killer& killer_;
  Tally& tally_;
  const TestDirectory root_;
  std::atomic<std::uint64_t> unfinished_[2] =
      {};  // runs of A and of B that ended with a status other than 0
};

TEST(Reliability, ServesNothingTwiceWhenPartiesAreKilled) {
  const std::uint64_t kills = from_environment("TINYOT_KILLS", repetitions(25)),
                      seed = from_environment("TINYOT_SEED", 1);
  Killer killer(seed, kills);
  Tally tally;
  while ((killer.has_kills_left() || tally.sessions < repetitions(2)) && !HasFailure())
    SessionTrial(killer, tally).run_all();
  std::printf(
      "seed %llu: %llu kills in %llu commands of %llu sessions; %llu runs done by a party, all "
      "correct; items served %llu, burnt %llu, "
      "taken by runs that were killed before they wrote the ledger %llu, reused 0\n",
      static_cast<unsigned long long>(seed), static_cast<unsigned long long>(killer.kills()),
      static_cast<unsigned long long>(tally.commands.load()),
      static_cast<unsigned long long>(tally.sessions.load()),
      static_cast<unsigned long long>(tally.runs_done.load()),
      static_cast<unsigned long long>(tally.served.load()),
      static_cast<unsigned long long>(tally.burnt.load()),
      static_cast<unsigned long long>(tally.taken_by_killed_runs.load()));
  EXPECT_GE(killer.kills(), kills);
}

}  // namespace
}  // namespace tinyot::test
