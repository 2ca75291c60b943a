// How a party connects to its peer, and how the two authenticate each other.
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
  // Opens a stream provided by the caller for each connection, instead of connecting to `address`.
  std::function<std::unique_ptr<net::ByteStream>()> open_stream = {};

  // The peer's fingerprint, as recorded in stores; empty over plain TCP.
  std::string peer() const { return tls ? text_of(tls->peer()) : std::string(); }
};

// TLS between the key of this party, in `key_file`, and the peer's: a fingerprint, or @FILE with it
// or with the peer's certificate. Fails: UsageError.
void authenticate(Endpoint& endpoint, const std::string& key_file, const std::string& peers_key);

// Fails: UsageError if the parties do not authenticate each other although the address is not a
// loopback address.
void require_authenticated(const Endpoint& endpoint);

}  // namespace tinyot::engine
