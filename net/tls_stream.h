// One TLS connection over one TCP connection: its handshake, and then the ByteStream that it carries.
#pragma once

#include <array>
#include <exception>

#include "net/admission.h"
#include "net/identity.h"
#include "net/openssl.h"
#include "net/tcp_stream.h"

namespace tinyot {

// What is alike in all connections of a party.
struct TlsSettings {
  Fingerprint mine;
  Fingerprint peers;
  std::uint64_t records_per_key;
};

class TlsStream final : public ByteStream {
 public:
  TlsStream(SSL_CTX& context, const TlsSettings& settings, std::unique_ptr<TcpStream> tcp, Side side);
  // Says goodbye, if that takes no waiting.
  ~TlsStream() override;

  // Goes on as far as it can without waiting; true once the handshake is complete. Fails: NetworkError.
  bool shake_hands();

  void write(std::span<const std::byte> bytes, std::span<const std::byte> more) override;
  using ByteStream::write;
  void read(std::span<std::byte> bytes) override;
  void flush() override { tcp_->flush(); }
  std::vector<std::byte> binding() const override { return binding_; }
  void set_deadline(std::chrono::steady_clock::time_point deadline) noexcept override { tcp_->set_deadline(deadline); }

  // For OpenSSL: the rule on certificates. Never throws.
  bool accepts(const X509& certificate) noexcept;
  // For OpenSSL: the bytes of the connection; false if there are none yet (a read during the handshake), or at a failure, which is
  // kept. Never throw.
  bool read_cipher(std::span<std::byte> bytes, std::size_t& count) noexcept;
  bool write_cipher(std::span<const std::byte> bytes) noexcept;
  bool failed() const { return failure_ != nullptr; }

 private:
  bool begins_as_tls();
  void bind();
  template <class Operation>
  bool perform(const Operation& operation);
  [[noreturn]] void fail(int error);
  void drop_unread();
  void put(std::span<const std::byte> bytes);
  void send_out();
  void take_in(std::span<std::byte> bytes);

  const TlsSettings settings_;
  std::unique_ptr<TcpStream> tcp_;
  Side side_;
  SslPtr ssl_;
  bool complete_ = false;  // the handshake is
  bool broken_ = false;    // OpenSSL must not be asked for anything any more
  bool heard_ = false;     // something has come from the peer after the handshake
  bool judged_ = false;    // the first bytes look like TLS
  std::exception_ptr failure_;  // of the connection below, on its way through OpenSSL
  std::string refusal_;         // why the certificate is not accepted
  std::vector<std::byte> binding_;
  std::vector<std::byte> record_;      // the first one of a write, gathered
  std::vector<std::byte> cipher_out_;  // records that leave together
  bool gathers_ = false;               // more of them are coming
  std::vector<std::byte> cipher_in_;   // what has come, from cipher_begin_ to cipher_end_
  std::size_t cipher_begin_ = 0, cipher_end_ = 0;
  std::uint64_t records_ = 0;          // under the present key
};

}  // namespace tinyot
