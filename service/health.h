// Whether the daemon works (healthy), and whether it can evaluate jobs now (ready). Its loop notes
// both; who asks takes no lock of a peer, so that a deadlock shows.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

namespace tinyot::service {

// Thread-safe.
class Health {
 public:
  using Clock = std::chrono::steady_clock;
  // The loop is passed twice a second; it has not ended while it reads its settings again.
  static constexpr std::chrono::seconds kLoopTime{30};

  struct PeerState {
    std::string peer;
    std::string lacking;  // empty: it is linked, and there is at least the low watermark in stock
  };
  struct Answer {
    bool is_well = false;
    std::string text;  // for people, a line for each peer
  };

  explicit Health(Clock::time_point now) : passed_(now) {}

  // The loop has been passed, with every peer's locks.
  void passed(std::vector<PeerState> peers, Clock::time_point now);
  // No job begins any more.
  void stopping();

  Answer healthy(Clock::time_point now) const;
  // Ready: one of the peers is, or the one that is named.
  Answer ready(const std::string& peer = {}) const;

 private:
  mutable std::mutex mutex_;
  Clock::time_point passed_;
  bool is_stopping_ = false;
  std::vector<PeerState> peers_;
};

}  // namespace tinyot::service
