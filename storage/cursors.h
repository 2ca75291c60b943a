// The cursors of a store: how far each kind of material is made, unlocked and served. They change
// in one commit:
//
//        0 ............ served .............. unlocked ............ made
//          granted,      to be served          LOCKED: the peer has
//          burnt, or                           not confirmed its half
//          a gap
// A gap is a range below `served` that is not served yet: the peer, which grants ranges to
// several runs at once, has granted it to a run that has not reached this store. The encoding is
// protobuf (cursors.proto, FORMAT.md). Cursors read from disk are untrusted.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "material/material.h"

namespace tinyot::storage {

// Indices [start, end) of every kind.
struct Range {
  MaterialCounts start;
  MaterialCounts end;

  friend bool operator==(const Range&, const Range&) = default;
};

struct Gap {
  MaterialKind kind;
  std::uint64_t first, end;

  friend bool operator==(const Gap&, const Gap&) = default;
};

// Material that is reserved for a later run.
struct PlannedReservation {
  std::uint64_t id;
  Range range;

  friend bool operator==(const PlannedReservation&, const PlannedReservation&) = default;
};

struct MaterialCursors {
  static constexpr std::size_t kGapsMax = 256, kPlannedMax = 1024, kSlotsToEraseMax = 4096;

  MaterialCounts made;      // in finished units, served or not
  MaterialCounts unlocked;  // of these, with halves that the peer has confirmed
  MaterialCounts served;    // first index not yet granted to a run
  // below `served` and never used: skipped because the peer had served more
  MaterialCounts burnt;
  MaterialCounts confirmed;  // highest known `served` of the peer
  std::uint64_t units_unlocked = 0;
  std::uint64_t attempts = 0;   // entries of the log
  std::uint64_t next_slot = 1;  // of the key table; slots are not reused
  std::uint64_t next_reservation = 1;
  std::vector<Gap> gaps;
  std::vector<PlannedReservation> planned;
  // slots to be erased: their keys are no longer in use, but may still be in the file
  std::vector<std::uint64_t> slots_to_erase;
  // identity_of() the files of this store; those of a copy differ
  std::uint64_t database_identity = 0, keys_identity = 0;

  friend bool operator==(const MaterialCursors&, const MaterialCursors&) = default;
};

std::string serialize_cursors(const MaterialCursors& cursors);

// Fails: StoreError naming the invalid field.
MaterialCursors parse_cursors(std::span<const std::byte> bytes);

}  // namespace tinyot::storage
