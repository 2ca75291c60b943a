// The life of a key (doc/custody.md): steps of both parties over one connection. Every step is the
// same program at both, with the roles of A and B inside the circuits; whatever ends it, a lost
// connection or a crash before any durable write, settling the key completes or undoes it.
//
// Role: both, at the same time, for the same request. One step of a key at a time.
// Fails: KeyError; StoreError; and as KeyPeer. After a check that fails the key is suspended.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "custody/backups.h"
#include "custody/key.h"
#include "custody/key_files.h"
#include "custody/key_peer.h"

namespace tinyot::custody {

// What stays of a key on one connection: values that are shared between the parties. Whoever uses
// it names key and epoch.
struct LoadedKey {
  KeyId id;
  Epoch epoch;
  SharedInputs values;
};

// Whether the uses of a key can continue from what is loaded of it.
bool is_loadable(const KeyRecord& record);
// Fails: KeyError(State, Unbound).
void require_loadable(const KeyRecord& record);

// Of a key that is known as a whole, without a peer.
CheckValue check_of(const KeyAttributes& attributes, const Share& key);

// The names of the steps' circuits (circuitgen/generators/kept_keys.h).
std::string check_circuit(const KeyAttributes& attributes);
std::string load_circuit(const KeyAttributes& attributes);
std::string derive_circuit(KeyAlgorithm parent, const KeyAttributes& attributes,
                           std::size_t context_bytes);

class Custodian {
 public:
  // All outlive it. `link`: of the files, on which the steps may write.
  Custodian(KeyFiles& files, const Backups& backups, std::uint64_t link)
      : files_(files), backups_(backups), link_(link) {}

  KeyFiles& files() const { return files_; }

  // The record is active at both parties on return. The same request again settles the key that it
  // has made, or makes it if nothing is left of it. Fails: UsageError for attributes that such a
  // key does not have; KeyError(Exists) if another request has made a key with this id.
  KeyRecord create(KeyPeer& peer, const RequestId& request, const KeyAttributes& attributes);
  // The same for a key that a client of party `by` has: given there, absent at the other party. It
  // is never an input of a circuit: the inputs of a run are shared as (key, 0). Fails: as create();
  // KeyError(Differs) if the shares are not those of the key.
  KeyRecord import(KeyPeer& peer, const RequestId& request, const KeyAttributes& attributes,
                   Party by, const std::optional<Share>& key);
  // A child of a key of class kdf. `parent` is loaded on this connection. The child's id is
  // derived_id(attributes), so one key has one id: by another label it is the same key, which
  // exists.
  KeyRecord derive(KeyPeer& peer, const RequestId& request, const LoadedKey& parent,
                   const KeyAttributes& attributes, std::span<const std::byte> context);
  // Both parties get a share of a new epoch, and drop the old one. Fails: KeyError(NotAtPeer) if
  // the peer has not stored it, and the old one is kept.
  KeyRecord refresh(KeyPeer& peer, const RequestId& request, const KeyId& id);

  // Completes what a step or a crash has left of a key. Nothing if this party has no such key.
  void settle(KeyPeer& peer, const KeyId& id);

  // Checks the shares, and keeps what the uses of an active or deactivated key need. Fails:
  // KeyError(State); KeyError(CheckFailed), and then the key is suspended.
  LoadedKey load(KeyPeer& peer, const KeyId& id);

  // The id of the child: a hash of the parent's id and of all that its bits depend on.
  static KeyId derived_id(const KeyAttributes& attributes, std::span<const std::byte> context);

 private:
  struct NewShare {
    Share share;
    CheckValue check;
  };
  // What an earlier attempt of the request has made, settled.
  std::optional<KeyRecord> made_before(KeyPeer& peer, const RequestId& request,
                                       const KeyAttributes& attributes);
  KeyRecord active_at_both(KeyPeer& peer, const std::string& label,
                           const KeyAttributes& attributes);
  KeyRecord store_new(KeyPeer& peer, const RequestId& request, const KeyAttributes& attributes,
                      const NewShare& made);
  void store(const KeyRecord& record, const Epoch& epoch, const Share& share);
  std::optional<KeyHave> exchanged(KeyPeer& peer, const std::string& label, const KeyId& id) const;
  RunResult run_load(KeyPeer& peer, const KeyRecord& record, const Epoch& epoch,
                     const std::string& label);

  KeyFiles& files_;
  const Backups& backups_;
  std::uint64_t link_;
};

}  // namespace tinyot::custody
