#include "net/tcp.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <charconv>
#include <thread>

#include "base/error.h"
#include "net/pending_connections.h"
#include "net/tcp_stream.h"
#include "system/errno_text.h"

namespace tinyot::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Clock = std::chrono::steady_clock;
using boost::system::error_code;

constexpr auto kRetryInterval = std::chrono::milliseconds(50);

tcp::resolver::results_type resolve(asio::io_context& io, const Address& address) {
  error_code error;
  auto found = tcp::resolver(io).resolve(address.host, address.port, error);
  if (error) throw NetworkError("cannot resolve " + text_of(address) + ": " + error.message());
  return found;
}

std::string within_connect_timeout(const TcpTimeouts& timeouts) {
  return " within the connect timeout of " + seconds_of(timeouts.connect);
}

// The time at which a wait until `until` checks the token next.
Clock::time_point next_check(Clock::time_point until, const std::stop_token& cancel) {
  if (cancel.stop_requested()) throw Cancelled();
  return cancel.stop_possible() ? std::min(until, Clock::now() + kCancelTime) : until;
}

std::unique_ptr<TcpStream> connect_socket(const Address& address, const TcpTimeouts& timeouts,
                                          const std::stop_token& cancel) {
  auto io = std::make_unique<asio::io_context>();
  const auto endpoints = resolve(*io, address);
  const auto deadline = Clock::now() + timeouts.connect;
  std::string why = "no answer";
  for (;;) {
    tcp::socket socket(*io);
    error_code result = asio::error::would_block;
    asio::async_connect(socket, endpoints,
                        [&](const error_code& error, const tcp::endpoint&) { result = error; });
    io->restart();
    while (result == asio::error::would_block && Clock::now() < deadline)
      io->run_until(next_check(deadline, cancel));
    // A connection to a port without a listener can reach itself if that port is also chosen as the
    // local one.
    error_code local, remote;
    if (!result && socket.local_endpoint(local) == socket.remote_endpoint(remote))
      result = asio::error::connection_refused;
    if (!result)
      return std::make_unique<TcpStream>(std::move(io), std::move(socket), timeouts.idle);
    if (result == asio::error::would_block) {
      error_code ignored;
      socket.close(ignored);
      io->restart();
      io->run();
    } else {
      why = result.message();
    }
    if (Clock::now() + kRetryInterval >= deadline)
      throw NetworkError("no connection to " + text_of(address) + within_connect_timeout(timeouts) +
                             ": " + why +
                             "; check that the peer listens there, and that its command has not "
                             "ended with an error",
                         {}, Remedy::AllowLongerConnect);
    std::this_thread::sleep_for(kRetryInterval);
  }
}

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
  const bool is_number = !address.port.empty() && stop == end;
  if (!address.host.empty() && is_number && (error != std::errc() || port > 65535))
    throw UsageError("the port of '" + text + "' is not within 0 to 65535");
  if (address.host.empty() || !is_number)
    throw UsageError("'" + text +
                     "' is not an address: write HOST:PORT, for example 127.0.0.1:7766");
  return address;
}

std::string text_of(const Address& address) {
  const bool is_v6 = address.host.find(':') != std::string::npos;
  return (is_v6 ? "[" + address.host + "]" : address.host) + ":" + address.port;
}

bool is_loopback(const Address& address) {
  error_code error;
  const auto literal = asio::ip::make_address(address.host, error);
  return error ? address.host == "localhost" : literal.is_loopback();
}

// Linux lets a listener with SO_REUSEADDR bind the port of another socket that has this option and
// does not listen, and assigns such a port neither to bind(0) nor to connect().
LoopbackPort::LoopbackPort()
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), address_{"127.0.0.1", {}} {
  const int yes = 1;
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof name;
  auto* const generic = reinterpret_cast<sockaddr*>(&name);
  if (!socket_.is_open() ||
      ::setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
      ::bind(socket_.get(), generic, size) != 0 ||
      ::getsockname(socket_.get(), generic, &size) != 0)
    throw NetworkError("no port of 127.0.0.1 is free: " + system::errno_text());
  address_.port = std::to_string(ntohs(name.sin_port));
}

struct TcpListener::State {
  // The next new connection; null if there is none.
  std::unique_ptr<TcpStream> accept_waiting() {
    auto stream_io = std::make_unique<asio::io_context>();  // the stream may outlive the listener
    tcp::socket socket(*stream_io);
    error_code error;
    acceptor.accept(socket, error);
    if (error == asio::error::would_block || error == asio::error::try_again ||
        error == asio::error::connection_aborted)
      return nullptr;
    if (error)
      throw NetworkError("accepting on " + text_of(address) + " failed: " + error.message());
    return std::make_unique<TcpStream>(std::move(stream_io), std::move(socket), timeouts.idle);
  }

  Address address;
  TcpTimeouts timeouts;
  PendingConnections pending;
  asio::io_context io = {};
  tcp::acceptor acceptor = tcp::acceptor(io);
};

TcpListener::TcpListener(const Address& address, const TcpTimeouts& timeouts, RejectionLog log)
    : state_(new State{address, timeouts, PendingConnections(timeouts.admission, std::move(log))}) {
  tcp::acceptor& acceptor = state_->acceptor;
  const auto endpoint = resolve(state_->io, address).begin()->endpoint();
  error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) acceptor.non_blocking(true, error);
  if (error)
    throw NetworkError("cannot listen on " + text_of(address) + ": " + error.message() +
                       "; choose another port or address");
}

TcpListener::~TcpListener() = default;

std::unique_ptr<ByteStream> TcpListener::accept(const Admission& admission,
                                                const std::stop_token& cancel) {
  const auto give_up = Clock::now() + state_->timeouts.connect;
  for (;;) {
    if (auto stream = state_->accept_waiting()) state_->pending.add(std::move(stream), admission);
    if (auto admitted = state_->pending.admit()) return admitted;
    if (Clock::now() >= give_up)
      throw state_->pending.timed_out("no peer connected to " + text_of(state_->address) +
                                      within_connect_timeout(state_->timeouts));
    state_->pending.wait(state_->acceptor.native_handle(), next_check(give_up, cancel));
  }
}

std::unique_ptr<ByteStream> tcp_connect(const Address& address, const TcpTimeouts& timeouts,
                                        const Admission& admission, const std::stop_token& cancel) {
  auto stream = connect_socket(address, timeouts, cancel);
  TcpStream& socket = *stream;  // owned by `pending` from here on
  const auto until = Clock::now() + timeouts.admission;
  const auto pending = admission.begin(std::move(stream), Side::Connects);
  try {
    do {
      if (auto admitted = pending->advance()) return admitted;
    } while (socket.wait_readable(next_check(until, cancel)) || Clock::now() < until);
  } catch (const NetworkError& error) {
    throw NetworkError("at " + text_of(address) + ": " + error.what(), error.phase(),
                       error.remedy());
  }
  throw NetworkError("the peer at " + text_of(address) + " did not authenticate within " +
                     seconds_of(timeouts.admission));
}

}  // namespace tinyot::net
