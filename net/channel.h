// Messages between the two parties. Both sides know the tag and length of a track's next message
// (net/message_tags.h) in advance; any other message is a deviation. A length from the wire is
// never used to allocate, except within the bounds of recv_variable and of what is set aside.
//
// Wire: each message is a header of 16 bytes (u64 length, u32 tag, u32 sequence number,
// little-endian) and its payload. Sequence numbers count the messages of both tracks.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/auth_bits.h"
#include "net/byte_stream.h"
#include "net/message_tags.h"

namespace tinyot::net {

struct ChannelCounters {
  std::uint64_t bytes_sent = 0;  // headers included
  std::uint64_t bytes_received = 0;
  std::uint64_t messages_sent = 0;
  // receives that directly follow a send: round trips as this party sees them
  std::uint64_t rounds = 0;
};

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

  // Receives a message of exactly this tag and length. Fails: PeerCheated("framing") on any other
  // message of the tag's track, and on more of the other track than is set aside, PeerAborted on an
  // abort, NetworkError.
  virtual void recv(const MessageTag& tag, std::span<std::byte> payload) = 0;

  // Receives a message of this tag and at most `bytes_max` bytes. Fails: as recv.
  virtual std::vector<std::byte> recv_variable(const MessageTag& tag, std::size_t bytes_max) = 0;

  virtual void flush() = 0;

  // Sends an abort if the connection still allows it. Never throws.
  virtual void send_abort() noexcept = 0;

  // Discards messages until the peer's abort arrives (true), or until the connection ends or the
  // deadline passes (false).
  virtual bool await_abort() noexcept = 0;

  // As ByteStream::binding.
  virtual std::span<const std::byte> binding() const { return {}; }

  // As ByteStream::has_ended.
  virtual bool has_ended() { return false; }

  // Thread-safe, as ByteStream::set_deadline; send also fails from `deadline` on.
  virtual void set_deadline(std::chrono::steady_clock::time_point deadline) noexcept = 0;

  virtual const ChannelCounters& counters() const = 0;

  // The phase that network errors name.
  virtual void set_phase(std::string_view phase) = 0;
};

// Trivially copyable words and objects are sent as their bytes.
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

// Bits are sent packed; the padding of the last byte must be zero.
void send_bits(Channel& channel, const MessageTag& tag, const BitVector& bits);
BitVector recv_bits(Channel& channel, const MessageTag& tag, std::size_t size);

std::unique_ptr<Channel> make_framed_channel(std::unique_ptr<ByteStream> stream);

}  // namespace tinyot::net
