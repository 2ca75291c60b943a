// The peer of custody as ideal functions: both parties give their inputs, each gets its outputs.
// A connection ends at a chosen step of a party, which may be between any two durable steps, calls
// and results; the other party then loses the connection, and perhaps a result that was under way.
#pragma once

#include <array>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "custody/key_peer.h"
#include "tinyot/party.h"

namespace tinyot::test {

// A party ends here, as if its process had been killed.
struct Crashed {};

// Where parties end: the number of the step at which a party ends, counted from 0; never if absent.
using CrashAt = std::array<std::optional<std::size_t>, 2>;

class IdealConnection {
 public:
  IdealConnection(std::uint64_t seed, const CrashAt& crash = {});

  std::unique_ptr<custody::KeyPeer> end_of(Party party);
  // Counts a step of a party. Throws Crashed if it ends there.
  void step(Party party);
  // A party does nothing more on this connection.
  void close();
  // Of each party.
  std::size_t steps(Party party) const { return steps_[index(party)]; }

 private:
  friend class IdealPeer;
  static std::size_t index(Party party) { return static_cast<std::size_t>(party); }

  // What a party brings to a call, and what it gets.
  struct Call {
    std::string label;
    const circuit::Circuit* circuit = nullptr;
    const Values* values = nullptr;
    const SharedInputs* shared = nullptr;
    std::vector<std::byte> told;
  };
  struct Result {
    RunResult run;
    SecretVector<std::byte> coins;
    std::vector<std::byte> told;
  };
  Result call(Party party, const Call& call);
  void perform();
  void evaluate();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::mt19937_64 rng_;
  CrashAt crash_;
  bool down_ = false;
  bool has_crashed_ = false;
  std::array<std::size_t, 2> steps_{};
  std::array<std::optional<Call>, 2> calls_;
  std::array<std::optional<Result>, 2> results_;
  std::uint64_t runs_ = 0;
};

// Passes all calls on; a test changes some of them.
class PassingPeer : public custody::KeyPeer {
 public:
  explicit PassingPeer(custody::KeyPeer& peer) : peer_(peer) {}
  RunResult run(const circuit::Circuit& circuit, const Values& inputs, const SharedInputs& shared,
                const std::string& label) override {
    return peer_.run(circuit, inputs, shared, label);
  }
  SecretVector<std::byte> toss_coins(const std::string& purpose) override {
    return peer_.toss_coins(purpose);
  }
  std::vector<std::byte> exchange(const std::string& label,
                                  std::span<const std::byte> mine) override {
    return peer_.exchange(label, mine);
  }

 private:
  custody::KeyPeer& peer_;
};

}  // namespace tinyot::test
