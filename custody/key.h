// Keys of custody: what they are for, their attributes and their states. A key exists as two
// shares, k = k_A ^ k_B; neither party ever has it.
//
// A key has one class, because one use would give another: signing computes what derivation
// derives, and raw blocks open GCM. Its check value, which both parties know, is that of the class
// (circuitgen/generators/kept_keys.h).
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/secret.h"
#include "circuitgen/generators/kept_keys.h"
#include "crypto/digest.h"
#include "tinyot/error.h"

namespace tinyot::custody {

using circuit::KeyAlgorithm;

// 128 random bits, the same at both parties; of a derived key a hash of its attributes.
struct KeyId {
  std::array<std::byte, 16> bytes{};
  friend auto operator<=>(const KeyId&, const KeyId&) = default;
};
std::string text_of(const KeyId& id);  // 32 hex digits
std::optional<KeyId> key_id_from(std::string_view text);

// Aead: encrypt, decrypt. Mac: sign, verify. Kdf: derive.
enum class KeyClass : std::uint8_t { Aead = 1, Mac = 2, Kdf = 3 };
// Where the nonces of encryption come from: coins of both parties, or the client of the one party
// that may use the key, who could open what the other one has sealed.
enum class NonceMode : std::uint8_t { Joint = 1, Caller = 2 };
enum class KeyOrigin : std::uint8_t { Generated = 1, Derived = 2, Imported = 3 };

// "aes128", "aes256", "hmac_sha256"; "aead", "mac", "kdf"; "joint", "caller"; "generated" ...
std::string name_of(KeyAlgorithm algorithm);
std::string name_of(KeyClass key_class);
std::string name_of(NonceMode mode);
std::string name_of(KeyOrigin origin);

// They never change, and are the same at both parties.
struct KeyAttributes {
  KeyId id;
  std::string label;  // 1 to 64 of letters, digits, '-', '_', '.' and '/'; no KeyId
  std::uint32_t version = 1;
  KeyClass key_class = KeyClass::Aead;
  KeyAlgorithm algorithm = KeyAlgorithm::Aes256;
  NonceMode nonces = NonceMode::Joint;
  KeyOrigin origin = KeyOrigin::Generated;
  std::optional<KeyId> parent = {};  // of a derived key
  std::string cka_id = {};           // of PKCS#11: at most 64 bytes
  friend bool operator==(const KeyAttributes&, const KeyAttributes&) = default;
};
// Fails: UsageError for a label, class and algorithm, mode or origin that no key has.
void require_valid(const KeyAttributes& attributes);

// Of the attributes; and of these and the check value.
crypto::Digest digest_of(const KeyAttributes& attributes);
using CheckValue = std::array<std::byte, 16>;
crypto::Digest fingerprint_of(const KeyAttributes& attributes, const CheckValue& check);

// The shares of both parties belong together if they have the same epoch. The tag is tossed: it
// tells attempts apart that have the same number.
struct Epoch {
  std::uint64_t number = 0;
  std::array<std::byte, 16> tag{};
  friend auto operator<=>(const Epoch&, const Epoch&) = default;
};
// Two while a refresh is not settled, and one that has been restored beside them.
inline constexpr int kEpochsMax = 3;
// A number is counted up at each refresh.
inline constexpr std::uint64_t kEpochNumberMax = std::uint64_t{1} << 48;
std::string text_of(const Epoch& epoch);  // "3-" and 32 hex digits
std::optional<Epoch> epoch_from(std::string_view text);

enum class KeyState : std::uint8_t {
  Pending = 1,      // not settled yet, never used
  Active = 2,       //
  Deactivated = 3,  // decrypts and verifies
  Suspended = 4,    // until an officer resumes it
  Restored = 5,     // from a backup, and not settled yet
  Destroyed = 6,    // a tombstone: there is no share, and never will be
};
std::string name_of(KeyState state);

// More than any key is used. What others say of more counts as so many.
inline constexpr std::uint64_t kUseBoundMax = std::uint64_t{1} << 48;

// A share of a key: uniform by itself. As many bytes as the key.
using Share = SecretVector<std::byte>;

// Why a key cannot be used.
enum class KeyProblem : std::uint8_t {
  Unknown,      // this party has no such key
  State,        // its state does not allow the operation
  Use,          // its class has no such use
  Exists,       // there is a key with this id already
  Differs,      // attributes or check value are not those of the peer
  NotAtPeer,    // the peer has no share, or has destroyed its own
  NoEpoch,      // the parties have no epoch in common
  NoShare,      // the share of this party is erased
  CheckFailed,  // the shares are not those of the key
  Unbound,      // a party has another TLS key than its record was made with
};
class KeyError : public Error {
 public:
  KeyError(KeyProblem problem, const std::string& message);
  KeyProblem problem() const { return problem_; }

 private:
  KeyProblem problem_;
};

}  // namespace tinyot::custody
