#include "net/tcp_stream.h"

#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "system/errno_text.h"

namespace tinyot::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t kReadAheadBytes = std::size_t{256} << 10;
constexpr std::size_t kReadBeyondBytes = std::size_t{4} << 10;
constexpr auto kWaitSlice = std::chrono::milliseconds(100);

// The system probes a connection on which nothing has arrived for this time, so that one whose peer
// is gone ends even if nobody waits for it, and that what is between the parties does not forget
// it. It ends after the idle timeout, and not before a minute.
constexpr int kProbeAfter_s = 20, kProbeInterval_s = 10, kProbesMin = 4, kProbesMax = 127;

void probe_when_idle(int descriptor, std::chrono::milliseconds idle_timeout) {
  const auto beyond_s =
      std::chrono::ceil<std::chrono::seconds>(idle_timeout).count() - kProbeAfter_s;
  const auto probes = static_cast<int>(std::clamp<std::int64_t>(
      (beyond_s + kProbeInterval_s - 1) / kProbeInterval_s, kProbesMin, kProbesMax));
  const auto set = [&](int level, int option, int value) {
    ::setsockopt(descriptor, level, option, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, kProbeAfter_s);
  set(IPPROTO_TCP, TCP_KEEPINTVL, kProbeInterval_s);
  set(IPPROTO_TCP, TCP_KEEPCNT, probes);
}

void check(const error_code& error, const char* what) {
  if (!error || error == asio::error::would_block || error == asio::error::try_again) return;
  if (error == asio::error::eof || error == asio::error::connection_reset ||
      error == asio::error::broken_pipe)
    throw ConnectionClosed();
  throw NetworkError(std::string(what) + " failed: " + error.message());
}

}  // namespace

TcpStream::TcpStream(std::unique_ptr<asio::io_context> io, tcp::socket socket,
                     std::chrono::milliseconds idle_timeout)
    : io_(std::move(io)), socket_(std::move(socket)), idle_timeout_(idle_timeout) {
  error_code ignored;
  socket_.set_option(tcp::no_delay(true), ignored);
  probe_when_idle(descriptor(), idle_timeout_);
  // The socket buffers keep their automatic size: the system never grows a buffer whose size is
  // set, and segments that do not fit are dropped and sent again seconds later.
  socket_.non_blocking(true);
}

void TcpStream::write(std::span<const std::byte> bytes, std::span<const std::byte> more) {
  written_since_read_ += bytes.size() + more.size();
  if (outbox_.size() == 0) {
    const std::size_t count = write_some(bytes, more), of_bytes = std::min(count, bytes.size());
    bytes = bytes.subspan(of_bytes);
    more = more.subspan(count - of_bytes);
    if (more.empty() && bytes.empty()) return;
  }
  outbox_.append(bytes);
  outbox_.append(more);
  drain_outbox_to(kOutboxBytesMax);
}

void TcpStream::read(std::span<std::byte> bytes) {
  written_since_read_ = 0;
  bytes = bytes.subspan(take_inbox(bytes));
  if (bytes.empty()) return;
  IdleTimer timer(idle_timeout_);
  for (;;) {
    check_deadline();
    timer.add_progress(drain_outbox());
    // Parts of following messages that have arrived already are read in the same call.
    ahead_.resize(kReadAheadBytes);
    const std::span<std::byte> beyond = std::span(ahead_).first(kReadBeyondBytes);
    const std::size_t got = read_some(bytes, beyond), wanted = std::min(got, bytes.size());
    inbox_.append(beyond.first(got - wanted));
    bytes = bytes.subspan(wanted);
    if (bytes.empty()) return;
    timer.add_progress(wanted);
    timer.check();
    if (got == 0) wait(true, outbox_.size() > 0, timer);
  }
}

std::size_t TcpStream::receive(std::span<std::byte> bytes, IdleTimer& timer) {
  written_since_read_ = 0;
  for (;;) {
    check_deadline();
    timer.add_progress(drain_outbox());
    if (const std::size_t count = read_ready(bytes)) return count;
    wait(true, outbox_.size() > 0, timer);
  }
}

bool TcpStream::has_ended() {
  pollfd state{descriptor(), POLLRDHUP, 0};
  return ::poll(&state, 1, 0) > 0 && (state.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

void TcpStream::limit_rate(std::uint64_t bytes_per_s) {
  ::setsockopt(descriptor(), SOL_SOCKET, SO_MAX_PACING_RATE, &bytes_per_s, sizeof bytes_per_s);
}

void TcpStream::flush() { drain_outbox_to(0); }

std::size_t TcpStream::read_ready(std::span<std::byte> bytes) {
  const std::size_t ready = take_inbox(bytes);
  return ready == bytes.size() ? ready : ready + read_some(bytes.subspan(ready), {});
}

std::span<const std::byte> TcpStream::peek(std::size_t count) {
  if (inbox_.size() < count) {
    std::vector<std::byte> missing(count - inbox_.size());
    missing.resize(read_some(missing, {}));
    inbox_.append(missing);
  }
  return inbox_.front().first(std::min(count, inbox_.size()));
}

bool TcpStream::wait_readable(Clock::time_point until) {
  pollfd descriptor{socket_.native_handle(), POLLIN, 0};
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    if (left.count() <= 0) return false;
    if (::poll(&descriptor, 1,
               static_cast<int>(std::min(left, std::chrono::milliseconds(kWaitSlice)).count())) > 0)
      return true;
  }
}

std::string TcpStream::remote() const {
  error_code error;
  const auto endpoint = socket_.remote_endpoint(error);
  return error ? "an unknown address"
               : endpoint.address().to_string() + ":" + std::to_string(endpoint.port());
}

// This and read_some return the number of bytes moved, 0 if the socket is not ready.
std::size_t TcpStream::write_some(std::span<const std::byte> bytes,
                                  std::span<const std::byte> more) {
  // Writes to a closed connection succeed, so that what the peer sent before, such as an abort, is
  // still read; the next read reports the end.
  if (peer_closed_) return bytes.size() + more.size();
  error_code error;
  const std::array buffers = {asio::buffer(bytes.data(), bytes.size()),
                              asio::buffer(more.data(), more.size())};
  const std::size_t count = socket_.write_some(buffers, error);
  peer_closed_ = error == asio::error::broken_pipe || error == asio::error::connection_reset;
  if (peer_closed_) return bytes.size() + more.size();
  check(error, "sending");
  return count;
}

std::size_t TcpStream::read_some(std::span<std::byte> bytes, std::span<std::byte> beyond) {
  error_code error;
  const std::array buffers = {asio::buffer(bytes.data(), bytes.size()),
                              asio::buffer(beyond.data(), beyond.size())};
  const std::size_t count = socket_.read_some(buffers, error);
  check(error, "receiving");
  return count;
}

std::size_t TcpStream::take_inbox(std::span<std::byte> bytes) {
  const std::size_t count = std::min(bytes.size(), inbox_.size());
  std::ranges::copy(inbox_.front().first(count), bytes.begin());
  inbox_.drop(count);
  return count;
}

// Returns the number of bytes sent.
std::size_t TcpStream::drain_outbox() {
  std::size_t sent = 0;
  while (outbox_.size() > 0) {
    const std::size_t count = write_some(outbox_.front(), {});
    if (count == 0) break;
    outbox_.drop(count);
    sent += count;
  }
  return sent;
}

// Waits until at most `bytes_left` bytes are buffered. Data received meanwhile are no progress.
void TcpStream::drain_outbox_to(std::size_t bytes_left) {
  drain_outbox();
  if (outbox_.size() <= bytes_left) return;
  IdleTimer timer(idle_timeout_);
  for (;;) {
    wait(may_read_ahead(), true, timer);
    read_ahead();
    timer.add_progress(drain_outbox());
    if (outbox_.size() <= bytes_left) return;
    timer.check();
  }
}

// Two parties that write equally much before they read never block each other, and what a flooding
// peer makes this side buffer is bounded by kAheadBytesMax plus what this side has written.
bool TcpStream::may_read_ahead() const {
  return inbox_.size() < kAheadBytesMax + written_since_read_;
}

void TcpStream::read_ahead() {
  if (!may_read_ahead()) return;
  ahead_.resize(kReadAheadBytes);
  inbox_.append(std::span(ahead_).first(read_some(ahead_, {})));
}

void TcpStream::check_deadline() const {
  if (deadline_.load() <= Clock::now()) throw NetworkError("stopped");
}

// Waits until the socket can be read or written, as requested.
void TcpStream::wait(bool to_read, bool to_write, const IdleTimer& timer) {
  pollfd descriptor{socket_.native_handle(),
                    static_cast<short>((to_read ? POLLIN : 0) | (to_write ? POLLOUT : 0)), 0};
  for (;;) {
    check_deadline();
    // In slices, so that a deadline set by another thread takes effect.
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(timer.until() - Clock::now());
    const auto slice = std::clamp(left, std::chrono::milliseconds(0), kWaitSlice);
    const int ready = ::poll(&descriptor, 1, static_cast<int>(slice.count()));
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR)
      throw NetworkError("waiting for the peer failed: " + system::errno_text());
    timer.check();
  }
}

}  // namespace tinyot::net
