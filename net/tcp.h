// TCP streams (Boost.Asio): one party listens, the other connects, in either order of starting.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "net/admission.h"
#include "net/byte_stream.h"

namespace tinyot::net {

struct Address {
  std::string host;
  std::string port;
};

// Parses HOST:PORT; an IPv6 host stands in brackets. Fails: UsageError.
Address parse_address(const std::string& text);
std::string text_of(const Address& address);

// Nobody but this machine can speak there: a literal loopback address, or localhost. Other names
// may resolve to anything tomorrow.
bool is_loopback(const Address& address);

// An address of this machine at which nothing listened a moment ago.
Address free_loopback_address();

struct TcpTimeouts {
  // until a connection stands; a refused attempt is repeated until then
  std::chrono::milliseconds connect;
  std::chrono::milliseconds idle;  // without progress (idle_timer.h)
  // that a stranger has to show who it is
  std::chrono::milliseconds admission = std::chrono::seconds(5);
};

// Listens from its construction on. Fails: NetworkError (address in use or not ours).
class TcpListener {
 public:
  // Where a line goes for each stranger that is turned away: who and why.
  using Log = std::function<void(const std::string&)>;

  TcpListener(
      const Address& address, const TcpTimeouts& timeouts, Log log = [](const std::string&) {});
  ~TcpListener();

  // Waits for the next connection that is let in. Meanwhile strangers are turned away; a few are
  // looked at at a time, and none can keep the others waiting. Fails: NetworkError (nobody was let
  // in within the connect timeout).
  std::unique_ptr<ByteStream> accept(const Admission& admission = open_admission());

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Connects. Fails: NetworkError (unknown host, nobody listens until the timeout, somebody does who
// is not to be let in).
std::unique_ptr<ByteStream> tcp_connect(const Address& address, const TcpTimeouts& timeouts,
                                        const Admission& admission = open_admission());

}  // namespace tinyot::net
