// One TLS 1.3 connection of OpenSSL's over one TCP connection: its handshake, and then the
// ByteStream that it carries.
//
// OpenSSL works in memory: it takes records from TlsWire::in and puts records into TlsWire::out,
// and all waiting happens outside of it. Records leave, and arrive, up to 1 MiB at a time.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include "base/secret.h"
#include "net/tcp_stream.h"
#include "net/tls/identity.h"
#include "net/tls/openssl.h"
#include "net/tls/tls_wire.h"

namespace tinyot::net {

enum class Side;

// What is alike in all connections of a party.
struct TlsSettings {
  Fingerprint mine;
  Fingerprint peers;
  std::uint64_t records_per_key;
};

class TlsStream final : public ByteStream {
 public:
  TlsStream(SSL_CTX& context, const TlsSettings& settings, std::unique_ptr<TcpStream> tcp,
            Side side);
  // Sends close_notify, if that takes no waiting.
  ~TlsStream() override;

  // Goes on as far as it can without waiting; true once the handshake is complete, from when on the
  // stream can be used. Fails: NetworkError.
  bool shake_hands();

  // A write or read that failed for the idle timeout or the deadline leaves the connection in
  // order: what has been written is on its way, and nothing is sent twice. Any other failure is
  // final.
  void write(std::span<const std::byte> bytes, std::span<const std::byte> more) override;
  using ByteStream::write;
  void read(std::span<std::byte> bytes) override;
  void flush() override { tcp_->flush(); }
  std::span<const std::byte> binding() const override { return binding_; }
  void set_deadline(std::chrono::steady_clock::time_point deadline) noexcept override {
    tcp_->set_deadline(deadline);
  }

  // For OpenSSL: the rule on certificates. Never throws.
  bool accepts(const X509& certificate) noexcept;

 private:
  bool begins_as_tls();
  void bind();
  void encrypt(std::span<const std::byte> bytes);
  std::size_t decrypt_ready(std::span<std::byte> bytes);
  void send_out();
  void check_usable() const;
  [[noreturn]] void fail(int error);
  [[noreturn]] void fail_cut(const ConnectionClosed& closed);
  std::string hint_of_pins() const;
  std::string hint_if_unheard() const;
  void drop_unread();

  const TlsSettings settings_;
  std::unique_ptr<TcpStream> tcp_;
  const Side side_;
  TlsWire wire_;
  SslPtr ssl_;
  bool judged_ = false;            // the first bytes look like TLS
  bool complete_ = false;          // the handshake is
  bool heard_ = false;             // application data have come
  std::string refusal_;            // why the certificate is not accepted
  std::exception_ptr unexpected_;  // of accepts()
  std::string failure_;            // of the connection, final
  std::uint64_t records_left_;     // to be encrypted under the present key
  SecretVector<std::byte> binding_;
  SecretVector<std::byte> record_;  // the first record of a write, gathered
  std::vector<std::byte> received_;
};

}  // namespace tinyot::net
