// Ids of live wires: a pool for the producer of a stream, a table for its consumer.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "tinyot/circuit/gate.h"

namespace tinyot::circuit {

// A pool of small numbers. The unused ids are assigned in cyclic ascending order, so that wires
// made in sequence are adjacent in tables. If the id returned last were reused first, a circuit
// with many live wires would miss the cache at each of them.
class WireIds {
 public:
  WireId take() {
    // One in eight stays unused, so that the search takes constant time per id.
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

  // Upper bound of all ids so far; never shrinks.
  std::size_t limit() const { return 64 * unused_.size(); }

 private:
  void grow() {
    cursor_ = unused_.size();
    unused_.resize(unused_.size() + 1 + unused_.size() / 8, ~std::uint64_t{0});
    unused_count_ += 64 * (unused_.size() - cursor_);
    ENSURE(limit() <= kWireIdMax);
  }

  std::vector<std::uint64_t> unused_;  // one bit per id
  std::size_t unused_count_ = 0;
  std::size_t cursor_ = 0;
};

// A record for each live wire. Memory: O(largest id). Fails: std::logic_error by ENSURE if a live
// wire is made again or a wire that is not live is accessed: the stream is malformed.
template <class Record>
class WireTable {
 public:
  void make(WireId id, const Record& record) {
    ENSURE(id < kWireIdMax);
    if (id >= entries_.size()) [[unlikely]]
      entries_.resize(std::max<std::size_t>(64 + id, entries_.size() + entries_.size() / 2));
    ENSURE(!entries_[id].live);
    entries_[id] = {record, true};
  }
  const Record& at(WireId id) const {
    ENSURE(id < entries_.size() && entries_[id].live);
    return entries_[id].record;
  }
  Record free(WireId id) {
    const Record record = at(id);
    entries_[id].live = false;
    return record;
  }

 private:
  struct Entry {
    Record record{};
    bool live = false;
  };
  std::vector<Entry> entries_;
};

}  // namespace tinyot::circuit
