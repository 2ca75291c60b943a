// The link on which two daemons exchange their messages (peer.proto), any time and in both
// directions. It has a stream for each direction. Empty messages show that the peer is there.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "net/channel.h"
#include "net/handshake.h"
#include "peer.pb.h"
#include "service/stream_port.h"

namespace tinyot::service {

class PeerLink {
 public:
  // Messages that wait to be sent take at most kOutboxBytesMax. A peer that does not read them
  // loses the link, and what this party sends of its own accord waits for room.
  static constexpr std::size_t kOutboxBytesMax = std::size_t{1} << 20;
  // A longer message is a violation of the protocol.
  static constexpr std::size_t kMessageBytesMax = std::size_t{1} << 16;

  // Role: both, symmetric. Connects, and compares the parameters. `drained` is called, on another
  // thread and without a lock, whenever all messages have been sent. Fails: NetworkError;
  // Disagreement naming what differs; PeerCheated if the peer does not follow the protocol, which
  // here revokes nothing; Cancelled.
  PeerLink(StreamPort& port, Party me, std::vector<net::Parameter> parameters,
           const std::stop_token& cancel, std::function<void()> drained = {});
  ~PeerLink();
  PeerLink(const PeerLink&) = delete;
  PeerLink& operator=(const PeerLink&) = delete;

  // Of its streams; different for every link.
  std::uint64_t group() const { return group_; }

  // From any thread. Does not wait; a message that cannot be sent, or for which the outbox has no
  // room, ends the link.
  void send(const wire::Message& message);
  // Whether less than half of the outbox is taken.
  bool has_room();

  // Waits for the next message. Fails: NetworkError once the link has ended, or if the message is
  // malformed; PeerCheated if it deviates.
  wire::Message receive();

  // From any thread: ends the link, with what was sent before.
  void shut_down() noexcept;

 private:
  void write_all(const std::stop_token& stop);

  std::uint64_t group_ = 0;
  std::unique_ptr<net::Channel> out_, in_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::string> outbox_;
  std::size_t outbox_bytes_ = 0;  // of those that are being sent, too
  std::function<void()> drained_;
  std::jthread writer_;
};

}  // namespace tinyot::service
