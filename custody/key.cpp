#include "custody/key.h"

#include <algorithm>
#include <charconv>

#include "base/hex.h"
#include "crypto/random_oracle.h"

namespace tinyot::custody {
namespace {

constexpr std::size_t kLabelMax = 64, kCkaIdMax = 64;

bool is_label_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || c == '/';
}

ErrorClass class_of(KeyProblem problem) {
  switch (problem) {
    case KeyProblem::Differs:
    case KeyProblem::NotAtPeer:
    case KeyProblem::NoEpoch:
    case KeyProblem::CheckFailed:
      return ErrorClass::Disagreement;
    case KeyProblem::NoShare:
      return ErrorClass::Store;
    default:
      return ErrorClass::Usage;
  }
}

// Texts are preceded by their lengths, so the encoding is unambiguous.
void absorb(crypto::RandomOracle& oracle, std::string_view text) {
  oracle.absorb_object(static_cast<std::uint64_t>(text.size()))
      .absorb(std::as_bytes(std::span(text)));
}

void absorb(crypto::RandomOracle& oracle, const KeyAttributes& attributes) {
  const KeyId parent = attributes.parent.value_or(KeyId{});
  oracle.absorb_object(attributes.id.bytes)
      .absorb_object(attributes.version)
      .absorb_object(static_cast<std::uint8_t>(attributes.key_class))
      .absorb_object(static_cast<std::uint8_t>(attributes.algorithm))
      .absorb_object(static_cast<std::uint8_t>(attributes.nonces))
      .absorb_object(static_cast<std::uint8_t>(attributes.origin))
      .absorb_object(static_cast<std::uint8_t>(attributes.parent ? 1 : 0))
      .absorb_object(parent.bytes);
  absorb(oracle, attributes.label);
  absorb(oracle, attributes.cka_id);
}

}  // namespace

std::string text_of(const KeyId& id) { return hex_of(id.bytes); }

std::optional<KeyId> key_id_from(std::string_view text) {
  KeyId id;
  if (!parse_hex(text, id.bytes)) return std::nullopt;
  return id;
}

std::string name_of(KeyAlgorithm algorithm) {
  switch (algorithm) {
    case KeyAlgorithm::Aes128:
      return "aes128";
    case KeyAlgorithm::Aes256:
      return "aes256";
    case KeyAlgorithm::HmacSha256:
      return "hmac_sha256";
  }
  return "unknown";
}

std::string name_of(KeyClass key_class) {
  switch (key_class) {
    case KeyClass::Aead:
      return "aead";
    case KeyClass::Mac:
      return "mac";
    case KeyClass::Kdf:
      return "kdf";
  }
  return "unknown";
}

std::string name_of(NonceMode mode) { return mode == NonceMode::Joint ? "joint" : "caller"; }

std::string name_of(KeyOrigin origin) {
  switch (origin) {
    case KeyOrigin::Generated:
      return "generated";
    case KeyOrigin::Derived:
      return "derived";
    case KeyOrigin::Imported:
      return "imported";
  }
  return "unknown";
}

std::string name_of(KeyState state) {
  switch (state) {
    case KeyState::Pending:
      return "pending";
    case KeyState::Active:
      return "active";
    case KeyState::Deactivated:
      return "deactivated";
    case KeyState::Suspended:
      return "suspended";
    case KeyState::Restored:
      return "restored";
    case KeyState::Destroyed:
      return "destroyed";
  }
  return "unknown";
}

std::string text_of(const Epoch& epoch) {
  return std::to_string(epoch.number) + "-" + hex_of(epoch.tag);
}

std::optional<Epoch> epoch_from(std::string_view text) {
  const std::size_t dash = text.find('-');
  Epoch epoch;
  const char* const end = text.data() + std::min(dash, text.size());
  const auto read = std::from_chars(text.data(), end, epoch.number);
  if (dash == std::string_view::npos || read.ec != std::errc() || read.ptr != end ||
      !parse_hex(text.substr(dash + 1), epoch.tag) || text_of(epoch) != text)
    return std::nullopt;
  return epoch;
}

void require_valid(const KeyAttributes& attributes) {
  const auto refuse = [&](const std::string& why) {
    throw UsageError("key " + text_of(attributes.id) + ": " + why);
  };
  if (attributes.label.empty() || attributes.label.size() > kLabelMax ||
      !std::ranges::all_of(attributes.label, is_label_character))
    refuse("a label has 1 to 64 of the characters a-z, A-Z, 0-9, '-', '_', '.' and '/'");
  if (key_id_from(attributes.label))
    refuse("a label is not 32 hex digits, as the name of a key is");
  if (attributes.version == 0) refuse("versions are counted from 1");
  if (attributes.cka_id.size() > kCkaIdMax) refuse("CKA_ID has at most 64 bytes");
  const bool is_hmac = attributes.algorithm == KeyAlgorithm::HmacSha256;
  if (is_hmac && attributes.key_class != KeyClass::Mac)
    refuse("a key of hmac_sha256 is of class mac, not " + name_of(attributes.key_class));
  if (attributes.nonces == NonceMode::Caller && attributes.key_class != KeyClass::Aead)
    refuse("a key of class " + name_of(attributes.key_class) + " has no nonces");
  if (attributes.parent.has_value() != (attributes.origin == KeyOrigin::Derived))
    refuse("a derived key has a parent, and no other key has one");
}

crypto::Digest digest_of(const KeyAttributes& attributes) {
  crypto::RandomOracle oracle(SessionId{}, {"key attributes", '*', 0});
  absorb(oracle, attributes);
  return oracle.digest();
}

crypto::Digest fingerprint_of(const KeyAttributes& attributes, const CheckValue& check) {
  crypto::RandomOracle oracle(SessionId{}, {"key fingerprint", '*', 0});
  absorb(oracle, attributes);
  return oracle.absorb(check).digest();
}

KeyError::KeyError(KeyProblem problem, const std::string& message)
    : Error(class_of(problem), message), problem_(problem) {}

}  // namespace tinyot::custody
