// A reliable, ordered stream of bytes between the two parties: TCP, TLS, memory; what a Channel
// frames its messages onto.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace tinyot::net {

class ByteStream {
 public:
  virtual ~ByteStream() = default;

  // Takes the bytes over, and `more` right behind them; what the system does not take at once
  // leaves with the next write, flush, or read that has to wait: whoever turns to anything else
  // flushes. Both parties may write large amounts at the same time: a stream that is blocked in
  // writing keeps reading, up to 64 MiB more than it has written since it read last. Fails:
  // NetworkError (closed, reset, stopped, or no progress for the idle timeout). Progress has a
  // lowest rate (idle_timer.h). Of a write, it is the bytes that leave; of a read, those of the
  // application that arrive, and what leaves meanwhile.
  virtual void write(std::span<const std::byte> bytes, std::span<const std::byte> more) = 0;
  void write(std::span<const std::byte> bytes) { write(bytes, {}); }

  // Fills the span; sends what is still to be sent while it waits. Fails: as write.
  virtual void read(std::span<std::byte> bytes) = 0;

  // Returns when everything written has been handed to the system. Fails: as write.
  virtual void flush() = 0;

  // What ties a session to this connection and to the keys at its two ends: the same at both, and
  // nowhere else. Empty where nobody has been authenticated. Secret. Stays valid as long as the
  // stream.
  virtual std::span<const std::byte> binding() const { return {}; }

  // From any thread: a call that waits at `deadline` or later, now or in future, ends with
  // NetworkError within a tenth of a second; so does a read that needs more than this side has
  // received by then, even if data keep coming.
  virtual void set_deadline(std::chrono::steady_clock::time_point deadline) noexcept = 0;
};

// Two ends of a stream in memory, for two parties on two threads of one process. An end that is
// destroyed closes the stream. If both ends wait for bytes, both fail at once: what would be a
// timeout elsewhere.
struct MemoryStreams {
  std::unique_ptr<ByteStream> a;
  std::unique_ptr<ByteStream> b;
};
MemoryStreams make_memory_streams();

}  // namespace tinyot::net
