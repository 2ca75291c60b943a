// Certificates of keys: what both parties have signed of a key that is active at both, for somebody
// who has neither a share nor a daemon. They outlast the connection, refreshes and restarts.
//
// A certificate is two statements, one of each party. It has no check value; but who guesses a key
// can compare its fingerprint, as the peer can the check value.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "custody/key_files.h"
#include "service/key_message.h"

namespace tinyot::service {

// No statement is a request, an answer or a line of a log, nor one of these a statement.
inline constexpr std::string_view kCertificateDomain = "tinyot certificate 1";
inline constexpr std::size_t kCertificateBytesMax = 8 << 10;

// What a party says of a key that is active there: keys.Certified.
struct KeyStatement {
  custody::KeyAttributes attributes;
  crypto::Digest fingerprint;   // of attributes and check value
  custody::RequestId making{};  // the request that made it
  std::chrono::system_clock::time_point time;
};
KeyStatement statement_of(const custody::KeyRecord& record,
                          std::chrono::system_clock::time_point now);
// Whether both are of the same key; the times are each party's own.
bool is_of_same_key(const KeyStatement& one, const KeyStatement& other);

// From this party to the peer.
SignedMessage signed_statement(const KeyStatement& statement, const KeyParties& parties,
                               const net::Identity& identity);
// From the peer to this party. Fails: BadKeyMessage.
KeyStatement statement_from(const SignedMessage& message, const KeyParties& parties);

struct KeyCertificate {
  KeyParties parties;
  SignedMessage own, peers;
};
// A file (custody/FORMAT.md).
std::vector<std::byte> file_of(const KeyCertificate& certificate);
// The statements that it has, and the parties that it names: nothing is verified. Fails:
// BadKeyMessage.
KeyCertificate certificate_from(std::span<const std::byte> file);
// What both parties have signed. `parties` are given by whoever trusts their keys. Fails:
// BadKeyMessage if one of them has not signed, or they have signed different things.
struct CertifiedKey {
  KeyStatement own, peers;
};
CertifiedKey verify_certificate(const KeyCertificate& certificate, const KeyParties& parties);

}  // namespace tinyot::service
