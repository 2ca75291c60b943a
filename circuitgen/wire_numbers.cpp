#include "circuitgen/wire_numbers.h"

#include <bit>
#include <utility>

namespace tinyot {

std::size_t WireHash::position_of(WireId id) const {
  const std::size_t mask = entries_.size() - 1;
  std::size_t position = home_of(id);
  while (entries_[position].number != kNoWire && entries_[position].id != id) position = (position + 1) & mask;
  return position;
}

WireNumber WireHash::find(WireId id) const { return entries_.empty() ? kNoWire : entries_[position_of(id)].number; }

void WireHash::insert(WireId id, WireNumber number) {
  if (2 * (used_ + 1) > entries_.size()) grow();
  entries_[position_of(id)] = {id, number};
  ++used_;
}

void WireHash::grow() {
  const std::vector<Entry> before = std::exchange(entries_, std::vector<Entry>(entries_.empty() ? 64 : 2 * entries_.size()));
  shift_ = 64 - std::countr_zero(entries_.size() / kGroup);
  for (const Entry& entry : before) {
    if (entry.number != kNoWire) entries_[position_of(entry.id)] = entry;
  }
}

WireNumber WireHash::erase(WireId id) {
  if (entries_.empty()) return kNoWire;
  const std::size_t mask = entries_.size() - 1;
  std::size_t hole = position_of(id);
  const WireNumber number = entries_[hole].number;
  if (number == kNoWire) return kNoWire;
  --used_;
  // Entries behind the hole that probed across it move into it, so that no search ends too early.
  for (std::size_t next = (hole + 1) & mask; entries_[next].number != kNoWire; next = (next + 1) & mask) {
    const std::size_t probed = (next - home_of(entries_[next].id)) & mask;
    if (probed >= ((next - hole) & mask)) {
      entries_[hole] = entries_[next];
      hole = next;
    }
  }
  entries_[hole] = {};
  return number;
}

void WireNumbers::grow() {
  cursor_ = unused_.size();
  unused_.resize(unused_.size() + 1 + unused_.size() / 8, ~std::uint64_t{0});
  unused_count_ += 64 * (unused_.size() - cursor_);
  limit_ = 64 * unused_.size();
  ENSURE(limit_ < kNoWire);
}

void WireNumbers::make_room(WireId id) {
  const WireId offset = id - base_;
  if (offset < kRecent && offset - recent_.size() <= kGapMax) {
    recent_.resize(offset, kNoWire);
    return;
  }
  for (std::size_t i = 0; i < recent_.size(); ++i) {
    if (recent_[i] != kNoWire) old_.insert(base_ + i, recent_[i]);
  }
  recent_.clear();
  base_ = id;
}

}  // namespace tinyot
