// One TCP connection as a ByteStream, with the non-blocking calls that admission and TLS need.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "net/byte_queue.h"
#include "net/byte_stream.h"
#include "net/idle_timer.h"

namespace tinyot::net {

// The peer, or its system, has closed the connection.
class ConnectionClosed : public NetworkError {
 public:
  ConnectionClosed() : NetworkError("the peer closed the connection") {}
};

class TcpStream final : public ByteStream {
 public:
  using Clock = std::chrono::steady_clock;

  // `io` is the socket's context.
  TcpStream(std::unique_ptr<boost::asio::io_context> io, boost::asio::ip::tcp::socket socket,
            std::chrono::milliseconds idle_timeout);

  void write(std::span<const std::byte> bytes, std::span<const std::byte> more) override;
  using ByteStream::write;
  void read(std::span<std::byte> bytes) override;
  void flush() override;
  bool has_ended() override;
  void limit_rate(std::uint64_t bytes_per_s) override;
  void set_deadline(Clock::time_point deadline) noexcept override { deadline_ = deadline; }

  // Waits until bytes have arrived, reads up to bytes.size() of them and returns their number.
  // Bytes sent meanwhile count as progress in `timer`; the caller adds what it received. Otherwise
  // as read.
  std::size_t receive(std::span<std::byte> bytes, IdleTimer& timer);

  // Reads up to bytes.size() bytes that have arrived already and returns their number. Fails: as
  // read.
  std::size_t read_ready(std::span<std::byte> bytes);

  // The next bytes that have arrived already, at most `count`, without consuming them. Fails: as
  // read.
  std::span<const std::byte> peek(std::size_t count);

  // Waits until there is something to read or the connection has ended; false at `until`.
  bool wait_readable(Clock::time_point until);

  std::chrono::milliseconds idle_timeout() const { return idle_timeout_; }
  int descriptor() { return socket_.native_handle(); }
  // The peer's address, for messages.
  std::string remote() const;

 private:
  std::size_t write_some(std::span<const std::byte> bytes, std::span<const std::byte> more);
  std::size_t read_some(std::span<std::byte> bytes, std::span<std::byte> beyond);
  std::size_t take_inbox(std::span<std::byte> bytes);
  std::size_t drain_outbox();
  void drain_outbox_to(std::size_t bytes_left);
  bool may_read_ahead() const;
  void read_ahead();
  void check_deadline() const;
  void wait(bool to_read, bool to_write, const IdleTimer& timer);

  std::unique_ptr<boost::asio::io_context> io_;
  boost::asio::ip::tcp::socket socket_;
  std::chrono::milliseconds idle_timeout_;
  std::atomic<Clock::time_point> deadline_ = Clock::time_point::max();
  ByteQueue outbox_, inbox_;
  std::size_t written_since_read_ = 0;  // bytes
  bool peer_closed_ = false;            // writes are discarded
  std::vector<std::byte> ahead_;
};

}  // namespace tinyot::net
