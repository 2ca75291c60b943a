// Two ends of a stream over loopback, over TCP or TLS.
#pragma once

#include <future>

#include "net/tcp.h"
#include "net/tls/identity.h"
#include "net/tls/tls_admission.h"
#include "net/transport_stream.h"
#include "tests/net/raw_peer.h"
#include "tests/support/layers.h"
#include "tests/support/ports.h"
#include "tests/support/socket_transport.h"

namespace tinyot::test {

using namespace std::chrono_literals;

inline constexpr TcpTimeouts kLongTimeouts{10s, 10s};

inline Address free_address() { return {"127.0.0.1", reserved_port()}; }
// A party's identity, generated once.
inline const Identity& identity_of(Side side) {
  static const Identity kListens = Identity::generate(), kConnects = Identity::generate();
  return side == Side::Listens ? kListens : kConnects;
}
inline Side other(Side side) { return side == Side::Listens ? Side::Connects : Side::Listens; }

// Each party has pinned the other's key.
inline const TlsAdmission& tls_of(Side side) {
  static const TlsAdmission kListens(identity_of(Side::Listens),
                                     identity_of(Side::Connects).fingerprint());
  static const TlsAdmission kConnects(identity_of(Side::Connects),
                                      identity_of(Side::Listens).fingerprint());
  return side == Side::Listens ? kListens : kConnects;
}

enum class Layer { Tcp, Tls, Transport };

inline std::string name_of(Layer layer) {
  return layer == Layer::Tcp ? "Tcp" : layer == Layer::Tls ? "Tls" : "Transport";
}

inline const Admission& admission_of(Layer layer, Side side) {
  return layer == Layer::Tls ? static_cast<const Admission&>(tls_of(side)) : open_admission();
}

struct StreamPair {
  // The timeouts are those of b, which connects.
  explicit StreamPair(Layer layer, const TcpTimeouts& timeouts = kLongTimeouts) {
    if (layer == Layer::Transport) {
      const auto [of_a, of_b] = socket_pair();
      a = make_transport_stream(std::make_unique<SocketTransport>(of_a), kLongTimeouts.idle);
      b = make_transport_stream(std::make_unique<SocketTransport>(of_b), timeouts.idle);
      return;
    }
    connect(admission_of(layer, Side::Listens), admission_of(layer, Side::Connects), timeouts);
  }
  StreamPair(const Admission& of_a, const Admission& of_b,
             const TcpTimeouts& timeouts = kLongTimeouts) {
    connect(of_a, of_b, timeouts);
  }
  std::unique_ptr<ByteStream> a, b;

 private:
  void connect(const Admission& of_a, const Admission& of_b, const TcpTimeouts& timeouts) {
    const Address address = free_address();
    auto listening = std::async(std::launch::async,
                                [&] { return TcpListener(address, kLongTimeouts).accept(of_a); });
    b = tcp_connect(address, timeouts, of_b);
    a = listening.get();
  }
};

}  // namespace tinyot::test
