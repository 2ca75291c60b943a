#include "crypto/random_oracle.h"

#include <cryptopp/misc.h>
#include <cryptopp/sha.h>

#include "base/declassify.h"
#include "base/error.h"
#include "base/secret.h"
#include "crypto/use_ledger.h"

namespace tinyot::crypto {

struct RandomOracle::State {
  CryptoPP::SHA256 hash;
};

RandomOracle::RandomOracle(const SessionId& session, const Domain& domain)
    : state_(std::make_unique<State>()) {
  note_use({UseKind::Oracle, bytes_of(session.bytes), static_cast<std::uint64_t>(domain.direction),
            domain.counter, 1, domain.phase.text()});
  static constexpr std::string_view kTag = "TinyOT RO v1";
  absorb(std::as_bytes(std::span(kTag)));
  absorb_object(static_cast<std::uint64_t>(domain.phase.text().size()));
  absorb(std::as_bytes(std::span(domain.phase.text())));
  absorb_object(session.bytes);
  absorb_object(domain.direction);
  absorb_object(domain.counter);
}

RandomOracle::~RandomOracle() = default;
RandomOracle::RandomOracle(RandomOracle&&) noexcept = default;
RandomOracle& RandomOracle::operator=(RandomOracle&&) noexcept = default;

RandomOracle& RandomOracle::absorb(std::span<const std::byte> bytes) {
  ENSURE(state_ != nullptr);
  state_->hash.Update(reinterpret_cast<const CryptoPP::byte*>(bytes.data()), bytes.size());
  return *this;
}

Digest RandomOracle::digest() {
  ENSURE(state_ != nullptr);
  Digest digest;
  state_->hash.Final(digest.bytes.data());
  state_.reset();
  return digest;
}

Block RandomOracle::block() {
  Digest full = digest();
  Block block;
  std::memcpy(&block, full.bytes.data(), sizeof block);
  wipe_object(full);
  return block;
}

Digest sha256(std::span<const std::byte> message) {
  Digest digest;
  CryptoPP::SHA256().CalculateDigest(
      digest.bytes.data(), reinterpret_cast<const CryptoPP::byte*>(message.data()), message.size());
  return digest;
}

bool equal_constant_time(const Digest& a, const Digest& b) {
  return declassified(CryptoPP::VerifyBufsEqual(a.bytes.data(), b.bytes.data(), a.bytes.size()));
}

}  // namespace tinyot::crypto
