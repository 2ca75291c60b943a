// The keys under which a store's material is sealed, in a file of their own that is overwritten in
// place. Erasing a key makes what it sealed unreadable, including copies of the pages that LMDB has
// left. FORMAT.md has the layout.
// Slot 0 is the global key, every other slot the key of one batch. A slot is filled once and erased
// once. Slots are sealed under a wrapping key, derived from a salt in the file and the user's store
// key. Without a store key they are protected by the file's permissions only.
// A table without a global key is for other keys; its owner has an id in place of the session's,
// and may fill an erased slot again once nothing is left that the erased key sealed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/block.h"
#include "base/session_id.h"
#include "crypto/aead.h"
#include "crypto/rng.h"
#include "system/file.h"
#include "tinyot/store_key.h"
#include "tinyot/store_state.h"

namespace tinyot::storage {

class KeyTable {
 public:
  static constexpr std::uint64_t kFirstBatchSlot = 1;

  // Makes the file, synced.
  static void create(const std::filesystem::path& path, const SessionId& session,
                     const Delta& global_key, const std::optional<StoreKey>& store_key);
  // Without a global key; all slots are erased. The file gets its name when it is complete.
  static void create(const std::filesystem::path& path, const SessionId& owner,
                     const std::optional<StoreKey>& store_key);

  // Fails: StoreError if the file is missing, corrupt, of another session or of a newer format, or
  // the store key is wrong, missing or superfluous.
  KeyTable(const std::filesystem::path& path, const SessionId& session,
           const std::optional<StoreKey>& store_key);

  // The protection field of the file, without any check of its keys; empty if it is not a key
  // table. Fails: StoreError if it cannot be read.
  static std::optional<KeyProtection> protection_in(const std::filesystem::path& path);
  // As erase_all, for a file that may be corrupt: all of its content is overwritten.
  static void erase_file(const std::filesystem::path& path);

  KeyTable(const KeyTable&) = delete;
  KeyTable& operator=(const KeyTable&) = delete;

  KeyProtection protection() const { return protection_; }
  // Authenticates the state in the database. Unspecified once the keys are erased.
  const crypto::SealKey& state_key() const { return state_key_; }

  Delta global_key() const;
  // Fails: StoreError if the slot is erased or corrupt; `what` names what the key opens.
  crypto::SealKey key(std::uint64_t slot, const std::string& what) const;
  // Of the file's slots, the end; slots from there on are erased.
  std::uint64_t slots_end() const;
  bool is_erased(std::uint64_t slot) const;

  crypto::SealKey fresh_key();

  // Fills slots [first, first + keys.size()); durable after sync().
  void fill(std::uint64_t first, std::span<const crypto::SealKey> keys);
  void sync() const { file_.sync(); }

  // Durable on return.
  void erase(std::span<const std::uint64_t> slots);
  void erase_all();
  // Whether the file still has content that erase_all would overwrite.
  bool has_remains() const;

  std::uint64_t bytes() const { return file_.size(); }

 private:
  system::File file_;
  SessionId session_;
  KeyProtection protection_ = KeyProtection::Erased;
  crypto::SealKey wrapping_key_, state_key_;
  crypto::Rng rng_;
};

}  // namespace tinyot::storage
