// Ids of live wires: who makes a stream takes them from a pool, who reads it looks wires up in a
// table.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "circuitgen/gate.h"

namespace tinyot::circuit {

// Small numbers, given out in ascending order, round and round over the unused ones, so that wires
// made one after the other stand side by side in tables: with the id returned last, a circuit of
// many live wires would miss the cache at every one.
class WireIds {
 public:
  WireId take() {
    // One in eight stays unused, so that the search costs a constant an id.
    if (8 * unused_count_ <= limit()) [[unlikely]]
      grow();
    while (unused_[cursor_] == 0) cursor_ = cursor_ + 1 == unused_.size() ? 0 : cursor_ + 1;
    const int bit = std::countr_zero(unused_[cursor_]);
    unused_[cursor_] &= unused_[cursor_] - 1;
    --unused_count_;
    return static_cast<WireId>(cursor_ * 64 + static_cast<std::size_t>(bit));
  }
  void give_back(WireId id) {
    unused_[id / 64] |= std::uint64_t{1} << (id % 64);
    ++unused_count_;
  }

  // Every id given out so far is below this; it never shrinks.
  std::size_t limit() const { return 64 * unused_.size(); }

 private:
  void grow() {
    cursor_ = unused_.size();
    unused_.resize(unused_.size() + 1 + unused_.size() / 8, ~std::uint64_t{0});
    unused_count_ += 64 * (unused_.size() - cursor_);
    ENSURE(limit() <= kWireIdMax);
  }

  std::vector<std::uint64_t> unused_;  // a bit an id
  std::size_t unused_count_ = 0;
  std::size_t cursor_ = 0;
};

// What is known of each live wire. Memory: O(the largest id).
// Fails: std::logic_error by ENSURE if a wire is made that lives, or asked for that does not: the
// stream is malformed.
template <class Record>
class WireTable {
 public:
  void make(WireId id, const Record& record) {
    ENSURE(id < kWireIdMax);
    if (id >= entries_.size()) [[unlikely]]
      entries_.resize(std::max<std::size_t>(64 + id, entries_.size() + entries_.size() / 2));
    ENSURE(!entries_[id].lives);
    entries_[id] = {record, true};
  }
  const Record& at(WireId id) const {
    ENSURE(id < entries_.size() && entries_[id].lives);
    return entries_[id].record;
  }
  Record free(WireId id) {
    const Record record = at(id);
    entries_[id].lives = false;
    return record;
  }

 private:
  struct Entry {
    Record record{};
    bool lives = false;
  };
  std::vector<Entry> entries_;
};

}  // namespace tinyot::circuit
