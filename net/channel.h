// Messages between the two parties. A message has a tag that both sides know beforehand and a
// length that both sides have computed; anything else that arrives is a deviation. No length from
// the wire is ever used to allocate, except within the small bound of recv_variable.
//
// Wire: each message is a header of 16 bytes (u64 length, u32 tag, u32 sequence number,
// little-endian) and its payload.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/auth_bits.h"
#include "net/byte_stream.h"

namespace tinyot::net {

// Tags are unique over all protocols; the high byte names the protocol. The name appears in errors.
struct MessageTag {
  std::uint32_t id;
  std::string_view name;
};

struct ChannelCounters {
  std::uint64_t bytes_sent = 0;  // headers included
  std::uint64_t bytes_received = 0;
  std::uint64_t messages_sent = 0;
  // times that a receive had to follow a send: the round trips of a lone party
  std::uint64_t rounds = 0;
};

// What each message begins with on the wire.
struct FrameHeader {
  std::uint64_t length;
  std::uint32_t tag;
  std::uint32_t sequence;
};
static_assert(sizeof(FrameHeader) == 16);

class Channel {
 public:
  virtual ~Channel() = default;

  virtual void send(const MessageTag& tag, std::span<const std::byte> payload) = 0;

  // Receives a message of exactly this tag and length. Fails: PeerCheated("framing") if another one
  // comes, PeerAborted if the peer says so, NetworkError.
  virtual void recv(const MessageTag& tag, std::span<std::byte> payload) = 0;

  // Receives a message of this tag and at most `bytes_max` bytes. Fails: as recv.
  virtual std::vector<std::byte> recv_variable(const MessageTag& tag, std::size_t bytes_max) = 0;

  virtual void flush() = 0;

  // Tells the peer, as well as it still can, that the session is dead. Never throws.
  virtual void send_abort() noexcept = 0;

  // Drops what arrives until the peer's abort comes (true) or the connection or the time is over
  // (false).
  virtual bool await_abort() noexcept = 0;

  // As ByteStream::binding.
  virtual std::span<const std::byte> binding() const { return {}; }

  // From any thread, as ByteStream::set_deadline; nor is any message sent from then on.
  virtual void set_deadline(std::chrono::steady_clock::time_point deadline) noexcept = 0;

  virtual const ChannelCounters& counters() const = 0;

  // The phase that network errors name.
  virtual void set_phase(std::string_view phase) = 0;
};

// Spans of plain words as bytes.
template <class Word>
void send_words(Channel& channel, const MessageTag& tag, std::span<const Word> words) {
  channel.send(tag, std::as_bytes(words));
}
template <class Word>
void recv_words(Channel& channel, const MessageTag& tag, std::span<Word> words) {
  channel.recv(tag, std::as_writable_bytes(words));
}
template <class T>
void send_object(Channel& channel, const MessageTag& tag, const T& object) {
  static_assert(std::is_trivially_copyable_v<T>);
  channel.send(tag, std::as_bytes(std::span(&object, 1)));
}
template <class T>
T recv_object(Channel& channel, const MessageTag& tag) {
  static_assert(std::is_trivially_copyable_v<T>);
  T object;
  channel.recv(tag, std::as_writable_bytes(std::span(&object, 1)));
  return object;
}

// Bits travel packed; the padding of the last byte must be zero.
void send_bits(Channel& channel, const MessageTag& tag, const BitVector& bits);
BitVector recv_bits(Channel& channel, const MessageTag& tag, std::size_t size);

std::unique_ptr<Channel> make_framed_channel(std::unique_ptr<ByteStream> stream);

}  // namespace tinyot::net
