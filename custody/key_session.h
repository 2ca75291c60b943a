// Keys that are loaded on one connection, and their uses. A loaded key is named by key, epoch,
// connection and run; a use compares the epoch with the record first, so nothing of an epoch that
// was dropped, or of a key that is suspended or destroyed, is used again.
//
// Nonces of keys of mode joint come from coins tossed on the connection: nothing about them is
// durable, so neither a crash nor an old disk repeats one.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "custody/custodian.h"

namespace tinyot::custody {

enum class KeyUse : std::uint8_t { Encrypt = 1, Decrypt = 2, Sign = 3, Verify = 4, Derive = 5 };
std::string name_of(KeyUse use);
// Whether a key of the class has the use, in the state. A key that is being refreshed has it, once
// it is settled. Fails: KeyError(Use, State, Unbound).
void require_use(const KeyRecord& record, KeyUse use);

using Nonce = std::array<std::byte, 12>;

// What both parties know of a use: compared before anything is evaluated.
struct UseTerms {
  RequestId request{};
  KeyId key = {};
  KeyUse use = KeyUse::Encrypt;
  Party requester = Party::A;
  std::uint32_t bytes = 0;                               // of the payload
  std::uint32_t aad_bytes = 0;                           // of encrypt and decrypt
  std::optional<std::vector<std::byte>> shown_aad = {};  // that the peer's policy sees
  std::optional<Nonce> nonce = {};                       // of encrypt with a key of mode caller
};

// The name of the circuit (circuitgen/generators/key_uses.h).
std::string circuit_of(const UseTerms& terms, const KeyAttributes& attributes);
// Fails: KeyError; UsageError for terms that make no sense for the key.
void require_terms(const UseTerms& terms, const KeyRecord& record);

// What the requester alone has.
struct UsePayload {
  SecretVector<std::byte> text;  // to encrypt, decrypt, sign or verify
  std::vector<std::byte> aad;    // unless it is shown
  Nonce nonce{};                 // of decrypt
  std::vector<std::byte> tag;    // of decrypt and verify
};

// Fails: UsageError for lengths that are not those of the terms and the key.
void require_payload(const UseTerms& terms, const UsePayload& payload,
                     const KeyAttributes& attributes);

// What the requester alone gets.
struct UseResult {
  Nonce nonce{};                 // of encrypt; both parties know it
  SecretVector<std::byte> text;  // ciphertext, or the message if the tag was right
  std::vector<std::byte> tag;    // of encrypt and sign
  bool is_valid = true;          // of decrypt and verify
};

// One per connection. use() and load() are called by one thread at a time; forget() by any.
class KeySession {
 public:
  // Both outlive it.
  KeySession(Custodian& custodian, KeyPeer& peer) : custodian_(custodian), peer_(peer) {}

  // Role: both, at the same time, with the same terms; `payload` is the requester's, null at the
  // other party. Loads the key if this connection has not. Fails: KeyError; UsageError for a
  // payload that is not as the terms say; as KeyPeer.
  //
  // Both parties have to load the key, or both not. `is_loaded`: what one of them has said of its
  // has_loaded(), since an officer of either may have had the key forgotten; absent: no officer
  // interferes. Fails: NetworkError if nothing is loaded any more that should be.
  UseResult use(const UseTerms& terms, const UsePayload* payload,
                std::optional<bool> is_loaded = {});
  // The key, loaded; it stays so on this connection. Fails: as Custodian::load(), use().
  LoadedKey load(const KeyId& id, std::optional<bool> is_loaded = {});

  // In the epoch that the key has now.
  bool has_loaded(const KeyId& id) const;
  // The values are wiped as soon as no run uses them; a load that is under way fails.
  void forget(const KeyId& id);
  // The same of values that the key's record no longer lets anyone use, such as those of an epoch
  // that was dropped. While nothing changes the key.
  void forget_unusable(const KeyId& id);
  void forget_all();

 private:
  UseResult run_use(const UseTerms& terms, const UsePayload* payload, const KeyRecord& record,
                    const LoadedKey& loaded);
  Nonce next_nonce();
  std::optional<LoadedKey> loaded_now(const KeyRecord& record) const;  // under the lock

  // Runs whose nonces come from the same coins.
  static constexpr std::uint64_t kRunsPerToss = 1 << 16;

  Custodian& custodian_;
  KeyPeer& peer_;
  mutable std::mutex mutex_;
  std::map<KeyId, LoadedKey> loaded_;
  std::uint64_t forgets_ = 0;
  SecretVector<std::byte> coins_;
  std::uint64_t tosses_ = 0, runs_ = kRunsPerToss;
};

// The nonce of a lane of a run, from the coins.
Nonce joint_nonce(const SecretVector<std::byte>& coins, std::uint64_t run, std::uint64_t lane);

}  // namespace tinyot::custody
