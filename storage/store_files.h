// The files of a store, apart from what is inside them:
//
//   material.mdb        the LMDB file: manifest, marks, catalogues, sealed records
//   material.mdb-lock   LMDB's own table of readers
//   store.keys          the keys that all records are sealed under, and the global key
//   store.lock          who has the store open
//
// The directory is 0700, the files are 0600; anything looser is refused.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "storage/file_io.h"

namespace tinyot::storage {

struct StoreFiles {
  explicit StoreFiles(const std::filesystem::path& directory_of_store)
      : directory(directory_of_store.has_filename() ? directory_of_store
                                                    : directory_of_store.parent_path()),
        database(directory / "material.mdb"), database_lock(directory / "material.mdb-lock"),
        database_new(directory / "material.mdb.new"), keys(directory / "store.keys"),
        lock(directory / "store.lock") {}

  std::filesystem::path directory, database, database_lock, database_new, keys, lock;

  // Fails: StoreError if the directory holds a store, is open to others or cannot be written. It
  // may be missing.
  void check_vacant() const;
  // Makes the directory if there is none, and checks it likewise.
  void prepare_directory() const;
  // Fails: StoreError if there is no store, if it cannot be written, or if the directory or a file
  // is open to other users.
  void check_present_and_private() const;
};

// What tells a file from a copy of it: its inode, and when that was made, as far as the file system
// knows.
std::uint64_t identity_of(const std::filesystem::path& path);

// What somebody opens a store for. Any number of processes may Use and Look at a time, and one of
// them may Make; Own is alone.
enum class Purpose {
  Look,  // changes nothing
  Use,   // reserves and draws
  Make,  // pours as well
  Own,   // nobody else has it open
};

// Holds the store for this handle until it is destroyed; the kernel ends it with the process. A
// process holds one only: LMDB does not bear two.
class StoreLock {
 public:
  // Fails: StoreError naming the process in the way, as far as it is known.
  StoreLock(const StoreFiles& files, Purpose purpose);

  // Whether nobody else had the store open; then they wait until share().
  bool is_alone() const { return is_alone_; }
  void share();

 private:
  bool set(short type, std::int64_t at) const;
  bool set_within(short type, std::int64_t at, int seconds) const;

  File file_;
  bool is_alone_ = false;
};

}  // namespace tinyot::storage
