#include "net/tcp.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <charconv>
#include <cstring>
#include <thread>
#include <vector>

#include "base/error.h"

namespace tinyot {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Clock = std::chrono::steady_clock;
using boost::system::error_code;

constexpr std::size_t kOutboxBytesMax = std::size_t{4} << 20;   // writing blocks beyond
constexpr std::size_t kInboxBytesMax = std::size_t{64} << 20;   // read ahead, while writing blocks, up to here
constexpr std::size_t kReadAheadBytes = std::size_t{256} << 10;
constexpr std::size_t kReadBeyondBytes = std::size_t{4} << 10;
constexpr int kSocketBufferBytes = 4 << 20;
constexpr auto kRetryInterval = std::chrono::milliseconds(50);
constexpr auto kWaitSlice = std::chrono::milliseconds(100);

// A queue of bytes: appended at the end, taken from the front.
class ByteQueue {
 public:
  std::size_t size() const { return bytes_.size() - begin_; }
  std::span<const std::byte> front() const { return std::span(bytes_).subspan(begin_); }
  void append(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void drop(std::size_t count) {
    begin_ += count;
    // What has left gives its room back, at a cost of one copy a byte at most.
    if (2 * begin_ < bytes_.size()) return;
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
  }

 private:
  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0;
};

class TcpStream final : public ByteStream {
 public:
  TcpStream(std::unique_ptr<asio::io_context> io, tcp::socket socket, std::chrono::milliseconds idle_timeout)
      : io_(std::move(io)), socket_(std::move(socket)), idle_timeout_(idle_timeout) {
    error_code ignored;
    socket_.set_option(tcp::no_delay(true), ignored);
    socket_.set_option(asio::socket_base::send_buffer_size(kSocketBufferBytes), ignored);
    socket_.set_option(asio::socket_base::receive_buffer_size(kSocketBufferBytes), ignored);
    socket_.non_blocking(true);
  }

  void write(std::span<const std::byte> bytes, std::span<const std::byte> more) override {
    if (outbox_.size() == 0) {
      const std::size_t count = write_some(bytes, more), of_bytes = std::min(count, bytes.size());
      bytes = bytes.subspan(of_bytes);
      more = more.subspan(count - of_bytes);
      if (more.empty() && bytes.empty()) return;
    }
    outbox_.append(bytes);
    outbox_.append(more);
    drain_outbox();
    while (outbox_.size() > kOutboxBytesMax) {
      wait(inbox_.size() < kInboxBytesMax, true);
      read_ahead();
      drain_outbox();
    }
  }

  void read(std::span<std::byte> bytes) override {
    const std::size_t ready = std::min(bytes.size(), inbox_.size());
    std::ranges::copy(inbox_.front().first(ready), bytes.begin());
    inbox_.drop(ready);
    bytes = bytes.subspan(ready);
    while (!bytes.empty()) {
      drain_outbox();
      // What is there already of the messages behind this one comes along.
      ahead_.resize(kReadAheadBytes);
      const std::span<std::byte> beyond = std::span(ahead_).first(kReadBeyondBytes);
      const std::size_t got = read_some(bytes, beyond), wanted = std::min(got, bytes.size());
      inbox_.append(beyond.first(got - wanted));
      bytes = bytes.subspan(wanted);
      if (got == 0) wait(true, outbox_.size() > 0);
    }
  }

  void flush() override {
    drain_outbox();
    while (outbox_.size() > 0) {
      wait(inbox_.size() < kInboxBytesMax, true);
      read_ahead();
      drain_outbox();
    }
  }

  void set_deadline(Clock::time_point deadline) noexcept override { deadline_ = deadline; }

 private:
  // Each returns how many bytes moved, 0 if the socket is not ready.
  std::size_t write_some(std::span<const std::byte> bytes, std::span<const std::byte> more) {
    // What a peer that is gone has said before, as that it aborts, is still to be read: its silence shows there.
    if (peer_takes_nothing_) return bytes.size() + more.size();
    error_code error;
    const std::array buffers = {asio::buffer(bytes.data(), bytes.size()), asio::buffer(more.data(), more.size())};
    const std::size_t count = socket_.write_some(buffers, error);
    peer_takes_nothing_ = error == asio::error::broken_pipe || error == asio::error::connection_reset;
    if (peer_takes_nothing_) return bytes.size() + more.size();
    check(error, "sending");
    return count;
  }
  std::size_t read_some(std::span<std::byte> bytes, std::span<std::byte> beyond) {
    error_code error;
    const std::array buffers = {asio::buffer(bytes.data(), bytes.size()), asio::buffer(beyond.data(), beyond.size())};
    const std::size_t count = socket_.read_some(buffers, error);
    check(error, "receiving");
    return count;
  }

  static void check(const error_code& error, const char* what) {
    if (!error || error == asio::error::would_block || error == asio::error::try_again) return;
    if (error == asio::error::eof || error == asio::error::connection_reset || error == asio::error::broken_pipe)
      throw NetworkError("the peer closed the connection");
    throw NetworkError(std::string(what) + " failed: " + error.message());
  }

  void drain_outbox() {
    while (outbox_.size() > 0) {
      const std::size_t count = write_some(outbox_.front(), {});
      if (count == 0) return;
      outbox_.drop(count);
    }
  }

  void read_ahead() {
    if (inbox_.size() >= kInboxBytesMax) return;
    ahead_.resize(kReadAheadBytes);
    inbox_.append(std::span(ahead_).first(read_some(ahead_, {})));
  }

  // Sleeps until the socket can be read or written, as asked.
  void wait(bool to_read, bool to_write) {
    pollfd descriptor{socket_.native_handle(), static_cast<short>((to_read ? POLLIN : 0) | (to_write ? POLLOUT : 0)), 0};
    const auto silent_until = Clock::now() + idle_timeout_;
    for (;;) {
      if (deadline_.load() <= Clock::now()) throw NetworkError("stopped");
      // In slices, so that a deadline that another thread sets is seen.
      const auto left = std::min(std::chrono::ceil<std::chrono::milliseconds>(silent_until - Clock::now()), kWaitSlice);
      const int ready = left.count() <= 0 ? 0 : ::poll(&descriptor, 1, static_cast<int>(left.count()));
      if (ready > 0) return;
      if (ready == 0 && Clock::now() >= silent_until)
        throw NetworkError("the peer has been silent for " + std::to_string(idle_timeout_.count() / 1000) +
                           " s (--idle-timeout): it is gone or stuck");
      if (ready < 0 && errno != EINTR) throw NetworkError(std::string("waiting for the peer failed: ") + std::strerror(errno));
    }
  }

  std::unique_ptr<asio::io_context> io_;
  tcp::socket socket_;
  std::chrono::milliseconds idle_timeout_;
  std::atomic<Clock::time_point> deadline_ = Clock::time_point::max();
  ByteQueue outbox_, inbox_;
  bool peer_takes_nothing_ = false;
  std::vector<std::byte> ahead_;
};

tcp::resolver::results_type resolve(asio::io_context& io, const Address& address) {
  error_code error;
  auto found = tcp::resolver(io).resolve(address.host, address.port, error);
  if (error) throw NetworkError("cannot resolve " + text_of(address) + ": " + error.message());
  return found;
}

std::string seconds(std::chrono::milliseconds time) { return std::to_string((time.count() + 999) / 1000) + " s (--connect-timeout)"; }

}  // namespace

Address parse_address(const std::string& text) {
  const auto colon = text.rfind(':');
  Address address;
  if (colon != std::string::npos) address = {text.substr(0, colon), text.substr(colon + 1)};
  if (address.host.size() > 2 && address.host.front() == '[' && address.host.back() == ']')
    address.host = address.host.substr(1, address.host.size() - 2);
  unsigned port = 0;
  const auto* end = address.port.data() + address.port.size();
  const auto [stop, error] = std::from_chars(address.port.data(), end, port);
  if (address.host.empty() || address.port.empty() || error != std::errc() || stop != end || port > 65535)
    throw UsageError("'" + text + "' is not an address: write HOST:PORT, as 127.0.0.1:7766");
  return address;
}

std::string text_of(const Address& address) { return address.host + ":" + address.port; }

struct TcpListener::State {
  Address address;
  TcpTimeouts timeouts;
  asio::io_context io = {};
  tcp::acceptor acceptor = tcp::acceptor(io);
};

TcpListener::TcpListener(const Address& address, const TcpTimeouts& timeouts) : state_(std::make_unique<State>(address, timeouts)) {
  tcp::acceptor& acceptor = state_->acceptor;
  const auto endpoint = resolve(state_->io, address).begin()->endpoint();
  error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) throw NetworkError("cannot listen on " + text_of(address) + ": " + error.message() + "; choose another port or address");
}

TcpListener::~TcpListener() = default;

std::unique_ptr<ByteStream> TcpListener::accept() {
  auto io = std::make_unique<asio::io_context>();  // of the stream, which may outlive the listener
  tcp::socket socket(*io);
  error_code accepted = asio::error::would_block;
  state_->acceptor.async_accept(socket, [&](const error_code& result) { accepted = result; });
  state_->io.restart();
  state_->io.run_for(state_->timeouts.connect);
  if (accepted == asio::error::would_block) {
    error_code ignored;
    state_->acceptor.cancel(ignored);
    state_->io.restart();
    state_->io.run();
    throw NetworkError("nobody connected to " + text_of(state_->address) + " within " + seconds(state_->timeouts.connect));
  }
  if (accepted) throw NetworkError("accepting on " + text_of(state_->address) + " failed: " + accepted.message());
  return std::make_unique<TcpStream>(std::move(io), std::move(socket), state_->timeouts.idle);
}

std::unique_ptr<ByteStream> tcp_connect(const Address& address, const TcpTimeouts& timeouts) {
  auto io = std::make_unique<asio::io_context>();
  const auto endpoints = resolve(*io, address);
  const auto deadline = Clock::now() + timeouts.connect;
  for (;;) {
    tcp::socket socket(*io);
    error_code result = asio::error::would_block;
    asio::async_connect(socket, endpoints, [&](const error_code& error, const tcp::endpoint&) { result = error; });
    io->restart();
    io->run_until(deadline);
    // A port that nobody listens on may connect to itself when it is given out as the local one.
    error_code local, remote;
    if (!result && socket.local_endpoint(local) == socket.remote_endpoint(remote)) result = asio::error::connection_refused;
    if (!result) return std::make_unique<TcpStream>(std::move(io), std::move(socket), timeouts.idle);
    if (result == asio::error::would_block) {
      error_code ignored;
      socket.close(ignored);
      io->restart();
      io->run();
    }
    if (Clock::now() + kRetryInterval >= deadline)
      throw NetworkError("nobody answers at " + text_of(address) + " within " + seconds(timeouts.connect) + ": " + result.message());
    std::this_thread::sleep_for(kRetryInterval);
  }
}

}  // namespace tinyot
