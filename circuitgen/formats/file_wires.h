// The live wires of a circuit file while its gates are streamed: maps the name (number) of a wire
// in the file to its id in the stream.
//
// Several wires of the file may be names of one wire of the stream, which is live until the last of
// them is released. Most of a reader's time is spent here, so the table is inline, and one probe
// both inserts and reports a duplicate. Memory: O(live wires).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "circuitgen/formats/file_gate.h"
#include "tinyot/circuit/gate.h"

namespace tinyot::circuit {

class FileWires {
 public:
  using Place = std::uint32_t;  // of a live wire, until release() returns true
  static constexpr Place kNone = ~Place{0};

  // kNone if no live wire has the name. take() removes the name; the place stays until release().
  Place find(FileWire name) const { return table_[position_of(name)].place; }
  Place take(FileWire name) {
    const std::size_t position = position_of(name);
    const Place place = table_[position].place;
    if (place != kNone) remove(position);
    return place;
  }

  WireId id(Place place) const { return wires_[place].id; }

  // Adds a name for a new wire, or another name for a wire. False if a live wire has the name
  // already.
  bool add(FileWire name, WireId id) {
    if (unused_ == kNone) {
      unused_ = static_cast<Place>(wires_.size());
      wires_.push_back({kNone, 0});
    }
    const Place place = unused_;
    if (!insert(name, place)) return false;
    unused_ = static_cast<Place>(std::exchange(wires_[place].id, id));
    wires_[place].names = 1;
    return true;
  }
  bool add_name(FileWire name, Place place) {
    if (!insert(name, place)) return false;
    ++wires_[place].names;
    return true;
  }

  // Call it once for each name that was taken; true if that was the last name of the wire.
  bool release(Place place) {
    if (--wires_[place].names > 0) return false;
    wires_[place].id = std::exchange(unused_, place);
    return true;
  }

 private:
  struct Wire {
    WireId id;  // of an unused place: the next unused place
    std::uint32_t names;
  };
  struct Entry {
    FileWire name = 0;
    Place place = kNone;  // kNone: the entry is empty
  };
  // Names are hashed in groups of one cache line, because wires that are written together are often
  // read together.
  static constexpr std::size_t kGroup = 64 / sizeof(Entry);
  static constexpr std::size_t kStart = 64;

  std::size_t home_of(FileWire name) const {
    return (((name / kGroup) * 0x9e3779b97f4a7c15ULL) >> shift_) * kGroup + name % kGroup;
  }
  std::size_t after(std::size_t position) const { return (position + 1) & (table_.size() - 1); }
  // The position of the name, or of the empty entry for it.
  std::size_t position_of(FileWire name) const {
    std::size_t position = home_of(name);
    while (table_[position].place != kNone && table_[position].name != name)
      position = after(position);
    return position;
  }

  bool insert(FileWire name, Place place) {
    // load factor at most 1/4, so that most searches take one probe
    if (4 * (used_ + 1) > table_.size()) grow();
    Entry& entry = table_[position_of(name)];
    if (entry.place != kNone) return false;
    entry = {name, place};
    ++used_;
    return true;
  }

  // Deletion by backward shift: later entries whose probe sequence crosses the hole move into it.
  void remove(std::size_t hole) {
    for (std::size_t next = after(hole); table_[next].place != kNone; next = after(next)) {
      const std::size_t mask = table_.size() - 1,
                        probed = (next - home_of(table_[next].name)) & mask;
      if (probed < ((next - hole) & mask)) continue;
      table_[hole] = table_[next];
      hole = next;
    }
    table_[hole].place = kNone;
    --used_;
  }

  void grow() {
    const std::vector<Entry> before = std::exchange(table_, std::vector<Entry>(2 * table_.size()));
    shift_ = shift_of(table_.size());
    for (const Entry& entry : before) {
      if (entry.place != kNone) table_[position_of(entry.name)] = entry;
    }
  }
  static int shift_of(std::size_t entries) { return 64 - std::countr_zero(entries / kGroup); }

  std::vector<Entry> table_ = std::vector<Entry>(kStart);
  std::size_t used_ = 0;
  int shift_ = shift_of(kStart);
  std::vector<Wire> wires_;
  Place unused_ = kNone;  // head of the list of unused places
};

}  // namespace tinyot::circuit
