// The link with a peer for as long as the daemon runs: it connects, again after each failure, and
// tells its listener what arrives. PeerLink is one connection of it. None outlasts the certificates
// of the parties: no connection of a job could be made beside it.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "engine/endpoint.h"
#include "service/error_log.h"
#include "service/log_rate.h"
#include "service/peer_link.h"
#include "service/peer_settings.h"
#include "service/stream_port.h"

namespace tinyot::service {

// Thread-safe; its lock is held for nothing else.
class Link {
 public:
  // Called on threads of the link, without its lock, and each time before anything else is received
  // or the next connection is made.
  class Listener {
   public:
    virtual void link_is_up() = 0;
    // Not called once the link has been stopped.
    virtual void link_is_down() = 0;
    // Fails: NetworkError if the peer does not follow the protocol, which ends the connection.
    virtual void received(const wire::Message& message) = 0;
    // All messages have been sent. Also called before link_is_up().
    virtual void link_has_room() = 0;

   protected:
    ~Listener() = default;
  };
  struct Status {
    bool is_up = false;
    std::string last_error;  // why there is no connection
  };

  // Takes connections from now on if it listens. Fails: NetworkError if it cannot.
  Link(const config::Daemon& daemon, const config::Peer& peer, const PeerSettings& settings,
       Listener& listener);
  ~Link() { stop(); }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // What a peer's configuration says of the connection. Fails: UsageError if it cannot be used.
  static void check(const config::Peer& peer);

  // The same certificates after they have been renewed, of the same keys; null without TLS. Fails:
  // UsageError for another key, or if a file cannot be used.
  std::shared_ptr<const net::TlsAdmission> renewed(const config::Peer& peer) const;
  // Of connections from now on, the next of which is tried at once. With another certificate the
  // connection ends, so that the peer sees it.
  void renew(std::shared_ptr<const net::TlsAdmission> tls);
  // Ends a connection whose certificates have expired; called now and then.
  void end_expired();

  void start();
  // Ends the link for good; messages are no longer sent.
  void request_stop() { thread_.request_stop(); }
  // The same; on return the listener is not called any more.
  void stop();

  // Sends nothing while there is no connection.
  void send(const wire::Message& message);
  // Whether messages that this party sends of its own accord have room.
  bool has_room();
  Status status();

  // For further connections with the peer.
  StreamPort& port() { return port_; }
  const StreamPort& port() const { return port_; }

 private:
  using Clock = std::chrono::steady_clock;
  using Lock = std::unique_lock<std::mutex>;

  void keep(const std::stop_token& stop);
  void connect_and_receive(const std::stop_token& stop, std::chrono::milliseconds& pause);
  void is_up(std::shared_ptr<PeerLink> link);
  void is_down(std::string why);
  void end_because(std::string why);  // with the lock
  void rejected(const std::string& connection);
  void replaced_by(std::uint64_t group);

  const PeerSettings& settings_;
  Listener& listener_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::shared_ptr<PeerLink> link_;  // null: not connected
  std::string last_error_, last_rejection_;
  std::string ended_because_;  // by this party; empty otherwise
  bool is_renewed_ = false;    // since the last attempt to connect
  LogRate link_lines_, rejection_lines_;
  ErrorLog errors_{"end of the link failed", settings_.name};
  // After the members above, since it rejects connections on a thread of its own.
  StreamPort port_;
  const std::vector<net::Parameter> parameters_;
  std::jthread thread_;
};

}  // namespace tinyot::service
