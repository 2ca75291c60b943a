// A party's store: preprocessed material in an LMDB file, from the first unit to the last object
// served. FORMAT.md has the bytes, and COMMITS.md says what survives a crash.
//
// Offline pours units into it, which are LOCKED until the peer has told the digests of its halves;
// online draws from reservations. Material is consumed before it is used: the new positions are
// durable, and the keys of what was reserved are overwritten, before a reservation is handed out.
// So an index is never served twice, whatever dies, and what was served is unreadable.
//
// Several processes may use a store at once; one of them may pour. A handle and its reservations
// belong to one thread at a time, do not cross a fork, and are the only ones of their process: a
// second handle is refused. Each reservation shares what is behind the handle, so it may be read as
// long as it lives.
//
// Memory: up to 64 MB of poured material wait for their commit; a reservation has one batch of each
// kind and all of its keys.
//
// Secret: the global key and the keys of the batches, in a file of their own (key_table.h). LMDB
// sees sealed records only. Fails: StoreError names the operation, the path and what to do; what is
// committed stays good after any failure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/material.h"
#include "storage/attempt.h"
#include "storage/manifest.h"
#include "storage/reservation.h"

namespace tinyot::storage {

// How a store is opened.
struct StoreAccess {
  Purpose purpose = Purpose::Use;
  std::optional<StoreKey> store_key = {};
  bool is_adopted = false;  // a copy whose original is gone
};

class Store : public MaterialSink {
 public:
  // Makes the directory, if need be, and a store in it, and opens it to be filled. `expected_bytes`
  // of material fit before the map has to grow; it may be 0. Fails: StoreError if there is a store
  // already, or the directory is open to others or cannot be written.
  static Store create(const std::filesystem::path& dir, const Manifest& manifest,
                      const Delta& global_key, std::uint64_t expected_bytes,
                      const std::optional<StoreKey>& store_key = {});

  // Whether there is a store, of whatever kind and state.
  static bool exists(const std::filesystem::path& dir);

  // What create refuses, asked beforehand: a store that is there, or a directory that cannot hold
  // one. Changes nothing.
  static void check_absent(const std::filesystem::path& dir);

  // Opens a store, and if nobody else has it open drops what was poured of a unit that was never
  // finished, and what is served. Fails: StoreError if it is missing, foreign, cut off, corrupt, a
  // copy, of a newer format, open to other users, or open elsewhere for a purpose that excludes
  // this one. A dead store opens, so that it can be looked at; whoever may change it overwrites
  // what keys it still has.
  static Store open(const std::filesystem::path& dir, const StoreAccess& access = {});

  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store() override;

  const std::filesystem::path& directory() const;

  // As this handle has seen it last: opening, refresh() and whatever changes something look anew.
  const Manifest& manifest() const;
  const Marks& marks() const;
  void refresh();
  KeyProtection protection() const;
  // Whether all keys have been overwritten. A dead store that is opened to be looked at only may
  // still have some.
  bool keys_are_gone() const;

  Delta global_key() const;

  MaterialCounts made() const { return marks().made; }
  MaterialCounts position() const { return marks().position; }
  MaterialCounts left() const;  // unlocked and not given to a run; nothing once the session is dead
  MaterialCounts burnt() const { return marks().burnt; }

  // of the kind's records, while they are not dropped
  std::uint64_t bytes_of(MaterialKind kind) const;
  std::uint64_t store_bytes() const;  // used bytes of all files

  // One state of everything, for those of this folder who look closer.
  void look(const std::function<void(const View&)>& body) const;

  void change(const std::string& operation, std::uint64_t bytes,
              const std::function<void(Change&)>& body);

  // As MaterialSink. The log of attempts only gains entries; cutting back removes none.
  Risk outstanding() const override;
  void begin_unit(const BegunUnit& unit) override;
  void withdraw_unit(std::uint64_t number) override;
  AttemptTotals attempts() const;

  // A batch of any count, shaped for this store's party. Nothing of it counts before finish_unit.
  void pour(MaterialBatch batch) override;

  // aBits of one party, which the session's later units are to be tied to: kept apart from what
  // runs are given, for as long as the unit is that is finished next. Fails: as pour.
  void keep(MaterialBatch bits) override;
  // What was kept. Empty if nothing was, or the unit has been cut back. Fails: StoreError if it
  // cannot be read any more.
  std::optional<ReferenceBits> kept() const;

  // Commits what was poured since the last unit, and with the last of it the counts and the
  // manifest's units_made; synced.
  void finish_unit() override;

  // Drops the units beyond the first `units`, for a peer that has no more of them; durable on
  // return. The store is open for more units then. Fails: StoreError if some of them are unlocked;
  // then nothing has changed.
  void cut_back(std::uint64_t units);

  // My halves of all batches of units [first_unit, end_unit), and what to do with the peer's: from
  // then on, these batches are to be served. Both parties cut their batches at the same objects;
  // where one of them has unlocked the units already, some may have been cut anew or dropped there,
  // for runs, and those are passed over. Fails: Disagreement if one has a batch that the other has
  // not, StoreError if the peer's half of a batch is another one than it was.
  Halves halves(std::uint64_t first_unit, std::uint64_t end_unit) const;
  void unlock(std::uint64_t first_unit, std::uint64_t end_unit, const Halves& peers);

  // Changes what does not say which session this is; one synced transaction. units_made belongs to
  // finish_unit, and a session dies by revoke only. Whoever lowers a sigma does it before the
  // unit that lowers it is finished.
  void update_manifest(const std::function<void(Manifest&)>& change);

  // The first step of revoke, from any thread, whatever others do with the store: the files'
  // keys are overwritten, durable on return. Nothing that is still written can be read afterwards.
  void erase_keys() const;

  // The session's end, durable on return: all keys are overwritten, and from now on pour, reserve,
  // draw and global_key are refused with "session is dead: <reason>". The first reason stays.
  void revoke(const std::string& reason);

  // Party A: takes a range out of the store for good, from its own position or the peer's,
  // whichever is higher, and for every kind that is wanted; what lies between is burnt. Fails:
  // OutOfMaterial naming each kind that is short, with what it has and what is needed; then nothing
  // has changed.
  Grant grant(const ReservationRequest& wish);
  // Party B: takes the range that A has given out. Ranges of several runs may come in any order:
  // what is passed over stays in reach of the run that it was given to. Fails: OutOfMaterial
  // likewise; Disagreement if some of it has been served.
  Grant take(const Grant& peers, const MaterialCounts& confirmed);

  // What was allotted or taken, to be drawn, unless it is a plan. Once only.
  Reservation hold(const Grant& granted);
  // A plan, to be drawn now. Fails: StoreError if there is none of this number.
  Reservation claim(std::uint64_t plan);
  // Both steps for one who is alone with his store.
  Reservation reserve(const MaterialCounts& at_least, const MaterialCounts& counts);

 private:
  explicit Store(std::shared_ptr<StoreState> state);
  std::shared_ptr<StoreState> state_;
};

}  // namespace tinyot::storage
