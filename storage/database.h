// The database of a store: its tables and the two ways to access them, ReadTransaction and
// WriteTransaction. Each sees one consistent state of manifest, cursors and catalogues. Any process
// may change a store at any time, so decisions that depend on the state are made inside a
// WriteTransaction. Internal to this folder.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/batch.h"
#include "storage/cursors.h"
#include "storage/key_table.h"
#include "storage/lmdb_env.h"
#include "storage/manifest.h"
#include "storage/page_check.h"
#include "storage/shared_environment.h"
#include "storage/store_files.h"
#include "storage/unit_log.h"

namespace tinyot::storage {

class Database;

class ReadTransaction {
 public:
  ReadTransaction(const Database& database, Transaction& transaction);
  virtual ~ReadTransaction() = default;
  ReadTransaction(const ReadTransaction&) = delete;
  ReadTransaction& operator=(const ReadTransaction&) = delete;

  const Manifest& manifest() const { return manifest_; }
  const MaterialCursors& cursors() const { return cursors_; }
  void check_not_revoked() const;

  // Each is empty if there is no such entry. Fails: StoreError for an invalid entry.
  std::optional<BatchEntry> entry_holding(MaterialKind kind, std::uint64_t index) const;
  // Entries that begin in [begin, end), in order.
  std::vector<BatchEntry> entries(MaterialKind kind, std::uint64_t begin, std::uint64_t end) const;
  std::optional<BatchEntry> last_entry(MaterialKind kind) const;

  // Fails: StoreError if it is missing or its size is not that of its entry.
  ByteView record(const BatchEntry& entry) const;
  virtual crypto::SealKey key_of(const BatchEntry& entry) const;
  // Decrypts and checks.
  material::Batch open(const BatchEntry& entry) const;

  // The entry of the reference bits of a kind, which are in no catalogue. Empty if there are none.
  std::optional<BatchEntry> reference_entry(MaterialKind kind) const;

  // Counts of all finished units up to `units`. Fails: StoreError.
  MaterialCounts made_by(std::uint64_t units) const;

  // The log of attempts at units, by number from 0. Fails: StoreError for an invalid entry.
  std::vector<Attempt> attempts() const;
  Attempt attempt(std::uint64_t number) const;

 protected:
  const Database& database_;
  Transaction& transaction_;
  PageMap map_;
  Manifest manifest_;
  MaterialCursors cursors_;
};

class WriteTransaction final : public ReadTransaction {
 public:
  WriteTransaction(Database& database, Transaction& transaction);

  Manifest& manifest() { return manifest_; }
  MaterialCursors& cursors() { return cursors_; }

  // Seals and adds a batch. Generates the key and fills in slot and tag.
  void add(BatchEntry entry, const material::Batch& objects);
  // Adds a record that is already sealed, with its key.
  void add_sealed(BatchEntry entry, const crypto::SealKey& key, ByteView sealed);
  // Writes an entry; the record stays as it is.
  void put_entry(const BatchEntry& entry);
  // Stores reference bits of a kind that has none yet.
  void add_reference_bits(const material::Batch& bits);
  // The same, of a record that is already sealed, with its key.
  void add_sealed_reference_bits(BatchEntry entry, const crypto::SealKey& key, ByteView sealed);
  // Drops the reference bits and lists their slots for erasure.
  void drop_reference_bits();
  // Drops record and entry, but not the key.
  void drop(const BatchEntry& entry);
  // Cuts the batch that holds `index` in two, unless it begins there. Both parts get fresh keys;
  // the old slot is listed for erasure.
  void split(MaterialKind kind, std::uint64_t index);

  // Replaces an entry of the log, or adds the next one.
  void put_attempt(std::uint64_t number, const Attempt& attempt);
  void put_unit(std::uint64_t unit, const MaterialCounts& made);
  void drop_units_from(std::uint64_t unit);

  crypto::SealKey key_of(const BatchEntry& entry) const override;

  // Writes manifest, cursors and new keys; called by Database.
  void finish();

 private:
  std::span<std::byte> reserve_record(BatchEntry& entry, const crypto::SealKey& key);
  void copy_record(BatchEntry& entry, const crypto::SealKey& key, ByteView sealed);
  void put_reference_entry(const BatchEntry& entry);
  void seal_new_batch(BatchEntry& entry, const material::Batch& objects);

  Database& writable_;
  std::uint64_t first_new_slot_;
  std::vector<crypto::SealKey> new_keys_;
};

class Database {
 public:
  // Makes the database file of an empty store. The file gets its name only when it is complete. The
  // key table must exist.
  static void make(const StoreFiles& files, const Manifest& manifest, const KeyTable& keys,
                   std::uint64_t map_bytes);

  // Keeps the lock. Fails: StoreError for a file that is not a store's, truncated, corrupt, or of a
  // newer format.
  Database(const StoreFiles& files, std::unique_ptr<StoreLock> lock,
           const std::optional<StoreKey>& store_key);

  // Fails: as body; StoreError if the state in the file is invalid.
  void read(const std::string& operation,
            const std::function<void(const ReadTransaction&)>& body) const;
  // Commits and syncs the changes made by the body, keys first. The body runs again if the map was
  // too small.
  void change(const std::string& operation, std::uint64_t bytes,
              const std::function<void(WriteTransaction&)>& body);
  // Erases the keys of the slots in cursors.slots_to_erase. They leave the list in the next
  // change().
  void erase_listed_slots();

  // As of the last refresh or change.
  void refresh();
  const Manifest& manifest() const { return manifest_; }
  const MaterialCursors& cursors() const { return cursors_; }
  SessionId session() const;

  KeyTable& keys() { return *keys_; }
  const KeyTable& keys() const { return *keys_; }
  const StoreFiles& files() const { return files_; }
  StoreLock& lock() { return *lock_; }
  std::uint64_t used_bytes() const { return environment_->used_bytes(); }
  const std::shared_ptr<RevocationFlag>& revocation() const { return environment_.revocation(); }

 private:
  friend class ReadTransaction;
  friend class WriteTransaction;
  void find_state(Transaction& transaction);
  void find_tables(Transaction& transaction);
  Table catalogue_of(MaterialKind kind) const {
    return catalogues_[static_cast<std::size_t>(kind)];
  }

  StoreFiles files_;
  std::unique_ptr<StoreLock> lock_;
  SharedEnvironment environment_;
  Table state_table_ = 0, units_table_ = 0, attempts_table_ = 0, records_table_ = 0;
  std::array<Table, kMaterialKinds> catalogues_{};
  std::unique_ptr<KeyTable> keys_;
  Manifest manifest_;
  MaterialCursors cursors_;
  std::vector<std::uint64_t> erased_;  // slots in cursors_.slots_to_erase whose keys are erased
};

}  // namespace tinyot::storage
