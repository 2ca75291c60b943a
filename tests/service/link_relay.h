// The network between two daemons: it can be cut, and change or lose what is sent in evaluations.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>

#include "tests/support/layers.h"
#include "tests/support/relay.h"

namespace tinyot::test {

class LinkRelay {
 public:
  // Forwards connections to port() to `target_port`.
  explicit LinkRelay(std::string target_port);
  const std::string& port() const { return relay_.port(); }

  // Ends all connections; new ones are possible.
  void cut() { relay_.cut(); }
  // Ends those that are not of the link.
  void cut_evaluations() {
    relay_.cut([this](std::size_t number) { return !connections_[number].is_link; });
  }
  // What happens from now on to messages of a few bits that the connecting side sends on
  // connections that are not of the link: to the openings of small rounds. Wherever TCP divides
  // them, a bit of each is changed, or one is lost with all that follows, so that the other side
  // waits.
  void change_evaluations() { openings_ = Openings::kChanged; }
  void lose_evaluations() { openings_ = Openings::kLost; }
  void pass_on() { openings_ = Openings::kPassedOn; }
  // The number of messages that have been changed.
  std::uint64_t changed() const { return changed_; }

 private:
  enum class Openings { kPassedOn, kChanged, kLost };
  struct Connection {
    std::string header;  // of the connection, then of the message that is being sent
    bool is_open = false, is_link = false, is_short = false, is_lost = false;
    std::uint64_t left = 0;  // bytes of the message
  };
  std::string pass(const Relay::Chunk& chunk);

  std::map<std::size_t, Connection> connections_;
  std::atomic<Openings> openings_{Openings::kPassedOn};
  std::atomic<std::uint64_t> changed_ = 0;
  Relay relay_;  // its thread uses the others
};

}  // namespace tinyot::test
