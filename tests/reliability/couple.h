// Two parties with their keys and stores, who meet over a bad network, and what is to be true of
// them whatever it does.
#pragma once

#include <array>
#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>

#include "tests/reliability/parties.h"
#include "tests/reliability/wire.h"
#include "tests/support/layers.h"

namespace tinyot::test {

// Seconds. A party whose connection is never let in waits for the first, one whose peer falls
// silent for the second; the last is all that a session may take.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int kConnectTimeout = 10, kIdleTimeout = 10, kSessionMax = 60;
#else
inline constexpr int kConnectTimeout = 2, kIdleTimeout = 2, kSessionMax = 12;
#endif

// A kind of job, over one kind of channel.
struct Setting {
  std::string name;
  bool has_keys;                // TLS; otherwise plain TCP
  Arguments preprocess;         // what is made
  std::size_t connections = 1;  // meanwhile
};
const std::vector<Setting>& settings();
inline constexpr std::size_t kFastTcp = 0, kFastTls = 1, kPairsTcp = 2, kPairsTls = 3,
                             kFastWorkers = 4;

// Calls body(0), ..., body(count - 1), some at a time; no further ones after a failure.
void for_each_at_once(std::uint64_t count, std::uint64_t at_once,
                      const std::function<void(std::uint64_t)>& body);

// Of all sessions of a test; from any thread.
struct NetworkTally {
  std::atomic<std::uint64_t> sessions = 0, right = 0, begun_again = 0;
  std::array<std::atomic<std::uint64_t>, kAllFaults.size()> strikes{};
  std::atomic<std::uint64_t> reused = 0, served = 0;

  void count(const PairEnded& ended, double seconds);
  std::uint64_t struck() const;
  void print(const std::string& title, std::uint64_t seed) const;

 private:
  mutable std::mutex mutex_;
  std::map<int, std::uint64_t> statuses_;
  double longest_s_ = 0;
};

// What was sent from either side in a session, at the wire.
using Traffic = std::array<std::uint64_t, 2>;

class Couple {
 public:
  Couple(const Setting& setting, NetworkTally& tally, std::uint64_t seed);
  ~Couple();
  Couple(const Couple&) = delete;
  Couple& operator=(const Couple&) = delete;

  // Each runs one session over such a wire, in which every party has to end in time, with status 0
  // or 3, and returns what was sent. Makes, or goes on making.
  Traffic preprocess(const WirePlan& plan);
  // Both parties' inputs are random, and whoever has an output has the right one.
  Traffic run(const WirePlan& plan);
  // The handshake and the stores' agreement alone.
  Traffic reserve(const WirePlan& plan);
  Traffic verify(const WirePlan& plan);

  // What else happens during the next session, which it may end as a strike does.
  using Meanwhile = std::function<void(Process& a, Process& b, const Wire& wire)>;
  void meanwhile(Meanwhile action) { meanwhile_ = std::move(action); }

  bool are_both_done() const { return ended_.both_done(); }
  bool has_struck() const { return has_struck_; }
  bool is_short_of_material() const { return is_short_; }
  const PairEnded& ended() const { return ended_; }

  // Over a good network: what is missing is made, a run is right, the stores agree, and nothing was
  // served twice.
  void settle();

 private:
  Traffic synchronise(const std::string& command, const Arguments& of_a, const Arguments& of_b,
                      const WirePlan& plan, std::initializer_list<int> others = {});
  void forget_half_a_beginning();
  Arguments keys_of(char party) const;
  Arguments arguments(char party, const std::string& command, const SynchroniseFor& meeting,
                      const Arguments& more) const;
  Arguments run_arguments(char party, const std::string& input) const;
  std::filesystem::path store_of(char party) const { return root_ / std::string(1, party); }

  const Setting& setting_;
  NetworkTally& tally_;
  std::mt19937_64 random_;
  std::filesystem::path root_;
  Meanwhile meanwhile_;
  PairEnded ended_;
  bool has_struck_ = false, is_short_ = false;
};

}  // namespace tinyot::test
