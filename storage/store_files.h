// The files of a store, apart from what is inside the database:
//
//   material.mdb        the LMDB file: manifest, counts, records
//   material.mdb-lock   LMDB's own table of readers
//   global.key          the global key, in a file of its own because LMDB never overwrites in place
//   store.lock          locked (flock) by the process that has the store open
//
// The directory is 0700, the files are 0600; anything looser is refused.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>

#include "base/block.h"

namespace tinyot {

struct StoreFiles {
  explicit StoreFiles(const std::filesystem::path& directory_of_store)
      : directory(directory_of_store.has_filename() ? directory_of_store : directory_of_store.parent_path()),
        database(directory / "material.mdb"),
        database_lock(directory / "material.mdb-lock"),
        database_new(directory / "material.mdb.new"),
        global_key(directory / "global.key"),
        lock(directory / "store.lock") {}

  std::filesystem::path directory, database, database_lock, database_new, global_key, lock;

  // Fails: StoreError if the directory holds a store, is open to others or cannot be written. It may be missing.
  void check_vacant() const;
  // Makes the directory if there is none, and checks it likewise.
  void prepare_directory() const;
  // Fails: StoreError if there is no store, or if the directory or a file is open to other users.
  void check_present_and_private() const;
};

// Syncs a directory, so that a file made or renamed in it stays.
void sync_directory(const std::filesystem::path& directory);

// Holds the store for this handle until it is destroyed.
class StoreLock {
 public:
  // Fails: StoreError naming the process that has the store open.
  explicit StoreLock(const StoreFiles& files);
  ~StoreLock();
  StoreLock(const StoreLock&) = delete;
  StoreLock& operator=(const StoreLock&) = delete;

 private:
  int descriptor_ = -1;
};

// The key file belongs to one session, and is overwritten in place when that session dies.
using SessionIdBytes = std::array<std::byte, 32>;
void write_global_key(const StoreFiles& files, const SessionIdBytes& session_id, Delta global_key);
// Fails: StoreError if the file is missing, corrupt, of another session or wiped.
Delta read_global_key(const StoreFiles& files, const SessionIdBytes& session_id);
// Durable on return.
void wipe_global_key(const StoreFiles& files, const SessionIdBytes& session_id);

}  // namespace tinyot
