// A reliable, ordered stream of bytes between the two parties, over TCP, TLS or memory. A Channel
// frames its messages onto it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace tinyot::net {

// Of a stream: written and not yet taken by the system, beyond which a write blocks; and read ahead
// while a write blocks, in addition to what this side has written.
inline constexpr std::size_t kOutboxBytesMax = std::size_t{4} << 20;
inline constexpr std::size_t kAheadBytesMax = std::size_t{64} << 20;

class ByteStream {
 public:
  virtual ~ByteStream() = default;

  // Sends `bytes` followed by `more`. What the system does not accept at once is buffered and sent
  // by the next write, flush, or read that waits; a caller that does anything else next calls
  // flush. Both parties may write large amounts at the same time: a blocked write keeps reading, up
  // to 64 MiB more than this side has written since its last read.
  // Fails: NetworkError (closed, reset, stopped, or no progress for the idle timeout). Progress has
  // a minimum rate (idle_timer.h). For a write, bytes sent are progress; for a read, application
  // data received and bytes sent meanwhile.
  virtual void write(std::span<const std::byte> bytes, std::span<const std::byte> more) = 0;
  void write(std::span<const std::byte> bytes) { write(bytes, {}); }

  // Fills the span; sends buffered bytes while it waits. Fails: as write.
  virtual void read(std::span<std::byte> bytes) = 0;

  // Returns when everything written has been handed to the system. Fails: as write.
  virtual void flush() = 0;

  // The channel binding: identifies this connection and the keys of both parties; equal at both
  // ends, and different for every other connection. Empty without authentication. Valid as long as
  // the stream. Secret: the binding.
  virtual std::span<const std::byte> binding() const { return {}; }

  // Whether the connection has ended, as far as the system knows: closed or reset by the peer, or
  // without an answer for long. Does not wait. What has arrived before may still be read. Streams
  // that cannot tell say no.
  virtual bool has_ended() { return false; }

  // Sends at most so many bytes per second, in the long run, if the system supports it. For TCP and
  // TLS; other streams ignore it.
  virtual void limit_rate(std::uint64_t /*bytes_per_s*/) {}

  // Thread-safe. A call that waits at `deadline` or later, now or in future, fails with
  // NetworkError within 0.1 s; so does a read that needs more than this side has received by then,
  // even if data keep arriving.
  virtual void set_deadline(std::chrono::steady_clock::time_point deadline) noexcept = 0;
};

// Two ends of a stream in memory, for two parties on two threads of one process. Destroying an end
// closes the stream. If both ends wait for bytes, both fail at once, without a timeout.
struct MemoryStreams {
  std::unique_ptr<ByteStream> a;
  std::unique_ptr<ByteStream> b;
};
MemoryStreams make_memory_streams();

}  // namespace tinyot::net
