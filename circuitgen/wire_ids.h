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
    while (word_ == 0) [[unlikely]] next_word();
    const auto bit = static_cast<std::size_t>(std::countr_zero(word_));
    word_ &= word_ - 1;
    return static_cast<WireId>(cursor_ * 64 + bit);
  }
  void release(WireId id) {
    unused_[id / 64] |= std::uint64_t{1} << (id % 64);
    ++unused_count_;
  }

  // Upper bound of all ids so far; never shrinks.
  std::size_t limit() const { return 64 * unused_.size(); }

 private:
  [[gnu::noinline]] void next_word() {
    // One in eight stays unused, so that the search takes constant time per id.
    if (8 * unused_count_ <= limit())
      grow();
    else
      cursor_ = cursor_ + 1 == unused_.size() ? 0 : cursor_ + 1;
    word_ = std::exchange(unused_[cursor_], 0);
    unused_count_ -= static_cast<std::size_t>(std::popcount(word_));
  }
  void grow() {
    cursor_ = unused_.size();
    unused_.resize(unused_.size() + 1 + unused_.size() / 8, ~std::uint64_t{0});
    unused_count_ += 64 * (unused_.size() - cursor_);
    ENSURE(limit() <= kWireIdMax);
  }

  std::vector<std::uint64_t> unused_;  // one bit per id, without those in word_
  std::size_t unused_count_ = 0;
  std::size_t cursor_ = 0;
  std::uint64_t word_ = 0;  // the unused ids from 64 * cursor_ on that are assigned next
};

// A record for each live wire: its is_live() is false until the table calls set_live(). Memory:
// O(largest id). Fails: std::logic_error by ENSURE if a live wire is made again or a wire that is
// not live is accessed: the stream is malformed.
template <class Record>
class WireTable {
 public:
  void make(WireId id, Record record) {
    if (id >= limit_) [[unlikely]]
      return grow_and_make(id, record);
    ENSURE(!records_[id].is_live());
    record.set_live();
    records_[id] = record;
  }
  const Record& at(WireId id) const {
    ENSURE(id < limit_ && records_[id].is_live());
    return records_[id];
  }
  Record& at(WireId id) { return const_cast<Record&>(std::as_const(*this).at(id)); }
  Record free(WireId id) { return std::exchange(at(id), Record{}); }

 private:
  [[gnu::noinline]] void grow_and_make(WireId id, Record record) {
    ENSURE(id < kWireIdMax);
    limit_ = std::min<std::size_t>(std::max<std::size_t>(64 + id, limit_ + limit_ / 2), kWireIdMax);
    records_.resize(limit_);
    make(id, record);
  }

  std::vector<Record> records_;
  std::size_t limit_ = 0;  // the size of records_
};

}  // namespace tinyot::circuit
