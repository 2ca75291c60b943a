// A party's store: preprocessed material in an LMDB file, from the first unit to the last object served. FORMAT.md has the
// bytes and says what survives a crash.
//
// Offline pours units into it and online draws from reservations. Material is consumed before it is used: reserve has made the
// new positions durable when it returns, and an index is never served twice, whatever dies.
//
// A store is open once: a second handle, in this process or in another, is refused. A handle and its reservations belong to
// one thread at a time, and do not cross a fork. Each reservation shares what is behind the handle, so it may be read as long
// as it lives; the files stay open, and locked, until the handle and all reservations are gone.
//
// Memory: up to 64 MB of poured material, and the last batch of each kind, wait for their commit.
//
// Secret: the global key, and all records. On disk they are kept by file permissions alone, and a record that is dropped
// stays readable in the file until its pages are written again. LMDB frees its page images without wiping them.
// Fails: StoreError names the operation, the path and what to do; what is committed stays good after any failure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "base/material.h"
#include "storage/manifest.h"
#include "storage/reservation.h"

namespace tinyot {

class Store : public MaterialSink {
 public:
  // Makes the directory, if need be, and a store in it, and opens it. `expected_bytes` of material fit before the map has to
  // grow; it may be 0. Fails: StoreError if there is a store already, or the directory is open to others or cannot be written.
  static Store create(const std::filesystem::path& dir, const Manifest& manifest, Delta global_key, std::uint64_t expected_bytes);

  // What create refuses, asked beforehand: a store that is there, or a directory that cannot hold one. Changes nothing.
  static void check_absent(const std::filesystem::path& dir);

  // Opens a store and drops what was poured of a unit that was never finished, and what is served. Fails: StoreError if it is
  // missing, foreign, cut off, corrupt, of a newer format, open to other users, or open elsewhere. A dead store opens, so that
  // it can be looked at.
  static Store open(const std::filesystem::path& dir);

  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store() override;

  const Manifest& manifest() const;
  Delta global_key() const;

  MaterialCounts made() const;      // in finished units, served or not
  MaterialCounts position() const;  // first index not yet served
  MaterialCounts left() const;      // made - position
  MaterialCounts burnt() const;     // passed over by reservations that started above the position

  std::uint64_t bytes_of(MaterialKind kind) const;  // pages of the kind's records, while they are not dropped
  std::uint64_t store_bytes() const;                // used bytes of the data file

  // A batch of any count, shaped for this store's party. Nothing of it counts before finish_unit.
  void pour(MaterialBatch batch) override;

  // Commits what was poured since the last unit, and with the last of it the counts and the manifest's units_made; synced.
  void finish_unit() override;

  // Drops the units beyond the first `units`, which had `made` objects, for a peer that has no more of them; durable on return. The
  // store is open for more units then. Fails: StoreError if some of what would go has been served; then nothing has changed.
  void cut_back(std::uint64_t units, const MaterialCounts& made);

  // Changes what does not say which session this is; one synced transaction. units_made belongs to finish_unit, and a session
  // dies by mark_dead only. Whoever lowers a sigma does it before the unit that lowers it is finished.
  void update_manifest(const std::function<void(Manifest&)>& change);

  // The session's end, durable on return: the global key is overwritten, and from now on pour, reserve, draw and global_key
  // are refused with "session is dead: <reason>". The first reason stays.
  void mark_dead(const std::string& reason);

  // Takes [start, start + counts) out of the store for good, for every kind; start is the higher of both parties' positions,
  // so it is not below position(), and what lies between is burnt. Fails: OutOfMaterial naming each kind that is short, with
  // what it has and what is needed; then nothing has changed.
  Reservation reserve(const MaterialCounts& start, const MaterialCounts& counts);

 private:
  explicit Store(std::shared_ptr<StoreState> state);
  std::shared_ptr<StoreState> state_;
};

}  // namespace tinyot
