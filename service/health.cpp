#include "service/health.h"

namespace tinyot::service {

void Health::passed(std::vector<PeerState> peers, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  peers_.swap(peers);
  passed_ = now;
}

void Health::stopping() {
  const std::lock_guard lock(mutex_);
  is_stopping_ = true;
}

Health::Answer Health::healthy(Clock::time_point now) const {
  const std::lock_guard lock(mutex_);
  if (is_stopping_) return {true, "stopping\n"};
  const auto silent = std::chrono::duration_cast<std::chrono::seconds>(now - passed_);
  if (silent < kLoopTime) return {true, "healthy\n"};
  return {false, "the loop has not been passed for " + std::to_string(silent.count()) + " s\n"};
}

Health::Answer Health::ready(const std::string& peer) const {
  const std::lock_guard lock(mutex_);
  if (is_stopping_) return {false, "stopping\n"};
  Answer answer;
  for (const PeerState& state : peers_) {
    if (!peer.empty() && state.peer != peer) continue;
    answer.is_well = answer.is_well || state.lacking.empty();
    answer.text += state.peer + ": " + (state.lacking.empty() ? "ready" : state.lacking) + "\n";
  }
  if (answer.text.empty()) answer.text = peer.empty() ? "starting\n" : "there is no such peer\n";
  return answer;
}

}  // namespace tinyot::service
