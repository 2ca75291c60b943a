// The identity of a party on the network: a private key and a self-signed certificate. The peer
// identifies it by the fingerprint of its public key alone: names and signatures in certificates
// are ignored.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/secret.h"

namespace tinyot::net {

// SHA-256 of a public key as encoded in certificates (SubjectPublicKeyInfo, DER).
struct Fingerprint {
  std::array<std::uint8_t, 32> bytes{};
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};
// "sha256:" and 64 hex digits; parsing accepts them without the prefix.
std::string text_of(const Fingerprint& fingerprint);
std::optional<Fingerprint> parse_fingerprint(std::string_view text);

// Of the first certificate in PEM; nothing if there is none.
std::optional<Fingerprint> certificate_fingerprint(std::string_view pem);

class Identity {
 public:
  using Clock = std::chrono::system_clock;
  static constexpr std::chrono::days kTenYears{3652};

  // A new Ed25519 key with a certificate, whose validity begins one day ago to allow for clock
  // skew. Secret: the key.
  static Identity generate(Clock::time_point from = Clock::now() - std::chrono::days(1),
                           std::chrono::days valid = kTenYears);

  // From a private key (Ed25519 or P-256, not encrypted) and its certificate in PEM, in any order.
  // Fails: UsageError naming `file` and what is wrong with it.
  static Identity parse(std::string_view pem, const std::string& file);

  // The private key of parse() with a new certificate, whatever the one in the PEM is. Fails:
  // UsageError.
  static Identity renew(std::string_view pem, const std::string& file,
                        Clock::time_point from = Clock::now() - std::chrono::days(1),
                        std::chrono::days valid = kTenYears);

  Identity(Identity&&) noexcept;
  Identity& operator=(Identity&&) noexcept;
  ~Identity();

  const Fingerprint& fingerprint() const;
  // "2026-11-20 to 2036-11-18", of the certificate.
  std::string dates() const;
  bool is_valid_now() const;
  Clock::time_point valid_until() const;

  // Both in PEM, as parse() takes it. Secret.
  SecretVector<char> private_pem() const;
  std::string certificate_pem() const;

  struct Parts;
  const Parts& parts() const { return *parts_; }

 private:
  explicit Identity(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace tinyot::net
