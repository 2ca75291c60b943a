// One TLS 1.3 connection (OpenSSL) over one TCP connection: its handshake, then its ByteStream.
//
// OpenSSL works in memory: it reads records from TlsWire::in and writes records to TlsWire::out;
// all waiting happens outside of it. Records are sent and received up to 1 MiB at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "base/secret.h"
#include "net/tcp_stream.h"
#include "net/tls/identity.h"
#include "net/tls/openssl.h"
#include "net/tls/tls_wire.h"

namespace tinyot::net {

enum class Side;

// Common to all connections of a party.
struct TlsSettings {
  Fingerprint mine;
  Fingerprint peers;
  std::uint64_t records_per_key;
  // Until when the certificate of the last peer that was admitted is valid, in seconds since 1970;
  // 0: none yet.
  std::shared_ptr<std::atomic<std::int64_t>> peers_end;
};

class TlsStream final : public ByteStream {
 public:
  TlsStream(SSL_CTX& context, const TlsSettings& settings, std::unique_ptr<TcpStream> tcp,
            Side side);
  // Sends close_notify if that is possible without waiting.
  ~TlsStream() override;

  // Proceeds as far as possible without waiting; true once the handshake is complete and the stream
  // can be used. Fails: NetworkError.
  bool shake_hands();

  // After a write or read that failed because of the idle timeout or the deadline, the connection
  // stays usable: no record is lost or sent twice. Any other failure is final.
  void write(std::span<const std::byte> bytes, std::span<const std::byte> more) override;
  using ByteStream::write;
  void read(std::span<std::byte> bytes) override;
  void flush() override { tcp_->flush(); }
  bool has_ended() override { return tcp_->has_ended(); }
  void limit_rate(std::uint64_t bytes_per_s) override { tcp_->limit_rate(bytes_per_s); }
  std::span<const std::byte> binding() const override { return binding_; }
  void set_deadline(std::chrono::steady_clock::time_point deadline) noexcept override {
    tcp_->set_deadline(deadline);
  }

  // OpenSSL's callback: X509_V_OK if the certificate is valid and its key the pinned one; otherwise
  // the error of which OpenSSL makes the alert for the peer. Never throws.
  int check(const X509& certificate) noexcept;

 private:
  bool begins_as_tls();
  void bind();
  void note_peers_end() const;
  void encrypt(std::span<const std::byte> bytes);
  std::size_t decrypt_ready(std::span<std::byte> bytes);
  void send_out();
  void check_usable() const;
  [[noreturn]] void fail(int error);
  [[noreturn]] void fail_cut(const ConnectionClosed& closed);
  std::string reason_of_alert(int alert) const;
  std::string pin_hint() const;
  std::string pin_hint_if_no_data() const;
  void drop_unread();

  const TlsSettings settings_;
  std::unique_ptr<TcpStream> tcp_;
  const Side side_;
  TlsWire wire_;
  SslPtr ssl_;
  bool first_bytes_checked_ = false;  // and found to be TLS
  bool complete_ = false;             // the handshake is complete
  bool data_received_ = false;        // application data
  std::string refusal_;               // why the certificate was rejected
  Remedy remedy_ = Remedy::None;      // of refusal_
  std::exception_ptr unexpected_;     // of accepts()
  std::string failure_;               // of the connection, final
  std::uint64_t records_left_;        // until the next key update
  SecretVector<std::byte> binding_;
  SecretVector<std::byte> record_;  // plaintext of the first record of a write
  std::vector<std::byte> received_;
  bool is_full_ = false;  // the last data filled `received_`
};

}  // namespace tinyot::net
