// The keys under which a store's material is sealed, in a file of their own that is overwritten in
// place: a key that is erased here makes what it sealed unreadable, wherever LMDB has left its
// bytes. FORMAT.md has the layout.
//
// Slot 0 is the global key, every other slot the key of one batch. A slot is filled once and erased
// once. The slots themselves are sealed under a wrapping key, derived from a salt in the file and
// from the user's store key, if there is one; without it the file's permissions are all that
// protects them.
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
#include "storage/file_io.h"

namespace tinyot::storage {

// What a store key file holds: any bytes, at least 16.
using StoreKey = SecretVector<std::byte>;
// Fails: StoreError if the file cannot be read, is open to others or too short.
StoreKey read_store_key(const std::filesystem::path& file);

enum class KeyProtection : std::uint32_t { ByPermissions = 1, ByStoreKey = 2, Erased = 3 };

class KeyTable {
 public:
  static constexpr std::uint64_t kFirstBatchSlot = 1;

  // Makes the file, synced.
  static void create(const std::filesystem::path& path, const SessionId& session,
                     const Delta& global_key, const std::optional<StoreKey>& store_key);

  // Fails: StoreError if the file is missing, corrupt, of another session or a newer format, or
  // wants another store key, or none.
  KeyTable(const std::filesystem::path& path, const SessionId& session,
           const std::optional<StoreKey>& store_key);

  // What the file says of itself, whatever state it is in; empty if it is no key table. Fails:
  // StoreError if it cannot be read.
  static std::optional<KeyProtection> protection_in(const std::filesystem::path& path);
  // As erase_all, of a file that need not be sound: whatever it holds is overwritten.
  static void erase_file(const std::filesystem::path& path);

  KeyTable(const KeyTable&) = delete;
  KeyTable& operator=(const KeyTable&) = delete;

  KeyProtection protection() const { return protection_; }
  // For what else of the store is to be authenticated; of no meaning once the keys are erased.
  const crypto::SealKey& state_key() const { return state_key_; }

  Delta global_key() const;
  // Fails: StoreError if the slot is erased or corrupt; `what` is what it should open.
  crypto::SealKey key(std::uint64_t slot, const std::string& what) const;

  crypto::SealKey fresh_key();

  // Fills slots [first, first + keys.size()); durable after sync().
  void fill(std::uint64_t first, std::span<const crypto::SealKey> keys);
  void sync() const { file_.sync(); }

  // Durable on return.
  void erase(std::span<const std::uint64_t> slots);
  void erase_all();
  // Whether there is anything in the file that erase_all would overwrite.
  bool has_remains() const;

  std::uint64_t bytes() const { return file_.size(); }

 private:
  File file_;
  SessionId session_;
  KeyProtection protection_ = KeyProtection::Erased;
  crypto::SealKey wrapping_key_, state_key_;
  crypto::Rng rng_;
};

}  // namespace tinyot::storage
