// The network between two daemons: it can be cut, and change what is sent in evaluations.
#pragma once

#include <atomic>
#include <list>
#include <mutex>
#include <string>
#include <thread>

#include "tests/support/layers.h"
#include "tests/tools/sockets.h"

namespace tinyot::test {

class LinkRelay {
 public:
  // Forwards connections to port() to `target_port`.
  explicit LinkRelay(std::string target_port);
  ~LinkRelay();
  const std::string& port() const { return listener_.port(); }

  // Ends all connections; new ones are possible.
  void cut();
  // From now on a bit is changed in each message of a few bits that the connecting side sends on
  // connections that are not of the link: in the openings of small rounds.
  void change_evaluations() { changes_ = true; }
  void pass_on() { changes_ = false; }

 private:
  struct Connection {
    Socket ends[2];  // of the connecting and of the listening side
    bool is_link = false, is_known = false;
    std::uint64_t sent = 0;
  };
  void work();
  bool forward(Connection& connection, int from);

  const std::string target_port_;
  Listener listener_;
  std::mutex mutex_;
  std::list<Connection> connections_;
  std::atomic<bool> changes_{false}, is_over_{false};
  std::thread thread_;
};

}  // namespace tinyot::test
