// Where a store stands, kind by kind. All of it changes in one commit:
//
//        0 ............ position ............ unlocked ............ made
//          served,       to be served          LOCKED: the peer has
//          burnt, or                           not confirmed its half
//          a gap
//
// A gap is below the position and not served: the peer, who allots ranges to several runs at once,
// has given it to a run that has not come to this store yet. The coding is protobuf (marks.proto,
// FORMAT.md), and untrusted when it is read.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/material.h"

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

// Material that is set aside for a run to come.
struct PlannedReservation {
  std::uint64_t id;
  Range range;

  friend bool operator==(const PlannedReservation&, const PlannedReservation&) = default;
};

struct Marks {
  static constexpr std::size_t kGapsMax = 256, kPlannedMax = 1024, kDoomedMax = 4096;

  MaterialCounts made;      // in finished units, served or not
  MaterialCounts unlocked;  // of these, whose other halves the peer has confirmed
  MaterialCounts position;  // first index that no run has been given
  // below the position, and never served: passed over because the peer was ahead
  MaterialCounts burnt;
  MaterialCounts confirmed;  // the position that the peer is known to have had
  std::uint64_t units_unlocked = 0;
  std::uint64_t attempts = 0;   // at units, in the log
  std::uint64_t next_slot = 1;  // of the key table; never used again
  std::uint64_t next_reservation = 1;
  std::vector<Gap> gaps;
  std::vector<PlannedReservation> planned;
  // slots whose keys seal nothing any more, but may still be there
  std::vector<std::uint64_t> doomed;
  // The files that these marks were written to: a copy of a store has others.
  std::uint64_t database_identity = 0, keys_identity = 0;

  friend bool operator==(const Marks&, const Marks&) = default;
};

std::string serialize_marks(const Marks& marks);

// Fails: StoreError naming the field that no marks can have.
Marks parse_marks(std::span<const std::byte> bytes);

}  // namespace tinyot::storage
