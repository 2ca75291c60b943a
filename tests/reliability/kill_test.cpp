// Parties that are killed at random instants, over preprocess, run, resume and merge, as long as
// the assassin has kills left: nothing is served twice, nothing that was confirmed is lost but what
// is reported, both stores agree, results are right, and nobody hangs.
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <nlohmann/json.hpp>

#include "tests/reliability/ledger.h"
#include "tests/reliability/parties.h"
#include "tests/support/layers.h"
#include "tests/support/repetitions.h"

namespace tinyot::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using namespace std::chrono_literals;

constexpr int kShards = 2;
constexpr std::size_t kBits = 1024;  // of the strings whose distance is computed
constexpr int kAttemptsMax = 200;

struct Tally {
  std::atomic<std::uint64_t> sessions = 0, commands = 0, runs_done = 0, served = 0, burnt = 0,
                             taken_by_dead_processes = 0;
};

// One session from its first byte to its last object.
class Story {
 public:
  Story(Assassin& assassin, Tally& tally) : assassin_(assassin), tally_(tally) {
    std::string name = (fs::temp_directory_path() / "tinyot_kills_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary directory");
    root_ = name;
    for (const char* party : {"A", "B"}) fs::create_directory(root_ / party);
  }
  ~Story() { fs::remove_all(root_); }

  void tell() {
    for (int shard = 1; shard <= kShards && !::testing::Test::HasFailure(); ++shard)
      make_shard(shard);
    if (::testing::Test::HasFailure()) return;
    const std::uint64_t made = total("A", "made");
    EXPECT_EQ(made, total("B", "made"));
    bool is_merged = false;
    for (bool is_left = true; is_left && !::testing::Test::HasFailure();) {
      if (!is_merged && tally_.sessions % 2 == 1) {
        merge();
        is_merged = true;
      }
      is_left = assassin_.random() % 4 == 0 ? run_two() : run();
    }
    settle(made);
    ++tally_.sessions;
  }

 private:
  fs::path store_of(const std::string& party, int shard) const {
    return root_ / party / ("shard" + std::to_string(shard));
  }

  // What a command may end with: done, killed, or left alone by a peer that was killed.
  void expect_lawful(const Ended& ended, std::initializer_list<int> others = {}) {
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
          run_pair(assassin_, "preprocess", arguments("A"), arguments("B"), 250ms);
      ++tally_.commands;
      for (const Ended& party : {ended.a, ended.b}) expect_lawful(party, {6});
      if (ended.both_done() || ::testing::Test::HasFailure()) return;
      if (ended.a.status == 6 && ended.b.status == 6) forget_half_a_beginning(shard);
    }
    ADD_FAILURE() << "shard " << shard << " is not made after so many attempts";
  }

  // One party was killed before it had anything of a session that the other has begun: as the
  // message says, that is to be removed.
  void forget_half_a_beginning(int shard) {
    const bool a = fs::exists(store_of("A", shard)), b = fs::exists(store_of("B", shard));
    if (a != b) fs::remove_all(store_of(a ? "A" : "B", shard));
    if (a && b) ADD_FAILURE() << "both parties have a store, and yet they disagree";
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
    const bool is_left = run();
    return other.get() && is_left;
  }

  // False if the material is used up.
  bool run() {
    std::string text[2];
    std::uint64_t distance = 0;
    for (std::size_t digit = 0; digit < kBits / 4; ++digit) {
      const unsigned a = assassin_.random() % 16, b = assassin_.random() % 16;
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
    const PairEnded ended = run_pair(assassin_, "run", arguments("A", "a=0x" + text[0]),
                                     arguments("B", "b=0x" + text[1]), 150ms);
    ++tally_.commands;
    unfinished_[0] += ended.a.status != 0;
    unfinished_[1] += ended.b.status != 0;
    for (const Ended& party : {ended.a, ended.b}) {
      expect_lawful(party, {5});
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
        ended = run_one(assassin_, arguments, 60ms);
        ++tally_.commands;
        expect_lawful(ended);
      }
      EXPECT_TRUE(fs::exists(root_ / party / "merged"));
      for (int shard = 1; shard <= kShards; ++shard)
        EXPECT_EQ(info(store_of(party, shard))["state"], "dead");
    }
  }

  json info(const fs::path& store) const {
    const Ended ended =
        Process(tinyot(), {"store", "info", store.string(), "--format", "json"}).end();
    EXPECT_EQ(ended.status, 0) << ended.err;
    return json::parse(ended.out);
  }

  // Sum over the kinds and living stores of a party.
  std::uint64_t total(const std::string& party, const std::string& field) const {
    std::uint64_t sum = 0;
    for (const auto& store : fs::directory_iterator(root_ / party)) {
      const json report = info(store.path());
      if (report["state"] == "dead") continue;
      for (const json& kind : report["kinds"]) sum += kind[field].get<std::uint64_t>();
    }
    return sum;
  }

  // Triples for its ANDs, and an aBit for each input bit.
  static std::uint64_t need_of_a_run() {
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

  void settle(std::uint64_t made) {
    Ledger ledger;
    for (const std::string party : {"A", "B"}) ledger.read(ledger_of(party));
    EXPECT_EQ(ledger.reused(), 0u);
    for (const std::string party : {"A", "B"}) {
      // All that was made is still there, or accounted for.
      EXPECT_EQ(total(party, "made"), made);
      EXPECT_EQ(total(party, "left") + total(party, "reserved"), made);
      const std::uint64_t served = ledger.served(party[0]), burnt = total(party, "burnt"),
                          reserved = total(party, "reserved");
      EXPECT_LE(served + burnt, reserved);
      // No more is gone than what runs that were cut off can have taken before they entered it.
      EXPECT_LE(reserved - served - burnt, unfinished_[party == "B"] * need_of_a_run());
      tally_.served += served;
      tally_.burnt += burnt;
      tally_.taken_by_dead_processes += reserved - served - burnt;
    }
    for (const auto& store : fs::directory_iterator(root_ / "A"))
      if (info(store.path())["state"] != "dead") verify_together(store.path().filename());
  }

  // Both halves of what is left still belong together.
  void verify_together(const fs::path& store) {
    Assassin nobody(0, 0);
    const auto arguments = [&](const char* party) {
      return Arguments{"--store", (root_ / party / store).string()};
    };
    const PairEnded ended = run_pair(nobody, "store verify", arguments("A"), arguments("B"), 1ms);
    EXPECT_TRUE(ended.both_done()) << ended.a.out << ended.a.err << ended.b.out << ended.b.err;
  }

  Assassin& assassin_;
  Tally& tally_;
  fs::path root_;
  std::atomic<std::uint64_t> unfinished_[2] = {};  // runs of A and of B that have not ended with 0
};

TEST(Reliability, NothingIsServedTwiceWhoeverIsKilled) {
  const std::uint64_t kills = from_environment("TINYOT_KILLS", repetitions(25)),
                      seed = from_environment("TINYOT_SEED", 1);
  Assassin assassin(seed, kills);
  Tally tally;
  while ((assassin.has_kills_left() || tally.sessions < repetitions(2)) && !HasFailure())
    Story(assassin, tally).tell();
  std::printf(
      "seed %llu: %llu kills in %llu commands of %llu sessions; %llu runs done by a party, all "
      "right; items served %llu, burnt %llu, "
      "taken by runs that were killed before they entered them %llu, reused 0\n",
      static_cast<unsigned long long>(seed), static_cast<unsigned long long>(assassin.kills()),
      static_cast<unsigned long long>(tally.commands.load()),
      static_cast<unsigned long long>(tally.sessions.load()),
      static_cast<unsigned long long>(tally.runs_done.load()),
      static_cast<unsigned long long>(tally.served.load()),
      static_cast<unsigned long long>(tally.burnt.load()),
      static_cast<unsigned long long>(tally.taken_by_dead_processes.load()));
  EXPECT_GE(assassin.kills(), kills);
}

}  // namespace
}  // namespace tinyot::test
