// What a peer may ask for. A job is checked on its terms alone, before its circuit is generated and
// before any material is used; also those that this party's own clients submit.
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "config.pb.h"
#include "engine/loaded_circuit.h"
#include "peer.pb.h"

namespace tinyot::service {

// `online`: the phase that the client has named, or empty.
wire::Terms terms_of(const engine::LoadedCircuit& circuit, const std::string& online = {});

// Whether both parties mean the same job. The file of a circuit may have another name at the peer.
bool same_terms(const wire::Terms& mine, const wire::Terms& theirs);
// In which of the terms they differ, with both values.
std::string difference(const wire::Terms& mine, const wire::Terms& theirs);

class Policy {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Policy(config::Policy policy);

  bool is_empty() const { return policy_.allow().empty(); }

  // The jobs that began under `before` count for the rates of the rules that allow the same
  // circuits, in whatever order and with whatever limits they are given.
  void take_counts_of(const Policy& before);

  // Why a job of these terms may not begin now; empty if it may.
  std::optional<std::string> refusal(const wire::Terms& terms, Clock::time_point now) const;

  // The same for a job that begins, which counts for the rate of the rule that allows it.
  std::optional<std::string> begin(const wire::Terms& terms, Clock::time_point now);

 private:
  struct Verdict {
    std::optional<std::size_t> rule;  // that allows it
    std::string reason;               // otherwise
  };
  Verdict verdict(const wire::Terms& terms, Clock::time_point now) const;

  config::Policy policy_;
  std::vector<std::optional<circuit::CircuitFingerprint>> digests_;  // by rule
  // By rule: when the last jobs that it allowed began, as many as its rate allows.
  std::vector<std::deque<Clock::time_point>> begun_;
};

}  // namespace tinyot::service
