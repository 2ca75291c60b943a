// How a party connects to its peer: what a public Endpoint (tinyot/endpoint.h) refers to.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "net/tcp.h"
#include "net/tls/tls_admission.h"
#include "tinyot/endpoint.h"

namespace tinyot {
namespace engine {

struct PeerOptions {
  bool listen = true;
  net::Address address;
  net::TcpTimeouts timeouts{};
  std::shared_ptr<const net::TlsAdmission> tls = nullptr;  // null: plain TCP
  net::RejectionLog rejected = {};                         // may be empty
  // Opens a stream provided by the caller for each connection, instead of connecting to `address`.
  std::function<std::unique_ptr<net::ByteStream>()> open_stream = {};
  bool plaintext_allowed = false;

  // The peer's fingerprint, as recorded in stores; empty over plain TCP.
  std::string peer() const { return tls ? text_of(tls->peer()) : std::string(); }
};

Endpoint endpoint_with(PeerOptions options);
// Without a peer, if the endpoint names none.
const PeerOptions& options_of(const Endpoint& endpoint);

// TLS between the key of this party, in `key_file`, and the peer's: a fingerprint, or @FILE with it
// or with the peer's certificate. Fails: UsageError.
void authenticate(PeerOptions& options, const std::string& key_file, const std::string& peers_key);

// Fails: UsageError if there is no peer, or the parties do not authenticate each other although the
// address is not a loopback address and plaintext is not allowed.
void require_usable(const PeerOptions& options);

}  // namespace engine

struct Endpoint::State {
  engine::PeerOptions options;
};

}  // namespace tinyot
