// A party's end of a connection from the first byte to the end of a session, and what an error
// means for the store.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "checks/session.h"
#include "engine/endpoint.h"
#include "storage/store.h"

namespace tinyot::engine {

// Connects this party to the other one: it listens or connects, makes sure of the peer's key where
// it has one of its own, and frames messages. It reports each
// rejected connection to the endpoint.
class Connector {
 public:
  // Listens from now on, if that is its part. `cancel` ends every wait for a connection, with
  // Cancelled.
  explicit Connector(const Endpoint& endpoint, std::stop_token cancel = {});

  // The session's channel.
  std::unique_ptr<net::Channel> open();

  // A further channel of the session, for worker `worker`. Other connections that arrive
  // meanwhile are rejected.
  std::unique_ptr<net::Channel> open_worker(const checks::SessionIds& ids, Party me,
                                            std::uint64_t worker);

 private:
  Endpoint endpoint_;
  std::stop_token cancel_;
  std::optional<net::TcpListener> listener_;
};

// While it lives, a request to stop ends every wait on the channel.
class CancelsWaits {
 public:
  CancelsWaits(const std::stop_token& cancel, net::Channel& channel)
      : callback_(cancel, Stop{channel}) {}

 private:
  struct Stop {
    net::Channel& channel;
    void operator()() const noexcept { channel.set_deadline(std::chrono::steady_clock::now()); }
  };
  std::stop_callback<Stop> callback_;
};

// Runs `work`; Cancelled in place of a NetworkError that a request to stop has caused.
template <class Work>
auto unless_cancelled(const std::stop_token& cancel, const Work& work) {
  try {
    return work();
  } catch (const PeerAborted&) {
    throw;
  } catch (const NetworkError&) {
    if (cancel.stop_requested()) throw Cancelled();
    throw;
  }
}

// Runs `work` inside an established session. If a check fails, or the peer says that one of its
// checks did, the session is revoked: first the stores' keys are erased, and then the peer is told,
// which takes a second at most if it does not read. Errors go on to the caller.
void within_session(std::span<storage::Store> stores, net::Channel& channel,
                    const std::function<void()>& work);

SessionId session_id_of(const storage::Manifest& manifest);

}  // namespace tinyot::engine
