// Two parties with their keys and stores, sessions between them over a faulty network, and the
// properties that hold after any fault.
#pragma once

#include <array>
#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>

#include "tests/reliability/parties.h"
#include "tests/support/files.h"
#include "tests/support/layers.h"
#include "tests/support/relay.h"

namespace tinyot::test {

// Timeouts in seconds: for connecting, for progress of the peer, and for a whole session.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int kConnectTimeout = 10, kIdleTimeout = 10, kSessionMax = 60;
#else
inline constexpr int kConnectTimeout = 4, kIdleTimeout = 4, kSessionMax = 24;
#endif

// A profile over one kind of channel.
struct Setting {
  std::string name;
  bool has_keys;                // TLS; otherwise plain TCP
  Arguments preprocess;         // its options
  std::size_t connections = 1;  // of preprocess
};
const std::vector<Setting>& settings();
inline constexpr std::size_t kFastTcp = 0, kFastTls = 1, kPairsTcp = 2, kPairsTls = 3,
                             kFastWorkers = 4;

// Calls body(0), ..., body(count - 1), at most at_once at a time; stops after a failure.
void for_each_at_once(std::uint64_t count, std::uint64_t at_once,
                      const std::function<void(std::uint64_t)>& body);

// Counts over all sessions of a test; thread-safe.
struct NetworkTally {
  std::atomic<std::uint64_t> sessions = 0, right = 0, restarts = 0;
  std::array<std::atomic<std::uint64_t>, kNetworkFaults.size()> injected{};
  std::atomic<std::uint64_t> reused = 0, served = 0;

  void count(const PairEnded& ended, double seconds);
  std::uint64_t total_injected() const;
  void print(const std::string& title, std::uint64_t seed) const;

 private:
  mutable std::mutex mutex_;
  std::map<int, std::uint64_t> statuses_;
  double longest_s_ = 0;
};

// Bytes of a session in both directions, at the relay.
using Traffic = std::array<std::uint64_t, 2>;

class PartyPair {
 public:
  PartyPair(const Setting& setting, NetworkTally& tally, std::uint64_t seed);
  PartyPair(const PartyPair&) = delete;
  PartyPair& operator=(const PartyPair&) = delete;

  // Each runs one session over a relay with this plan and returns its traffic. Both parties must
  // end in time, with status 0, or 3 after a fault.

  // Starts or resumes a store.
  Traffic preprocess(const Relay::Plan& plan);
  // With random inputs; checks the outputs.
  Traffic run(const Relay::Plan& plan);
  // Handshake and store synchronisation only.
  Traffic reserve(const Relay::Plan& plan);
  Traffic verify(const Relay::Plan& plan);

  // An action during the next session; it may end the session like a fault.
  using Meanwhile = std::function<void(Process& a, Process& b, Relay& relay)>;
  void meanwhile(Meanwhile action) { meanwhile_ = std::move(action); }

  bool are_both_done() const { return ended_.both_done(); }
  bool is_injected() const { return is_injected_; }
  bool is_short_of_material() const { return is_short_; }
  const PairEnded& ended() const { return ended_; }

  // Over a network without faults: preprocessing completes, a run gives the correct outputs, the
  // stores agree, and nothing was served twice.
  void expect_consistent();

 private:
  Traffic run_session(const std::string& command, const Arguments& of_a, const Arguments& of_b,
                      const Relay::Plan& plan, std::initializer_list<int> others = {});
  void remove_partial_start();
  Arguments keys_of(char party) const;
  Arguments arguments(char party, const std::string& command, const LinkSettings& link,
                      const Arguments& more) const;
  Arguments run_arguments(char party, const std::string& input) const;
  std::filesystem::path store_of(char party) const { return root_ / std::string(1, party); }

  const Setting& setting_;
  NetworkTally& tally_;
  std::mt19937_64 random_;
  const TestDirectory root_;
  Meanwhile meanwhile_;
  PairEnded ended_;
  bool is_injected_ = false, is_short_ = false;
};

}  // namespace tinyot::test
