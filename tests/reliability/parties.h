// Both parties of a `tinyot` subcommand as processes over loopback, one or both of which may be
// killed at a random instant.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <random>

#include "tests/support/layers.h"
#include "tests/tools/process.h"

namespace tinyot::test {

struct PairEnded {
  Ended a, b;
  bool both_done() const { return a.status == 0 && b.status == 0; }
};

// Who is killed, and when.
struct Blow {
  bool hits_a = false, hits_b = false;
  std::chrono::microseconds after{0};
};

// May be asked by several threads.
class Assassin {
 public:
  Assassin(std::uint64_t seed, std::uint64_t kills) : random_(seed), left_(kills) {}

  // None once all kills are spent, and now and then before.
  Blow next(std::chrono::milliseconds usual_time);
  // A blow that found somebody alive.
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

// The program that is tried: the one of this build, or TINYOT_BINARY of the environment.
std::string tinyot();

// A number in the environment, to choose how much is tried, and what.
std::uint64_t from_environment(const char* name, std::uint64_t otherwise);

// A listens at one port and B connects to it, or to another one if there is something between them.
// Seconds.
struct SynchroniseFor {
  std::string listen_port, connect_port;
  int connect_timeout, idle_timeout;
};

// The command line of one party: subcommand, party, address, timeouts, and `rest`.
Arguments party_arguments(char party, const std::string& command, const SynchroniseFor& meeting,
                          const Arguments& rest);

// Runs a subcommand as A and as B. Nobody may hang: a survivor ends within its timeouts.
PairEnded run_pair(Assassin& assassin, const std::string& command, const Arguments& of_a,
                   const Arguments& of_b, std::chrono::milliseconds usual_time);
// The same of a subcommand that has no peer.
Ended run_one(Assassin& assassin, const Arguments& arguments, std::chrono::milliseconds usual_time);

}  // namespace tinyot::test
