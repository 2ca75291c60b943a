// A TLS 1.3 handshake of OpenSSL's over one TCP connection, as far as it gets without waiting. When it is complete, a TlsStream carries
// on with the secrets that it has agreed on.
#pragma once

#include <exception>
#include <string>

#include "net/admission.h"
#include "net/openssl.h"
#include "net/tls_stream.h"

namespace tinyot {

class TlsHandshake final : public PendingStream {
 public:
  TlsHandshake(SSL_CTX& context, const TlsSettings& settings, std::unique_ptr<TcpStream> tcp, Side side);

  std::unique_ptr<ByteStream> advance() override;

  // For OpenSSL, none of which throws. The rule on certificates:
  bool accepts(const X509& certificate) noexcept;
  // The bytes of the connection; false if there are none yet, or at a failure, which is kept:
  bool read_bytes(std::span<std::byte> bytes, std::size_t& count) noexcept;
  bool write_bytes(std::span<const std::byte> bytes) noexcept;
  bool failed() const { return failure_ != nullptr; }
  // A line of a key log, by which OpenSSL hands a connection's secrets out:
  void take_secret(const char* line) noexcept;

 private:
  bool begins_as_tls();
  std::vector<std::byte> binding() const;
  [[noreturn]] void fail(int error);
  void drop_unread();

  const TlsSettings settings_;
  std::unique_ptr<TcpStream> tcp_;
  const Side side_;
  SslPtr ssl_;
  TlsSecrets secrets_;
  bool judged_ = false;         // the first bytes look like TLS
  std::exception_ptr failure_;  // of the connection below, on its way through OpenSSL
  std::string refusal_;         // why the certificate is not accepted
};

}  // namespace tinyot
