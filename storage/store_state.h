// What stands behind a Store and its reservations: the open database, and the counts that say which of its records are
// material. Internal to this folder.
//
// Three marks per kind split the indices: below `position` everything has been served or burnt, from there to `made` it is
// to be served, from `made` on it belongs to a unit that is not finished.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/material.h"
#include "storage/lmdb_env.h"
#include "storage/manifest.h"
#include "storage/pour_queue.h"
#include "storage/record.h"
#include "storage/store_files.h"

namespace tinyot {

// Indices [start, end) of every kind.
struct Range {
  MaterialCounts start;
  MaterialCounts end;
};

class StoreState {
 public:
  // Makes the database file of an empty store; it appears under its name only when it is whole.
  static void make_database(const StoreFiles& files, const Manifest& manifest, std::uint64_t map_bytes);

  // Reads and checks everything but the records, drops what an interrupted run has left behind.
  StoreState(const StoreFiles& files, std::unique_ptr<StoreLock> lock);
  ~StoreState();
  StoreState(const StoreState&) = delete;
  StoreState& operator=(const StoreState&) = delete;

  const Manifest& manifest() const { return manifest_; }
  const MaterialCounts& made() const { return made_; }
  const MaterialCounts& position() const { return position_; }
  const MaterialCounts& burnt() const { return burnt_; }
  Delta global_key() const;
  std::uint64_t bytes_of(MaterialKind kind) const;
  std::uint64_t store_bytes() const { return environment_.used_bytes(); }

  void check_alive() const;

  void pour(MaterialBatch batch);
  void finish_unit();
  void cut_back(std::uint64_t units, const MaterialCounts& made);
  void update_manifest(const std::function<void(Manifest&)>& change);
  void mark_dead(const std::string& reason);

  // Moves the positions to the ends of the range, durably, and keeps its records until release.
  std::uint64_t reserve(const Range& range, const MaterialCounts& burnt_now);
  void release(std::uint64_t reservation);

  // Objects [first, first + count), which a reservation holds.
  MaterialBatch read_objects(MaterialKind kind, std::uint64_t first, std::size_t count) const;

 private:
  struct PlannedRecord {
    RecordHeader header;
    std::uint64_t from;  // in the queue
  };
  enum class Rest { StaysQueued, IsWritten };

  // In store_state.cpp.
  void load();
  void check_marks() const;
  void put_unit(Transaction& transaction, const MaterialCounts& made, const std::string& coded_manifest) const;
  // In store_records.cpp.
  void drop_unfinished();
  void drop_served();
  bool is_held(const RecordHeader& record) const;
  std::vector<PlannedRecord> plan_records(Rest rest) const;
  std::uint64_t planned_bytes(std::span<const PlannedRecord> records) const;
  void write_records(Transaction& transaction, std::span<const PlannedRecord> records) const;
  void forget_queued(std::span<const PlannedRecord> records);

  MDB_dbi table_of(MaterialKind kind) const { return tables_[static_cast<std::size_t>(kind)]; }

  StoreFiles files_;
  std::unique_ptr<StoreLock> lock_;
  Environment environment_;
  MDB_dbi state_table_ = 0;
  std::array<MDB_dbi, kMaterialKinds> tables_{};
  Manifest manifest_;
  Delta global_key_{};
  MaterialCounts made_, position_, burnt_;
  MaterialCounts written_;  // first index without a committed record
  PourQueue queue_;
  std::map<std::uint64_t, Range> reservations_;
  std::uint64_t next_reservation_ = 0;
};

}  // namespace tinyot
