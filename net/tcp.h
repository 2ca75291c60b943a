// TCP streams (Boost.Asio): one party listens, the other connects, in either order of starting.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "net/byte_stream.h"

namespace tinyot {

struct Address {
  std::string host;
  std::string port;
};

// Parses HOST:PORT; an IPv6 host stands in brackets. Fails: UsageError.
Address parse_address(const std::string& text);
std::string text_of(const Address& address);

struct TcpTimeouts {
  std::chrono::milliseconds connect;  // until a connection stands; a refused attempt is repeated until then
  std::chrono::milliseconds idle;     // without any byte moving either way
};

// Listens from its construction on. Fails: NetworkError (address in use or not ours).
class TcpListener {
 public:
  TcpListener(const Address& address, const TcpTimeouts& timeouts);
  ~TcpListener();

  // Waits for the next connection. Fails: NetworkError (nobody came within the connect timeout).
  std::unique_ptr<ByteStream> accept();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Connects. Fails: NetworkError (unknown host, nobody listens until the timeout).
std::unique_ptr<ByteStream> tcp_connect(const Address& address, const TcpTimeouts& timeouts);

}  // namespace tinyot
