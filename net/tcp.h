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

// Waits for one connection. Fails: NetworkError (address in use or not ours, nobody came).
std::unique_ptr<ByteStream> tcp_listen(const Address& address, const TcpTimeouts& timeouts);

// Connects. Fails: NetworkError (unknown host, nobody listens until the timeout).
std::unique_ptr<ByteStream> tcp_connect(const Address& address, const TcpTimeouts& timeouts);

}  // namespace tinyot
