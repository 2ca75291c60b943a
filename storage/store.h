// A party's store: preprocessing material in an LMDB file. FORMAT.md has the bytes; COMMITS.md says
// what survives a crash.
//
// The offline phase pours units, which are LOCKED until the peer has sent the digests of its
// halves. The online phase draws from reservations. Material is consumed before it is used: before
// a reservation is returned, the new positions are durable and the keys of the reserved batches are
// overwritten. So no index is served twice, no matter when a process ends, and served material is
// unreadable.
// Several processes, and several handles in one process, may use a store at once; one of them may
// pour. A handle and its reservations are used by one thread at a time, and not across fork().
// Reservations share ownership of the database and its lock, and may outlive the handle. Memory: up
// to 16 MB of poured material before a commit; in a reservation one batch of each kind and all
// keys. Secret: the global key and the keys of the batches, in a file of their own (key_table.h).
// The LMDB file has only sealed records. Fails: StoreError naming the operation, the path and what
// to do; committed material stays valid after any failure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/revocation.h"
#include "material/batch_queue.h"
#include "material/material.h"
#include "storage/batch.h"
#include "storage/cursors.h"
#include "storage/key_table.h"
#include "storage/manifest.h"
#include "storage/reservation.h"
#include "storage/store_files.h"
#include "storage/unit_log.h"

namespace tinyot::storage {

class WriteTransaction;
class Database;
class ReadTransaction;

// How a store is opened.
struct StoreAccess {
  Purpose purpose = Purpose::Use;
  std::optional<StoreKey> store_key = {};
  bool is_adopted = false;  // a copy whose original is gone
};

// The store's files are copies.
struct StoreIsCopy : StoreError {
  using StoreError::StoreError;
};

// Its keys have been erased, but nothing says why: a revocation was interrupted.
struct KeysErased : StoreError {
  using StoreError::StoreError;
};

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

// store.cpp has opening, recovery and revocation, units.cpp how material enters, reservation.cpp
// how it leaves.
class Store : public material::Sink {
 public:
  // Makes a store, and its directory if that is missing, and opens it for Purpose::Make.
  // `expected_bytes` of material fit before the map has to grow; it may be 0. Fails: StoreError if
  // the directory holds a store, is open to other users, or cannot be written.
  static Store create(const std::filesystem::path& dir, const Manifest& manifest,
                      const Delta& global_key, std::uint64_t expected_bytes,
                      const std::optional<StoreKey>& store_key = {});

  // Whether the directory holds a store, in any state.
  static bool exists(const std::filesystem::path& dir);

  // The checks of create(), without making anything. Fails: as create.
  static void check_absent(const std::filesystem::path& dir);

  // Opens a store. If no other process has it open, drops unfinished units and served batches.
  // Fails: StoreError if it is missing, not a store, truncated, corrupt, a copy, of a newer format,
  // open to other users, or open elsewhere for a purpose that excludes this one. A revoked store
  // can be opened; with any purpose but Inspect this overwrites remaining keys.
  static Store open(const std::filesystem::path& dir, const StoreAccess& access = {});

  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store() override;

  const std::filesystem::path& directory() const;

  // As of the last open(), refresh() or change through this handle.
  const Manifest& manifest() const;
  const MaterialCursors& cursors() const;
  void refresh();
  KeyProtection protection() const;
  // Whether all keys are overwritten. A revoked store that is opened for Purpose::Inspect may still
  // have some.
  bool keys_are_gone() const;

  Delta global_key() const;

  MaterialCounts made() const { return cursors().made; }
  MaterialCounts served() const { return cursors().served; }
  MaterialCounts left() const;  // unlocked and not granted; 0 once the session is revoked
  MaterialCounts burnt() const { return cursors().burnt; }
  // Through this handle, with what was skipped for it.
  MaterialCounts granted() const { return granted_; }

  // of the kind's records that are not dropped
  std::uint64_t bytes_of(MaterialKind kind) const;
  std::uint64_t store_bytes() const;  // used bytes of all files

  // Read access to one consistent state, for this folder.
  void read(const std::function<void(const ReadTransaction&)>& body) const;

  void change(const std::string& operation, std::uint64_t bytes,
              const std::function<void(WriteTransaction&)>& body);

  // As material::Sink. Entries are only added to the log of attempts; cut_back() removes none.
  Risk outstanding() const override { return outstanding_; }
  void begin_unit(const material::BegunUnit& unit) override;
  void withdraw_unit(std::uint64_t number) override;
  AttemptTotals attempts() const;

  // A batch of any count, shaped for this store's party. It counts from finish_unit() on.
  void pour(material::Batch batch) override;

  // Reference bits of one party: stored with the unit that is finished next, and dropped with it;
  // never drawn. Fails: as pour.
  void add_reference_bits(material::Batch bits) override;
  // The reference bits. Empty if there are none, or their unit was cut back. Fails: StoreError if
  // they cannot be read.
  std::optional<material::ReferenceBits> reference_bits() const;

  // Commits what was poured since the last unit; the last commit updates the counts and the
  // manifest's units_made. Durable on return.
  void finish_unit() override;

  // Drops the units beyond the first `units`, if the peer has no more; durable on return. The
  // session state is then Open. Fails: StoreError if some of them are unlocked; then nothing has
  // changed.
  void cut_back(std::uint64_t units);

  // halves: this party's halves of all batches of units [first_unit, end_unit). unlock: compares
  // them with the peer's halves, stores the peer's tags, and makes the units available. Both
  // parties cut their batches at the same objects. If one of them has already unlocked the units,
  // runs may have cut or dropped some of its batches; those are skipped. Fails: Disagreement if
  // only one party has a batch, StoreError if the peer's half of a batch has changed.
  Halves halves(std::uint64_t first_unit, std::uint64_t end_unit) const;
  void unlock(std::uint64_t first_unit, std::uint64_t end_unit, const Halves& peers);

  // Changes the manifest in one synced transaction, except for session, party and units_made; state
  // Revoked is set by revoke() only. A lower sigma must be written before the unit that lowers it
  // is finished.
  void update_manifest(const std::function<void(Manifest&)>& change);

  // Set, for all users of this store in this process, before revoke() or erase_keys() does anything
  // else. It outlives the store.
  std::shared_ptr<const RevocationFlag> revocation() const;
  // Sets the flag. With several stores of one session, all flags come before the first revoke().
  void announce_revocation() const noexcept;
  // Reads the state anew. Fails: StoreError if the session is revoked, by whatever process.
  void require_not_revoked();

  // The first step of revoke(), from any thread, concurrently with any other use: overwrites the
  // key file, durable on return. Anything written afterwards cannot be read.
  void erase_keys() const;

  // Ends the session, durable on return: overwrites all keys. From then on pour, reserve, draw and
  // global_key fail with "the session is revoked: <reason>". The first reason is kept.
  void revoke(const std::string& reason);

  // Party A: takes a range of every requested kind out of the store, from its own served() or the
  // peer's, whichever is higher. The objects between the two are burnt. Fails: OutOfMaterial naming
  // each kind that is short, with the number left and the number needed; then nothing has changed.
  Grant grant(const ReservationRequest& request);
  // Party B: takes the range that A has granted. Ranges of several runs may arrive in any order:
  // what is skipped stays available as a gap. Fails: OutOfMaterial as grant(); Disagreement if
  // some of it has been served.
  Grant take(const Grant& peers, const MaterialCounts& confirmed);

  // The reservation of a grant that is not a plan. At most once for each grant.
  Reservation hold(const Grant& grant);
  // The reservation of a plan. Fails: StoreError if there is no plan with this number.
  Reservation claim(std::uint64_t plan);
  // grant() and hold() without a peer.
  Reservation reserve(const MaterialCounts& at_least, const MaterialCounts& counts);

 private:
  struct CutBatch {
    BatchEntry entry;
    material::Batch objects;
  };

  // Checks everything but the records. Unless the purpose is Inspect, recovers the store if no
  // other process has it open.
  Store(std::shared_ptr<Database> database, Purpose purpose, bool is_adopted);
  void check_files(bool is_adopted);
  void complete_revocation();
  void recover();
  void drop_unfinished();

  void cut(MaterialKind kind, std::size_t count);
  void write_cut(const std::function<void(WriteTransaction&)>& body);
  void forget_poured();
  void note_granted(const Grant& grant);

  std::shared_ptr<Database> database_;
  Purpose purpose_;
  material::BatchQueues queues_;                     // poured and not yet cut
  std::vector<CutBatch> cut_;                        // in the size of records, not yet committed
  std::uint64_t cut_bytes_ = 0;                      // of these
  MaterialCounts cut_end_;                           // index of the first object that is not cut
  std::vector<material::Batch> new_reference_bits_;  // reference bits of the current unit
  // Units begun through this handle and not finished: number of the unit -> index in the log.
  std::map<std::uint64_t, std::uint64_t> begun_;
  MaterialCounts granted_;
  Risk outstanding_;  // sum over the log
};

}  // namespace tinyot::storage
