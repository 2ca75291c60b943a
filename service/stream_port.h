// All connections with one peer: one party listens on one port, the other connects to it. Each
// connection has a name, so that the two ends of the same use find each other.
//
// Wire: once the connection is admitted, the connecting side sends 24 bytes: "tinyotd1", u64 group,
// u32 number, u32 zero, little-endian.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "engine/endpoint.h"

namespace tinyot::service {

struct StreamName {
  std::uint64_t group = 0;
  std::uint32_t number = 0;
  friend bool operator==(const StreamName&, const StreamName&) = default;
};

class StreamPort {
 public:
  // Groups of links (peer_link.h) have this bit, others do not.
  static constexpr std::uint64_t kLinkBit = std::uint64_t{1} << 63;
  // So long a stream of the peer waits to be asked for.
  static constexpr std::chrono::milliseconds kClaimTime{60'000};

  // `link_arrived` is called, on another thread, when a stream of a link arrives, with its group. A
  // stream that nobody has asked for in the claim time is closed when another one arrives. Fails:
  // NetworkError if it cannot listen.
  StreamPort(engine::PeerOptions options, std::function<void(std::uint64_t)> link_arrived,
             std::chrono::milliseconds claim_time = kClaimTime);
  ~StreamPort();
  StreamPort(const StreamPort&) = delete;
  StreamPort& operator=(const StreamPort&) = delete;

  bool listens() const { return listener_.has_value(); }
  // Of the leading party: the group of the next connections. No earlier process of this party has
  // named it, so no connection that the peer has begun for one of those is taken for it.
  std::uint64_t new_group() { return ++last_group_; }
  engine::PeerOptions options() const;
  // This party's certificate has been renewed: of connections from now on. Only with TLS.
  void renew(std::shared_ptr<const net::TlsAdmission> tls);

  // The stream of this name, once both parties ask for it. Fails: NetworkError after the connect
  // timeout; Cancelled. The peer's streams of its group are then closed, also those that arrive
  // later: it learns that nobody waits for them.
  std::unique_ptr<net::ByteStream> open(const StreamName& name, const std::stop_token& cancel);

  // The listening side: the newest link of which both streams have arrived, number 0 first. Fails:
  // as open().
  struct LinkStreams {
    std::uint64_t group = 0;
    std::array<std::unique_ptr<net::ByteStream>, 2> streams;
  };
  LinkStreams accept_link(const std::stop_token& cancel);

 private:
  using Clock = std::chrono::steady_clock;
  struct Arrived {
    StreamName name;
    std::unique_ptr<net::ByteStream> stream;
    Clock::time_point at;
  };
  // The admission at the time when a connection begins.
  class CurrentAdmission final : public net::Admission {
   public:
    explicit CurrentAdmission(const StreamPort& port) : port_(port) {}
    std::unique_ptr<net::PendingStream> begin(std::unique_ptr<net::TcpStream> stream,
                                              net::Side side) const override;

   private:
    const StreamPort& port_;
  };
  void accept_all(const std::stop_token& stop);
  void admit(std::unique_ptr<net::ByteStream> stream);
  std::unique_ptr<net::ByteStream> take(const StreamName& name);
  void abandon(std::uint64_t group);
  // Returns what `attempt` finds, which is called under the lock after each arrival.
  template <class Attempt>
  auto wait_for(const std::stop_token& cancel, const Attempt& attempt);

  mutable std::mutex options_mutex_;
  engine::PeerOptions options_;  // of which `tls` changes, under the mutex
  const CurrentAdmission admission_{*this};
  std::function<void(std::uint64_t)> link_arrived_;
  const std::chrono::milliseconds claim_time_;
  std::optional<net::TcpListener> listener_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::list<Arrived> arrived_;           // oldest first
  std::deque<std::uint64_t> abandoned_;  // groups, oldest first
  std::atomic<std::uint64_t> last_group_;
  std::jthread acceptor_;
};

}  // namespace tinyot::service
