// Connections to a listener that have not been admitted yet.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/admission.h"
#include "net/tcp_stream.h"

namespace tinyot::net {

std::string seconds_of(std::chrono::milliseconds time);

class PendingConnections {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr std::size_t kPendingMax = 32;

  // A pending connection is rejected after `timeout`.
  PendingConnections(std::chrono::milliseconds timeout, RejectionLog log)
      : timeout_(timeout), log_(std::move(log)) {}

  // With kPendingMax connections pending, rejects the oldest one first.
  void add(std::unique_ptr<TcpStream> stream, const Admission& admission);

  // The first connection that can be admitted now; null if there is none. Never waits.
  std::unique_ptr<ByteStream> admit();

  // Waits until a pending connection has data or reaches its timeout, `listener` (a descriptor) has
  // a new connection, or `until`.
  void wait(int listener, Clock::time_point until) const;

  // The error after the connect timeout: `message`, the number of rejected connections, and the
  // reason of the last rejection.
  NetworkError timed_out(const std::string& message) const;

 private:
  struct PendingPeer {
    int descriptor;
    std::string from;
    Clock::time_point until;
    std::unique_ptr<PendingStream> pending;
  };
  using Iterator = std::vector<PendingPeer>::iterator;

  Iterator reject(Iterator peer, const std::string& reason, Remedy remedy = Remedy::None);

  std::chrono::milliseconds timeout_;
  RejectionLog log_;
  std::vector<PendingPeer> peers_;  // oldest first
  std::string last_rejection_;
  Remedy remedy_ = Remedy::None;  // of the last rejection
  std::size_t rejected_ = 0;
};

}  // namespace tinyot::net
