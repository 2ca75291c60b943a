// An end of a TLS connection driven directly through OpenSSL, which may deviate from TlsStream.
#pragma once

#include <openssl/ssl.h>

#include <csignal>
#include <functional>

#include "net/tls/certificate.h"
#include "tests/net/stream_pair.h"
#include "tests/support/layers.h"
#include "tests/support/sockets.h"

namespace tinyot::test {

inline void use(SSL_CTX* context, const Identity& identity) {
  SSL_CTX_use_certificate(context, identity.parts().certificate.get());
  SSL_CTX_use_PrivateKey(context, identity.parts().key.get());
}

// Accepts any peer.
class RawTls {
 public:
  using Configure = std::function<void(SSL_CTX*)>;

  explicit RawTls(const Configure& configure) : context_(SSL_CTX_new(TLS_method())) {
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes to a socket that the peer has closed
    SSL_CTX_set_security_level(context_.get(), 0);
    configure(context_.get());
  }
  // True once the client's handshake is complete; the server may still reject the client.
  bool connect(const Address& address) {
    adopt(connect_to(address.port));
    return SSL_connect(ssl()) == 1;
  }
  bool accept(Socket socket) {
    adopt(std::move(socket));
    return SSL_accept(ssl()) == 1;
  }
  SSL* ssl() const { return ssl_.get(); }
  const Socket& socket() const { return socket_; }

  // Whether the message could be sent.
  bool send_key_update(int type) const {
    return SSL_key_update(ssl(), type) == 1 && SSL_do_handshake(ssl()) == 1;
  }

 private:
  void adopt(Socket socket) {
    socket_ = std::move(socket);
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_fd(ssl(), socket_.get());
  }

  SslContextPtr context_;
  Socket socket_;
  SslPtr ssl_;
};

// A raw client with the right key, and the listener's stream of the connection.
struct RightClient {
  explicit RightClient(
      std::uint64_t records_per_key = TlsAdmission::kRecordsPerKey,
      const RawTls::Configure& configure = [](SSL_CTX*) {},
      const TcpTimeouts& of_listener = kLongTimeouts)
      : client([&](SSL_CTX* context) {
          use(context, identity_of(Side::Connects));
          configure(context);
        }) {
    const Address address = free_address();
    auto listening = std::async(std::launch::async, [&] {
      const Fingerprint of_client = identity_of(Side::Connects).fingerprint();
      const TlsAdmission admission(identity_of(Side::Listens), of_client, records_per_key);
      return TcpListener(address, of_listener).accept(admission);
    });
    EXPECT_TRUE(client.connect(address));
    stream = listening.get();
  }
  // Reads what the listener sends.
  void read(std::size_t count) const {
    for (char byte = 0; count > 0; --count) ASSERT_EQ(SSL_read(client.ssl(), &byte, 1), 1);
  }
  RawTls client;
  std::unique_ptr<ByteStream> stream;
};

// The same with a raw server.
struct RightServer {
  RightServer() : server([](SSL_CTX* context) { use(context, identity_of(Side::Listens)); }) {
    auto connecting = std::async(std::launch::async, [&] {
      return tcp_connect({"127.0.0.1", listener.port()}, kLongTimeouts, tls_of(Side::Connects));
    });
    EXPECT_TRUE(server.accept(listener.accept(std::chrono::seconds(10))));
    stream = connecting.get();
  }
  Listener listener;
  RawTls server;
  std::unique_ptr<ByteStream> stream;
};

}  // namespace tinyot::test
