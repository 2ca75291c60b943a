// What a step of custody asks of the peer: one connection, on which both parties make the same
// calls in the same order. Implemented over a session's evaluator; by ideal functions in tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/secret.h"
#include "tinyot/circuit/gate.h"
#include "tinyot/run.h"

namespace tinyot::custody {

class KeyPeer {
 public:
  virtual ~KeyPeer() = default;
  // Outputs and shared values are returned after the MAC check of all that they depend on. The
  // labels, circuits and public inputs are compared first. Fails: as Evaluator::run().
  virtual RunResult run(const circuit::Circuit& circuit, const Values& inputs,
                        const SharedInputs& shared, const std::string& label) = 0;
  // 32 bytes that neither party controls and both know. Secret: from others.
  virtual SecretVector<std::byte> toss_coins(const std::string& purpose) = 0;
  virtual std::vector<std::byte> exchange(const std::string& label,
                                          std::span<const std::byte> mine) = 0;
};

// The evaluator outlives it, and no other thread uses it.
class EvaluatorPeer final : public KeyPeer {
 public:
  explicit EvaluatorPeer(Evaluator& evaluator) : evaluator_(evaluator) {}
  RunResult run(const circuit::Circuit& circuit, const Values& inputs, const SharedInputs& shared,
                const std::string& label) override {
    return evaluator_.run(circuit, inputs, shared, 1, label);
  }
  SecretVector<std::byte> toss_coins(const std::string& purpose) override {
    auto coins = evaluator_.toss_coins(purpose);
    SecretVector<std::byte> kept(coins.begin(), coins.end());
    wipe_object(coins);
    return kept;
  }
  std::vector<std::byte> exchange(const std::string& label,
                                  std::span<const std::byte> mine) override {
    return evaluator_.exchange(label, mine);
  }

 private:
  Evaluator& evaluator_;
};

}  // namespace tinyot::custody
