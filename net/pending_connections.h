// Those who have connected to a listener and have not shown yet who they are.
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
  using Log = std::function<void(const std::string&)>;

  static constexpr std::size_t kPendingMax = 32;

  // A guest is turned away after `patience`; `log` gets a line for it.
  PendingConnections(std::chrono::milliseconds patience, Log log)
      : patience_(patience), log_(std::move(log)) {}

  // If the lobby is full, the guest leaves who has been there longest.
  void enter(std::unique_ptr<TcpStream> stream, const Admission& admission);

  // The first one who can be let in now; null if there is none. Never waits.
  std::unique_ptr<ByteStream> admit();

  // Sleeps until a guest says something or has used up its time, somebody is at the door, or it is
  // `until`.
  void wait(int door, Clock::time_point until) const;

  // How many have been turned away, and why the last one was; nothing if nobody was.
  std::string account() const;

 private:
  struct PendingPeer {
    int descriptor;
    std::string from;
    Clock::time_point until;
    std::unique_ptr<PendingStream> pending;
  };
  using Place = std::vector<PendingPeer>::iterator;

  Place reject(Place guest, const std::string& reason);

  std::chrono::milliseconds patience_;
  Log log_;
  std::vector<PendingPeer> peers_;  // the oldest first
  std::string last_;
  std::size_t rejected_ = 0;
};

}  // namespace tinyot::net
