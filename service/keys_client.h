// The keys of custody of a party's daemon, as its clients see them through its interface
// (tinyot/v1/keys.proto). gRPC is included by the implementation alone.
//
// Fails, all calls: as those of client.h.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/secret.h"
#include "service/server_address.h"
#include "tinyot/error.h"

namespace tinyot::service {

struct RemoteKey {
  std::string id, peer, label;
  std::uint32_t version = 0;
  std::string key_class, algorithm, nonces, origin;
  std::string parent;  // of a derived key
  std::string state;
  std::string fingerprint;
  std::vector<std::string> epochs;
  std::uint64_t use_bound = 0;
  std::string peer_state;              // may be empty
  std::vector<std::byte> certificate;  // of a key that was made: a file
  bool needs_rebind = false, needs_refresh = false;
  std::string certificate_problem;  // why a key that was made has no certificate
};

// An empty peer is the only one.
struct KeyName {
  std::string peer, key;  // its id or its label
};

using KeyRequestId = std::array<std::byte, 16>;

struct NewRemoteKey {
  std::string peer, label;
  std::string key_class, algorithm, nonces;
  KeyRequestId request{};  // repeated with the same one, the call returns the same key
};

// What a client gives to encrypt and decrypt, besides the text.
struct AssociatedData {
  std::string bytes;
  bool is_shown = false;  // to the peer
};

using KeyNonce = std::array<std::byte, 12>;
using KeyTag = std::array<std::byte, 16>;

struct EncryptedText {
  std::string key;  // its id
  KeyNonce nonce{};
  std::vector<std::byte> ciphertext;
  KeyTag tag{};
};

struct DestroyedKey {
  RemoteKey key;
  std::vector<std::string> backups;  // that are left of this party's share
};

// A request that waits for an officer of this party.
struct WaitingRequest {
  std::string request, peer;
  bool is_own = false;
  std::string client, operation, key, label;
  std::uint64_t bytes = 0, aad_bytes = 0;
  std::string shown_aad;
  std::int64_t expires_unix_ms = 0;
  // Of an operation of officers: how many have to confirm it, and who has.
  std::uint32_t quorum = 0;
  std::vector<std::string> officers;
  std::string details;
};

class KeysConnection {
 public:
  // Of calls that wait for the peer, or for an officer. Without it they last as long as the daemon
  // takes.
  using Wait = std::optional<std::chrono::seconds>;

  // Connects with the first call. Fails: UsageError for a malformed address, or a file of TLS that
  // cannot be used.
  explicit KeysConnection(ServerAddress address, Wait wait = {});
  ~KeysConnection();

  RemoteKey create(const NewRemoteKey& key);
  RemoteKey import(const NewRemoteKey& key, std::span<const std::byte> bytes);
  RemoteKey derive(const NewRemoteKey& key, const std::string& parent,
                   std::span<const std::byte> context);
  RemoteKey rotate(const KeyName& name);
  RemoteKey refresh(const KeyName& name);
  // A file, which both parties have signed.
  std::vector<std::byte> certificate(const KeyName& name);

  EncryptedText encrypt(const KeyName& name, std::span<const std::byte> text,
                        const AssociatedData& associated, const std::optional<KeyNonce>& nonce);
  // Empty unless the tag is right.
  std::optional<SecretVector<std::byte>> decrypt(const KeyName& name, const EncryptedText& text,
                                                 const AssociatedData& associated);
  std::vector<std::byte> sign(const KeyName& name, std::span<const std::byte> message);
  bool verify(const KeyName& name, std::span<const std::byte> message,
              std::span<const std::byte> tag);

  // Of a peer, or of all.
  std::vector<RemoteKey> list(const std::string& peer, bool with_destroyed);
  RemoteKey show(const KeyName& name);
  RemoteKey suspend(const KeyName& name);
  RemoteKey resume(const KeyName& name);
  // With one of its epochs alone.
  RemoteKey resume(const KeyName& name, const std::string& epoch);
  RemoteKey deactivate(const KeyName& name);
  DestroyedKey destroy(const KeyName& name);
  // `backup`: the content of its box.
  // `fingerprint`: of the key, 64 hex digits; may be empty.
  RemoteKey restore(const std::string& peer, std::span<const std::byte> backup,
                    const std::string& fingerprint);
  // Of a key, or of all keys with the peer; those that are to be refreshed.
  std::vector<RemoteKey> rebind(const KeyName& name);
  // Of a key, or of all keys with the peer.
  std::vector<std::string> backups(const KeyName& name);
  void resume_peer(const std::string& peer);

  std::vector<WaitingRequest> approvals(const std::string& peer);
  void approve(const std::string& peer, const std::string& request);
  void deny(const std::string& peer, const std::string& request);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tinyot::service
