// Where a party finds its peer, and how each makes sure that it is the other.
#pragma once

#include <memory>
#include <string>

#include "net/tcp.h"
#include "net/tls/tls_admission.h"

namespace tinyot::engine {

struct Endpoint {
  bool listen = true;
  net::Address address;
  net::TcpTimeouts timeouts{};
  std::shared_ptr<const net::TlsAdmission> tls = nullptr;  // null: plain TCP
  net::RejectionLog rejected = {};                         // may be empty
  // Opens a stream of the caller's, in place of a connection to `address`, for each connection.
  std::function<std::unique_ptr<net::ByteStream>()> open_stream = {};

  // The peer's fingerprint, as stores keep it; empty over plain TCP, where it has none.
  std::string peer() const { return tls ? text_of(tls->peer()) : std::string(); }
};

}  // namespace tinyot::engine
