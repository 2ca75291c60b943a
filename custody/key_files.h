// The keys that this party shares with one peer, on disk: a file for each key, and a table with the
// key of each share. FORMAT.md has the bytes.
//
// A file is replaced as a whole, and replacing it leaves its bytes on the medium. So each share is
// sealed under a key in the table, which is overwritten in place: only that ends an epoch. The file
// as a whole, attributes and states included, is sealed under a key that comes from the store key.
//
// Thread-safe. Fails: StoreError; KeyError where it is said.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "custody/key.h"
#include "custody/settle.h"
#include "storage/key_table.h"
#include "system/descriptor.h"
#include "tinyot/party.h"
#include "tinyot/store_key.h"

namespace tinyot::custody {

// A share on the disk, sealed under the key in a slot.
struct HeldEpoch {
  Epoch epoch;
  std::uint64_t slot = 0;
  crypto::SealNonce nonce{};
  std::vector<std::byte> sealed;
  crypto::SealTag tag{};
};

using RequestId = std::array<std::byte, 16>;

struct KeyRecord {
  KeyAttributes attributes;
  CheckValue check{};
  KeyState state = KeyState::Pending;
  // Of a suspended key: what it is once resumed. Of a restored one: what it is once settled.
  KeyState state_resumed = KeyState::Active;
  // A share was restored, and the key not settled since: once resumed, it is settled first.
  bool is_restored = false;
  std::vector<HeldEpoch> held;  // ascending; several until the key is settled
  std::uint64_t use_bound = 0;
  RequestId request{};              // that made it
  bool has_peer_destroyed = false;  // its share
  // The TLS keys of the parties that it is bound to, where these are not the present ones: it is
  // kept, and not used, until an officer binds it to them. Otherwise empty.
  std::string former_peer = {}, former_own = {};
  // The highest epoch when it was bound to other TLS keys than before; 0 if it never was.
  std::uint64_t epoch_rebound = 0;
};
bool is_bound(const KeyRecord& record);
// Fails: KeyError(Unbound).
void require_bound(const KeyRecord& record);
// Whether the shares may be with whoever has a former TLS key of a party, so that new ones are due.
bool needs_refresh(const KeyRecord& record);

// What a backup has of a key.
struct BackedUpShare {
  Party party = Party::A;
  std::string peer;  // its name
  KeyRecord record;  // without epochs
  Epoch epoch;
  Share share;
};

class KeyFiles {
 public:
  struct Owner {
    Party party = Party::A;
    std::string peer;               // its name
    std::string peer_identity;      // fingerprint of its TLS key; empty if there is none
    std::string own_identity = {};  // of this party; empty: it is not looked at
  };
  // Called before each durable step, with its name. A test that throws here ends this party there.
  using BeforeStep = std::function<void(std::string_view step)>;

  // Reads all files; makes `directory` and its key table if there are none. Slots that no record
  // names are erased: what a crash has left of an epoch that was being stored or dropped. No other
  // object, of any process, can use the directory meanwhile.
  // Fails: StoreError for a file that is damaged, of another owner, or that the store key does not
  // open, and if the directory is in use.
  KeyFiles(std::filesystem::path directory, Owner owner, const StoreKey& store_key,
           BeforeStep before_step = {});

  const Owner& owner() const { return owner_; }
  std::vector<KeyRecord> records() const;
  // Whether there are keys that are bound to a former TLS key of the peer.
  bool have_former_peer() const;
  // All versions of a label.
  std::vector<KeyRecord> labelled(const std::string& label) const;
  std::optional<KeyRecord> find(const KeyId& id) const;
  // Fails: KeyError(Unknown).
  KeyRecord record(const KeyId& id) const;

  // What this party has of the key, for the peer; absent if there is no record. An epoch whose
  // share is erased is not had. Who has the peer's TLS key now learns nothing of a key that is
  // bound to former ones, but that it is suspended.
  std::optional<KeyHave> have(const KeyId& id) const;
  // Reads the share from the disk. Fails: KeyError(Unknown, NoShare).
  Share share(const KeyId& id, const Epoch& epoch) const;

  // What a step of a link that has ended would still write is refused once a new link is up: the
  // peer may have settled meanwhile. The number of a new link, for the calls below.
  std::uint64_t begin_link();

  // The newest version is what a label means: nobody makes one that is never exceeded, nor, as the
  // peer may, one under which the others' clients would use another algorithm than before, or a key
  // that a party has as a whole. Nor a key that a program which names another one by its CKA_ID
  // would find. Fails: KeyError(Exists) unless the new key is the next version of its label, and
  // its CKA_ID that of no other label; KeyError(Unbound) if the label has a key of former TLS keys.
  void require_next_version(const KeyAttributes& attributes) const;

  // Stores a share: first the slot, then the record, each durable before the next. `record` is that
  // of a new key, without epochs, or of the key that exists. Fails: KeyError(Exists) if the key has
  // this epoch, or two, or as require_next_version(), since another key of the label may have been
  // made meanwhile; Disagreement if the link has ended.
  void store_epoch(std::uint64_t link, const KeyRecord& record, const Epoch& epoch,
                   const Share& share);
  // The record with one epoch alone; then the slots of others are erased. A pending key becomes
  // active, a restored one what it was; any other state stays. Fails: KeyError(Unknown, NoEpoch);
  // Disagreement.
  void keep_only(std::uint64_t link, const KeyId& id, const Epoch& epoch);
  // Removes a key that has never been used. Fails: KeyError(Unknown); KeyError(State) unless it is
  // pending; Disagreement.
  void remove_pending(std::uint64_t link, const KeyId& id);

  // A share from a backup, beside the epoch that is there, if any: settling keeps the one that both
  // parties have. A suspended key stays so; one that is deactivated here, or was when the backup
  // was made, is so again once it is settled. Fails: KeyError(State) over a tombstone;
  // KeyError(Exists) if the key has this epoch, or too many, or if another key is this version of
  // the label; KeyError(Differs) if the backup is of another key, party or peer.
  void restore(const BackedUpShare& backup);
  // Of a key that was restored: what the peer says of its uses, and that it is deactivated, is so
  // here, too. Fails: KeyError(Unknown).
  void take_from_peer(const KeyId& id, const KeyHave& theirs);

  // Any time. Fails: KeyError(Unknown); KeyError(State) over a tombstone. A key that cannot be
  // suspended on the disk is suspended all the same (write_again).
  void set_state(const KeyId& id, KeyState state);
  // Of an active key. Nothing if it is. Fails: KeyError(Unknown, State).
  void deactivate(const KeyId& id);
  // By an officer: a suspended key is what it was before, and a restored one is settled. With an
  // epoch, it has this one alone from then on, and the slots of others are erased. Fails:
  // KeyError(Unknown); KeyError(State) unless it is suspended; KeyError(NoEpoch) if there is no
  // share of the epoch; KeyError(NotAtPeer) if the peer has destroyed its own.
  void resume(const KeyId& id, const std::optional<Epoch>& only = {});
  // Binds it to the present TLS keys. Nothing if it is. Fails: KeyError(Unknown).
  void rebind(const KeyId& id);
  // It only grows.
  void raise_use_bound(const KeyId& id, std::uint64_t bound);
  // Erases the shares, then leaves a tombstone. If it fails, the key is suspended (write_again); if
  // it ends between the two, the key has no share any more. This is called again then.
  void destroy(const KeyId& id);

  // The peer has destroyed its share: this one is suspended. Nothing of a tombstone. Fails:
  // KeyError(Unknown). If it cannot be written, it counts all the same (write_again).
  void note_peer_destroyed(const KeyId& id);
  // The peer says something else by now. It stays suspended.
  void forget_peer_destroyed(const KeyId& id);

  // Whether there are suspended keys that could not be written as such: after a restart they would
  // be what they were.
  bool has_unwritten() const;
  // Writes them, each that can be written. Fails: StoreError.
  void write_again();

 private:
  using Records = std::map<KeyId, KeyRecord>;

  // Under the lock.
  void step(std::string_view name) const;
  void require_current(std::uint64_t link) const;
  Records::const_iterator existing(const KeyId& id) const;
  void require_next(const KeyAttributes& attributes) const;
  std::uint64_t free_slot() const;
  HeldEpoch fill_slot(const KeyId& id, const Epoch& epoch, const Share& share);
  void write(const KeyRecord& record) const;
  void replace(const KeyId& id, KeyRecord next);
  // Of a suspended key: what cannot be written counts.
  void replace_or_keep(const KeyId& id, KeyRecord next);
  void keep_suspended(const KeyId& id, KeyRecord record);
  void erase_slots(const std::vector<HeldEpoch>& held);

  std::filesystem::path file_of(const KeyId& id) const;
  KeyRecord read(const std::filesystem::path& file) const;

  const std::filesystem::path directory_;
  const Owner owner_;
  const BeforeStep before_step_;
  mutable std::mutex mutex_;
  system::Descriptor lock_;  // of the directory
  std::unique_ptr<storage::KeyTable> table_;
  Records records_;
  std::set<KeyId> unwritten_;  // are suspended, but not on the disk
  std::uint64_t link_ = 0;
};

}  // namespace tinyot::custody
