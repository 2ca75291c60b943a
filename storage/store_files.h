// The files of a store, and the lock on them:
//
//   material.mdb        the LMDB file: manifest, cursors, catalogues, sealed records
//   material.mdb-lock   LMDB's own table of readers
//   store.keys          the keys that all records are sealed under, and the global key
//   store.lock          locks of the processes that have the store open
//
// The directory has mode 0700, the files 0600; looser modes are refused.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "system/file.h"

namespace tinyot::storage {

struct StoreFiles {
  explicit StoreFiles(const std::filesystem::path& directory_of_store)
      : directory(directory_of_store.has_filename() ? directory_of_store
                                                    : directory_of_store.parent_path()),
        database(directory / "material.mdb"), database_lock(directory / "material.mdb-lock"),
        database_new(directory / "material.mdb.new"), keys(directory / "store.keys"),
        lock(directory / "store.lock") {}

  std::filesystem::path directory, database, database_lock, database_new, keys, lock;

  // Fails: StoreError if the directory holds a store, is open to other users or cannot be written.
  // A missing directory is not an error.
  void check_vacant() const;
  // Makes the directory if it is missing, and checks it as check_vacant() does.
  void prepare_directory() const;
  // Fails: StoreError if there is no store, if it cannot be written, or if the directory or a file
  // is open to other users.
  void check_present_and_private() const;
};

// Distinguishes a file from a copy of it: a hash of its inode number and, if the file system stores
// it, its birth time.
std::uint64_t identity_of(const std::filesystem::path& path);

// The purpose for which a store is opened. Any number of handles may Inspect and Use at once, and
// one may Make. Own is exclusive.
enum class Purpose {
  Inspect,  // changes nothing
  Use,      // reserves and draws
  Make,     // pours as well
  Own,      // no other handle is open
};

// The lock of a handle, released on destruction or by the kernel when the process ends. Handles of
// one process exclude each other as those of different processes do.
class StoreLock {
 public:
  // Fails: StoreError naming the process that has the store open, if it is known.
  StoreLock(const StoreFiles& files, Purpose purpose);

  // Whether no other handle was open. Others then wait until share().
  bool is_alone() const { return is_alone_; }
  void share();

 private:
  bool set(short type, std::int64_t at) const;
  bool set_within(short type, std::int64_t at, int seconds) const;

  system::File file_;
  bool is_alone_ = false;
};

}  // namespace tinyot::storage
