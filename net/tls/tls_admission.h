// TLS 1.3 between two parties that know each other's public keys: one suite (AES-128-GCM), one key
// exchange (X25519), no tickets and so no resumption, and certificates that stand for their keys
// alone. Handshake, keys and records are OpenSSL's (tls_stream.h).
//
// Each side shows a certificate and proves that it has its key. The rule is the same on both: the
// key's fingerprint is the pinned one, and the certificate is valid now. What a session is bound to
// (ByteStream::binding) is an exported secret of the connection (RFC 8446, label
// "EXPORTER-tinyot-session") and both fingerprints, the listening side's first.
#pragma once

#include <cstdint>
#include <memory>

#include "net/admission.h"
#include "net/tls/identity.h"

namespace tinyot::net {

class TlsAdmission final : public Admission {
 public:
  // A key encrypts so many records at most. AES-GCM's margin is worn after 2^24.5 full ones (RFC
  // 8446, 5.5).
  static constexpr std::uint64_t kRecordsPerKey = std::uint64_t{1} << 23;

  TlsAdmission(const Identity& mine, const Fingerprint& peers,
               std::uint64_t records_per_key = kRecordsPerKey);
  ~TlsAdmission() override;

  // Of the pending stream, Fails: NetworkError, for another key with both fingerprints and the
  // certificate's dates.
  std::unique_ptr<PendingStream> begin(std::unique_ptr<TcpStream> stream, Side side) const override;

  const Fingerprint& peer() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tinyot::net
