// What stands behind a Store and its reservations. Internal to this folder.
//
//   store_state.cpp   opening, death, manifest
//   pouring.cpp       what is made: records, units
//   unlocking.cpp     both parties' halves, and which units are served
//   allotment.cpp     what is served: ranges, plans, what is dropped
//   recovery.cpp      what is done first by who finds the store alone
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

// A batch that a reservation holds, with its key, which is in no file any more.
struct HeldBatch {
  BatchEntry entry;
  crypto::SealKey key;
};
using HeldBatches = std::array<std::vector<HeldBatch>, kMaterialKinds>;

// What a run asks for.
struct ReservationRequest {
  MaterialCounts counts;
  MaterialCounts at_least;  // the peer's position
  bool is_plan = false;     // for a run to come
};

// What it is given.
struct Grant {
  Range range;
  std::uint64_t plan = 0;  // its number, if it is one
  MaterialCounts burnt;    // passed over on the way
};

// A store in other files than those that it was made in.
struct StoreIsCopy : StoreError {
  using StoreError::StoreError;
};

class StoreState {
 public:
  // Reads and checks everything but the records; unless it only looks, drops what others have left
  // behind if it is alone.
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

  // As of Store.
  Grant grant(const ReservationRequest& wish);
  Grant take(const Grant& peers, const MaterialCounts& confirmed);
  Range claim(std::uint64_t id);
  // Takes the keys of the range's batches out of the key table, durably.
  HeldBatches hold(const Range& range);
  // Drops the range's batches, and remembers that the peer has taken the range too.
  void release(const Range& range);

  // Decrypts a batch that is held.
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
  std::vector<MaterialBatch> to_keep_;  // with the unit at hand
  // Units that were begun through this handle and not finished: by the number that they were begun
  // with, their place in the log.
  std::map<std::uint64_t, std::uint64_t> begun_;
  Risk outstanding_;                   // of the whole log
  std::vector<std::uint64_t> erased_;  // doomed slots whose keys are gone: to be taken off the list
};

}  // namespace tinyot::storage
