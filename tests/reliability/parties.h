// Runs both parties of a `tinyot` subcommand as processes over loopback, and kills one or both at a
// random time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <random>

#include "tests/support/from_environment.h"
#include "tests/support/layers.h"
#include "tests/support/process.h"

namespace tinyot::test {

struct PairEnded {
  Ended a, b;
  bool both_done() const { return a.status == 0 && b.status == 0; }
};

// The parties to kill, and the time.
struct Kill {
  bool kills_a = false, kills_b = false;
  std::chrono::microseconds after{0};
};

// Chooses kills; thread-safe.
class Killer {
 public:
  Killer(std::uint64_t seed, std::uint64_t kills) : random_(seed), left_(kills) {}

  // Chooses no kill once all have been spent, and in one of eight calls before that.
  Kill next(std::chrono::milliseconds usual_time);
  // Counts the kill if the process had not already ended.
  void count(const Ended& ended) { kills_ += ended.status == 128 + 9; }
  std::uint64_t kills() const { return kills_; }
  bool has_kills_left() const { return kills_ < left_; }
  std::uint64_t random() {
    const std::lock_guard lock(mutex_);
    return random_();
  }

 private:
  std::mutex mutex_;
  std::mt19937_64 random_;
  std::uint64_t left_;
  std::atomic<std::uint64_t> kills_ = 0;
};

// The program under test: that of this build, or the value of TINYOT_BINARY in the environment.
std::string tinyot();

// A listens on listen_port; B connects to connect_port, which differs if there is a proxy. Timeouts
// in seconds.
struct LinkSettings {
  std::string listen_port, connect_port;
  int connect_timeout, idle_timeout;
};

// The command line of one party: subcommand, party, address, timeouts, and `rest`.
Arguments party_arguments(char party, const std::string& command, const LinkSettings& link,
                          const Arguments& rest);

// Runs a subcommand as A and as B. A survivor must end within its timeouts.
PairEnded run_pair(Killer& killer, const std::string& command, const Arguments& of_a,
                   const Arguments& of_b, std::chrono::milliseconds usual_time);
// The same for a subcommand without a peer.
Ended run_one(Killer& killer, const Arguments& arguments, std::chrono::milliseconds usual_time);

}  // namespace tinyot::test
