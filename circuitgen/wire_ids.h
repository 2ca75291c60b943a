// Ids of live wires: a pool for the producer of a stream, a table for its consumer.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
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
  // Returns the record, to be set by the caller.
  Record& make(WireId id) {
    ENSURE(id < kWireIdMax);
    if (id >= records_.size()) [[unlikely]]
      grow(id);
    ENSURE(!is_live(id));
    live_[id / 64] |= bit(id);
    return records_[id];
  }
  const Record& at(WireId id) const {
    ENSURE(id < records_.size() && is_live(id));
    return records_[id];
  }
  Record& at(WireId id) { return const_cast<Record&>(std::as_const(*this).at(id)); }
  Record free(WireId id) {
    const Record record = at(id);
    live_[id / 64] &= ~bit(id);
    return record;
  }

 private:
  static std::uint64_t bit(WireId id) { return std::uint64_t{1} << (id % 64); }
  bool is_live(WireId id) const { return (live_[id / 64] & bit(id)) != 0; }
  void grow(WireId id) {
    records_.resize(std::max<std::size_t>(64 + id, records_.size() + records_.size() / 2));
    live_.resize((records_.size() + 63) / 64);
  }

  std::vector<Record> records_;
  std::vector<std::uint64_t> live_;  // one bit per id
};

}  // namespace tinyot::circuit
