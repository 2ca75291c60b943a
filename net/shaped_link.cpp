#include "net/shaped_link.h"

#include <sys/prctl.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <deque>
#include <span>
#include <thread>
#include <vector>

#include "base/error.h"

namespace tinyot::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kPieceBytesMin = 1500, kPieceBytesMax = std::size_t{64} << 10;
constexpr auto kPieceTime = std::chrono::microseconds(250);
// The link assigns its time to pieces this long ahead.
constexpr auto kAheadTime = std::chrono::milliseconds(1);
// Of a connection: not yet sent, as in the socket buffer of a sender; and arrived at a receiver
// that does not read.
constexpr std::size_t kUnsentBytesMax = std::size_t{4} << 20;
constexpr std::size_t kArrivedBytesMax = std::size_t{4} << 20;
constexpr auto kConnectInterval = std::chrono::milliseconds(1);

tcp::endpoint endpoint_of(const Address& address) {
  return {asio::ip::make_address(address.host),
          static_cast<std::uint16_t>(std::stoul(address.port))};
}

}  // namespace

// One direction of the link. Connections that have bytes to send take turns, a piece each.
class ShapedLink::Wire {
 public:
  Wire(asio::io_context& io, const LinkShape& shape)
      : delay_(shape.rtt / 2), ns_per_byte_(shape.bits_per_s > 0 ? 8e9 / shape.bits_per_s : 0),
        timer_(io) {}

  // `flow` has an unsent piece, and had none before.
  void add(std::shared_ptr<Flow> flow) {
    waiting_.push_back(std::move(flow));
    send();
  }

  std::size_t piece_bytes() const { return bytes_in(kPieceTime, kPieceBytesMin, kPieceBytesMax); }
  // Bytes of a connection that the link holds before it stops reading.
  std::size_t held_bytes_max() const {
    return kUnsentBytesMax + kArrivedBytesMax +
           bytes_in(delay_ + kAheadTime, 0, ShapedLink::kBytesMax);
  }

 private:
  void send();
  std::size_t bytes_in(std::chrono::nanoseconds time, std::size_t min, std::size_t max) const {
    if (ns_per_byte_ == 0) return max;
    const double bytes = static_cast<double>(time.count()) / ns_per_byte_;
    return static_cast<std::size_t>(
        std::clamp(bytes, static_cast<double>(min), static_cast<double>(max)));
  }

  std::chrono::nanoseconds delay_;
  double ns_per_byte_;
  asio::steady_timer timer_;
  Clock::time_point free_at_{};
  std::deque<std::shared_ptr<Flow>> waiting_;  // those with unsent pieces
};

// One direction of a connection. It keeps itself alive through its handlers, and both sockets with
// it.
class ShapedLink::Flow : public std::enable_shared_from_this<ShapedLink::Flow> {
 public:
  Flow(Wire& wire, std::shared_ptr<tcp::socket> from, std::shared_ptr<tcp::socket> to)
      : wire_(wire), from_(std::move(from)), to_(std::move(to)), arrival_(from_->get_executor()) {}

  void read() {
    is_full_ = unsent_bytes_ > kUnsentBytesMax || held_bytes_ > wire_.held_bytes_max();
    if (is_full_) return;
    Piece piece{{}, std::vector<std::byte>(wire_.piece_bytes())};
    const auto buffer = asio::buffer(piece.bytes);
    from_->async_read_some(buffer, [self = shared_from_this(), piece = std::move(piece)](
                                       const error_code& error, std::size_t count) mutable {
      piece.bytes.resize(error ? 0 : count);
      self->take(error, std::move(piece));
    });
  }

  // For Wire: when the first unsent piece was ready to be sent, and how long it is.
  Clock::time_point ready_at() const { return unsent_.front().at; }
  std::size_t bytes() const { return unsent_.front().bytes.size(); }
  // It is sent. False if no further one is unsent.
  bool send(Clock::time_point arrives_at) {
    unsent_bytes_ -= bytes();
    unsent_.front().at = arrives_at;
    sent_.push_back(std::move(unsent_.front()));
    unsent_.pop_front();
    if (!is_delivering_) deliver();
    if (is_full_) read();
    return !unsent_.empty();
  }

 private:
  struct Piece {
    Clock::time_point at;          // ready to be sent; then: arrives
    std::vector<std::byte> bytes;  // none: the end of the flow
  };

  void take(const error_code& error, Piece piece) {
    if (error && error != asio::error::eof) is_reset_ = true;
    piece.at = Clock::now();
    unsent_bytes_ += piece.bytes.size();
    held_bytes_ += piece.bytes.size();
    unsent_.push_back(std::move(piece));
    if (unsent_.size() == 1) wire_.add(shared_from_this());
    if (!error) read();
  }

  void deliver() {
    is_delivering_ = !sent_.empty();
    if (!is_delivering_) return;
    arrival_.expires_at(sent_.front().at);
    arrival_.async_wait([self = shared_from_this()](const error_code&) { self->write(); });
  }

  // All pieces that have arrived.
  void write() {
    std::vector<asio::const_buffer> buffers;
    const auto now = Clock::now();
    std::size_t bytes = 0;
    for (const Piece& piece : sent_) {
      if (piece.at > now || piece.bytes.empty()) break;
      buffers.emplace_back(piece.bytes.data(), piece.bytes.size());
      bytes += piece.bytes.size();
    }
    if (buffers.empty()) return is_reset_ ? close() : shut_down();
    asio::async_write(*to_, buffers,
                      [self = shared_from_this(), pieces = buffers.size(), bytes](
                          const error_code& error, std::size_t) {
                        if (error) return self->close();
                        self->sent_.erase(
                            self->sent_.begin(),
                            self->sent_.begin() + static_cast<std::ptrdiff_t>(pieces));
                        self->held_bytes_ -= bytes;
                        self->deliver();
                        if (self->is_full_) self->read();
                      });
  }

  // The other direction goes on.
  void shut_down() {
    error_code ignored;
    to_->shutdown(tcp::socket::shutdown_send, ignored);
  }
  void close() {
    error_code ignored;
    to_->close(ignored);
    from_->close(ignored);
  }

  Wire& wire_;
  std::shared_ptr<tcp::socket> from_, to_;
  asio::steady_timer arrival_;
  std::deque<Piece> unsent_, sent_;
  std::size_t unsent_bytes_ = 0, held_bytes_ = 0;
  bool is_delivering_ = false, is_full_ = false, is_reset_ = false;
};

void ShapedLink::Wire::send() {
  const auto until = Clock::now() + kAheadTime;
  while (!waiting_.empty() && free_at_ <= until) {
    const std::shared_ptr<Flow> flow = std::move(waiting_.front());
    waiting_.pop_front();
    free_at_ = std::max(free_at_, flow->ready_at()) +
               std::chrono::nanoseconds(
                   static_cast<std::int64_t>(ns_per_byte_ * static_cast<double>(flow->bytes())));
    if (flow->send(free_at_ + delay_)) waiting_.push_back(flow);
  }
  if (waiting_.empty()) return;
  timer_.expires_at(free_at_ - kAheadTime);
  timer_.async_wait([this](const error_code& error) {
    if (!error) send();
  });
}

struct ShapedLink::State {
  State(const LinkShape& shape, const Address& address, const Address& target_address)
      : to_target(io, shape), from_target(io, shape), target(endpoint_of(target_address)),
        acceptor(io, endpoint_of(address)) {}

  void accept() {
    const auto caller = std::make_shared<tcp::socket>(io);
    acceptor.async_accept(*caller, [this, caller](const error_code& error) {
      if (!error) connect(caller, std::make_shared<asio::steady_timer>(io));
      if (error != asio::error::operation_aborted) accept();
    });
  }

  // Repeats attempts, as nothing may listen yet.
  void connect(const std::shared_ptr<tcp::socket>& caller,
               const std::shared_ptr<asio::steady_timer>& timer) {
    const auto callee = std::make_shared<tcp::socket>(io);
    callee->async_connect(target, [this, caller, callee, timer](const error_code& error) {
      if (error) {
        timer->expires_after(kConnectInterval);
        timer->async_wait([this, caller, timer](const error_code&) { connect(caller, timer); });
        return;
      }
      for (const auto& socket : {caller, callee}) socket->set_option(tcp::no_delay(true));
      std::make_shared<Flow>(to_target, caller, callee)->read();
      std::make_shared<Flow>(from_target, callee, caller)->read();
    });
  }

  asio::io_context io;
  Wire to_target, from_target;
  tcp::endpoint target;
  tcp::acceptor acceptor;
  std::jthread thread;
};

void ShapedLink::check(const LinkShape& shape) {
  if (std::chrono::duration<double>(shape.rtt).count() * shape.bits_per_s / 8 >
      static_cast<double>(kBytesMax))
    throw UsageError("a simulated link holds at most 1 GiB: rate x round-trip time is larger");
}

ShapedLink::ShapedLink(const LinkShape& shape, const Address& address, const Address& target) {
  check(shape);
  try {
    state_ = std::make_unique<State>(shape, address, target);
  } catch (const boost::system::system_error& error) {
    throw NetworkError("the simulated link cannot listen on " + text_of(address) + ": " +
                       error.what());
  }
  state_->accept();
  state_->thread = std::jthread([state = state_.get()] {
    ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);  // nanosecond; the default is 50 us
    state->io.run();
  });
}

ShapedLink::~ShapedLink() {
  state_->io.stop();
  state_->thread.join();
}

}  // namespace tinyot::net
