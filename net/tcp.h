// TCP streams (Boost.Asio): one party listens, the other connects; either may start first.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "net/admission.h"
#include "net/byte_stream.h"
#include "system/descriptor.h"

namespace tinyot::net {

struct Address {
  std::string host;
  std::string port;
};

// Parses HOST:PORT; an IPv6 host is in brackets. Fails: UsageError.
Address parse_address(const std::string& text);
std::string text_of(const Address& address);

// A literal loopback address, or localhost: only this machine can connect. Other names do not
// count, as their resolution may change.
bool is_loopback(const Address& address);

// A loopback address for a listener of this process or its children. While this object exists, the
// system assigns the port to no other program.
class LoopbackPort {
 public:
  // Fails: NetworkError if no port is free.
  LoopbackPort();
  const Address& address() const { return address_; }

 private:
  system::Descriptor socket_;  // bound, never listening
  Address address_;
};

struct TcpTimeouts {
  // until a connection is established; refused attempts are repeated
  std::chrono::milliseconds connect;
  std::chrono::milliseconds idle;  // without progress (idle_timer.h)
  // until a new connection is admitted
  std::chrono::milliseconds admission = std::chrono::seconds(5);
};

// A wait for the peer ends within this time after a stop is requested.
inline constexpr auto kCancelTime = std::chrono::milliseconds(100);

// Listens from its construction on. Fails: NetworkError (address in use or not local).
class TcpListener {
 public:
  TcpListener(
      const Address& address, const TcpTimeouts& timeouts,
      RejectionLog log = [](const std::string&, Remedy) {});
  ~TcpListener();

  // Waits for the next connection that is admitted. Up to PendingConnections::kPendingMax are
  // examined at a time, none delays another, and those that fail are rejected. Fails: NetworkError
  // (no connection admitted within the connect timeout); Cancelled within kCancelTime.
  std::unique_ptr<ByteStream> accept(const Admission& admission = open_admission(),
                                     const std::stop_token& cancel = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Connects. Fails: NetworkError (unknown host, no listener until the timeout, or the listener is
// not admitted); Cancelled within kCancelTime.
std::unique_ptr<ByteStream> tcp_connect(const Address& address, const TcpTimeouts& timeouts,
                                        const Admission& admission = open_admission(),
                                        const std::stop_token& cancel = {});

}  // namespace tinyot::net
