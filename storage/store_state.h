// The state shared by a Store and its reservations. Internal to this folder.
//
//   store_state.cpp   opening, revocation, manifest
//   pouring.cpp       writing records and units
//   unlocking.cpp     exchange of halves, unlocking of units
//   granting.cpp      ranges, plans, dropping of served batches
//   recovery.cpp      recovery at opening
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/material.h"
#include "storage/database.h"
#include "storage/pour_queue.h"
#include "storage/store_files.h"

namespace tinyot::storage {

// A batch of a reservation, with its key, which is erased from the key table.
struct HeldBatch {
  BatchEntry entry;
  crypto::SealKey key;
};
using HeldBatches = std::array<std::vector<HeldBatch>, kMaterialKinds>;

// The request of a run.
struct ReservationRequest {
  MaterialCounts counts;
  MaterialCounts at_least;  // the peer's position
  bool is_plan = false;     // for a later run
};

// The answer to a request.
struct Grant {
  Range range;
  std::uint64_t plan = 0;  // number of the planned reservation, or 0
  MaterialCounts burnt;    // skipped below the range
};

// The store's files are copies.
struct StoreIsCopy : StoreError {
  using StoreError::StoreError;
};

class StoreState {
 public:
  // Reads and checks everything but the records. Unless the purpose is Look, recovers the store if
  // no other process has it open.
  StoreState(const StoreFiles& files, std::unique_ptr<StoreLock> lock, Purpose purpose,
             const std::optional<StoreKey>& store_key, bool is_adopted);
  ~StoreState();
  StoreState(const StoreState&) = delete;
  StoreState& operator=(const StoreState&) = delete;

  const StoreFiles& files() const { return files_; }
  Database& database() { return database_; }
  const Database& database() const { return database_; }
  Delta global_key();

  void update_manifest(const std::function<void(Manifest&)>& change);
  void revoke(const std::string& reason);

  Risk outstanding() const { return outstanding_; }
  void begin_unit(const BegunUnit& unit);
  void withdraw_unit(std::uint64_t number);
  AttemptTotals attempts() const;

  void pour(MaterialBatch batch);
  void keep(MaterialBatch bits);
  std::optional<ReferenceBits> kept() const;
  void finish_unit();
  void cut_back(std::uint64_t units);
  Halves halves(std::uint64_t first_unit, std::uint64_t end_unit) const;
  void unlock(std::uint64_t first_unit, std::uint64_t end_unit, const Halves& peers);

  // As in Store.
  Grant grant(const ReservationRequest& request);
  Grant take(const Grant& peers, const MaterialCounts& confirmed);
  Range claim(std::uint64_t id);
  // Reads the keys of the range's batches and erases them from the key table, durably.
  HeldBatches hold(const Range& range);
  // Drops the range's batches, and records that the peer has taken the range too.
  void release(const Range& range);

  // Decrypts a batch.
  SecretVector<std::byte> open(const HeldBatch& batch) const;

 private:
  struct PlannedBatch {
    BatchEntry entry;
    std::uint64_t from;  // in the queue
  };
  enum class Rest { StaysQueued, IsWritten };

  void check_files(bool is_adopted);
  void complete_revocation();
  void recover();
  void drop_unfinished();
  void erase_doomed();
  void forget_erased(Change& change);

  static void check_available(const Marks& marks, const Range& range);
  std::vector<PlannedBatch> plan_batches(Rest rest) const;
  void write_batches(Change& change, std::span<const PlannedBatch> batches) const;
  void forget_queued(std::span<const PlannedBatch> batches);

  StoreFiles files_;
  std::unique_ptr<StoreLock> lock_;
  Purpose purpose_;
  Database database_;
  Delta global_key_{};
  MaterialCounts written_;  // first index without a committed record
  PourQueue queue_;
  std::vector<MaterialBatch> to_keep_;  // reference bits of the current unit
  // Units begun through this handle and not finished: number of the unit -> index in the log.
  std::map<std::uint64_t, std::uint64_t> begun_;
  Risk outstanding_;                   // sum over the log
  std::vector<std::uint64_t> erased_;  // slots in marks.doomed whose keys are erased
};

}  // namespace tinyot::storage
