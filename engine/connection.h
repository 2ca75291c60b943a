// A party's end of a connection from the first byte to the end of a session, and the effect of an
// error on the stores.
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

// Connects this party to its peer: listens or connects, authenticates the peer if the endpoint has
// keys, and frames messages. Reports each rejected connection to the endpoint.
class Connector {
 public:
  // Starts to listen, if the endpoint listens. `cancel` ends every wait for a connection, with
  // Cancelled. Fails: as require_usable(); NetworkError.
  explicit Connector(const Endpoint& endpoint, std::stop_token cancel = {});
  explicit Connector(const PeerOptions& options, std::stop_token cancel = {});

  // The session's channel.
  std::unique_ptr<net::Channel> open();

  // A further channel of the session, for worker `worker`. Other connections that arrive
  // meanwhile are rejected.
  std::unique_ptr<net::Channel> open_worker(const checks::SessionIds& ids, Party me,
                                            std::uint64_t worker);

 private:
  PeerOptions options_;
  std::stop_token cancel_;
  std::optional<net::TcpListener> listener_;
};

// During its lifetime, a stop request ends every wait on the channel.
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

// Runs `work`, and throws Cancelled instead of a NetworkError that a stop request has caused.
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

// Runs `work` inside an established session. If a check fails, or the peer reports that one of its
// checks failed, the session is revoked: first the stores' keys are erased, and then the peer is
// told, which takes at most a second if it does not read. Errors propagate to the caller.
void within_session(std::span<storage::Store> stores, net::Channel& channel,
                    const std::function<void()>& work);

// Role: both, symmetric. How long messages take to the peer, the same at both parties: the least of
// several measurements, as a busy machine delays messages too. Wire: once, or up to 16 times if the
// latency is neither short nor long, as net::measure_latency.
inline constexpr auto kLongLatency = std::chrono::milliseconds(2);
std::chrono::nanoseconds latency_of(net::Channel& channel);

SessionId session_id_of(const storage::Manifest& manifest);

}  // namespace tinyot::engine
