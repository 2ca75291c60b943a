// Dense numbers for live wires: what layering, evaluation and counting index their tables with.
//
// Wire ids grow for ever, live wires are few. A wire keeps its number until recycle(), and is found by its id until forget().
// Recent ids are looked up in a vector indexed by (id - base); whoever outlives the vector moves to a hash table once.
// Memory: O(live wires + kRecent), however many ids have passed.
//
// Numbers are given out in ascending order, round and round over the unused ones, so that wires made one after the other
// stand side by side in the tables: with the number returned last, a large window would miss the cache at every wire.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "circuitgen/gate.h"

namespace tinyot {

using WireNumber = std::uint32_t;
inline constexpr WireNumber kNoWire = ~WireNumber{0};

// Open addressing from id to number, linear probing, no tombstones. Ids are hashed in groups, because wires of one word are
// made together and read together.
class WireHash {
 public:
  WireNumber find(WireId id) const;  // kNoWire if absent
  void insert(WireId id, WireNumber number);
  WireNumber erase(WireId id);  // kNoWire if absent

 private:
  struct Entry {
    WireId id = 0;
    WireNumber number = kNoWire;  // kNoWire: the entry is empty
  };
  static constexpr std::size_t kGroup = 8;
  std::size_t home_of(WireId id) const {
    return (((id / kGroup) * 0x9e3779b97f4a7c15ULL) >> shift_) * kGroup + id % kGroup;
  }
  std::size_t position_of(WireId id) const;  // of the id, or of the empty entry where it would go
  void grow();

  std::vector<Entry> entries_;
  std::size_t used_ = 0;
  int shift_ = 0;  // leaves as many bits as there are groups
};

// Fails: std::logic_error by ENSURE if ids do not increase, or if a wire is asked for that was not added or is forgotten.
class WireNumbers {
 public:
  WireNumber add(WireId id) {
    ENSURE(id >= next_id_ && id != ~WireId{0});
    next_id_ = id + 1;
    if (id - base_ != recent_.size() || recent_.size() == kRecent) [[unlikely]] make_room(id);
    const WireNumber number = take();
    recent_.push_back(number);
    return number;
  }

  WireNumber number_of(WireId id) const {
    const WireId offset = id - base_;
    const WireNumber number = offset < recent_.size() ? recent_[offset] : old_.find(id);
    ENSURE(number != kNoWire);
    return number;
  }

  // The id is unknown from now on; the number stays in use.
  WireNumber forget(WireId id) {
    const WireId offset = id - base_;
    const WireNumber number = offset < recent_.size() ? recent_[offset] : old_.erase(id);
    ENSURE(number != kNoWire);
    if (offset < recent_.size()) recent_[offset] = kNoWire;
    return number;
  }

  void recycle(WireNumber number) {
    unused_[number / 64] |= std::uint64_t{1} << (number % 64);
    ++unused_count_;
  }

  // Every number is below this; it never shrinks.
  std::size_t limit() const { return limit_; }

 private:
  static constexpr std::size_t kRecent = std::size_t{1} << 18;
  static constexpr std::size_t kGapMax = 64;  // a longer gap between ids starts the vector anew

  WireNumber take() {
    // One in eight stays unused: what is free when a round begins is all ahead, so a round gives out an eighth at least, and
    // to search costs a constant a wire.
    if (unused_count_ <= limit_ / 8) [[unlikely]] grow();
    while (unused_[cursor_] == 0) cursor_ = cursor_ + 1 == unused_.size() ? 0 : cursor_ + 1;
    const int bit = std::countr_zero(unused_[cursor_]);
    unused_[cursor_] &= unused_[cursor_] - 1;
    --unused_count_;
    return static_cast<WireNumber>(cursor_ * 64 + static_cast<std::size_t>(bit));
  }
  void grow();
  void make_room(WireId id);

  WireId next_id_ = 0;
  WireId base_ = 0;
  std::vector<WireNumber> recent_;
  WireHash old_;
  std::vector<std::uint64_t> unused_;  // a bit a number
  std::size_t unused_count_ = 0;
  std::size_t cursor_ = 0;
  std::size_t limit_ = 0;
};

}  // namespace tinyot
