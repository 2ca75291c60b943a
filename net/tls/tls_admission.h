// TLS 1.3 between two parties that have pinned each other's public keys: one suite (AES-128-GCM),
// one key exchange (X25519MLKEM768 if both sides have OpenSSL 3.5 or later, or else X25519), no
// tickets and so no resumption. Handshake, keys and records are OpenSSL's (tls_stream.h).
//
// Each side presents a certificate and proves possession of its key. Both apply the same rule: the
// key's fingerprint is the pinned one, and the certificate is valid now. The binding
// (ByteStream::binding) is an exported secret of the connection (RFC 8446, label
// "EXPORTER-tinyot-session") and both fingerprints, the listening side's first.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "net/admission.h"
#include "net/tls/identity.h"

namespace tinyot::net {

class TlsAdmission final : public Admission {
 public:
  // The maximum number of records encrypted under one key. AES-GCM's limit is 2^24.5 full records
  // (RFC 8446, 5.5).
  static constexpr std::uint64_t kRecordsPerKey = std::uint64_t{1} << 23;

  TlsAdmission(const Identity& mine, const Fingerprint& peers,
               std::uint64_t records_per_key = kRecordsPerKey);
  // In place of `before`, once the certificate of this party has been renewed. `mine` has the same
  // key.
  TlsAdmission(const Identity& mine, const TlsAdmission& before);
  ~TlsAdmission() override;

  // The pending stream fails with NetworkError; if the key is not the pinned one, the message has
  // both fingerprints and the certificate's dates.
  std::unique_ptr<PendingStream> begin(std::unique_ptr<TcpStream> stream, Side side) const override;

  const Fingerprint& mine() const;
  const Fingerprint& peer() const;
  // In PEM, of this party.
  const std::string& certificate() const;
  // Until when it is valid.
  Identity::Clock::time_point valid_until() const;
  // The same of the certificate that the peer has presented last; nothing before its first
  // connection.
  std::optional<Identity::Clock::time_point> peer_valid_until() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tinyot::net
