// Batches that are poured but not yet committed. Records are cut from the front of each kind's
// queue; what a record has taken leaves the queue only after its transaction is committed, so that
// a transaction can be tried again.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/material.h"
#include "storage/record.h"

namespace tinyot::storage {

class PourQueue {
 public:
  void add(MaterialBatch batch);

  // Objects of a kind in the queue, and bytes of all kinds together.
  std::uint64_t count(MaterialKind kind) const { return of(kind).count; }
  std::uint64_t bytes() const;

  // The objects [from, from + count) of a kind, counted from the front.
  std::vector<Segment> segments(MaterialKind kind, std::uint64_t from, std::uint64_t count) const;

  void drop_front(MaterialKind kind, std::uint64_t count);

 private:
  struct Line {
    std::deque<MaterialBatch> batches;
    std::size_t taken = 0;  // objects of the front batch that have left
    std::uint64_t count = 0;
  };
  Line& of(MaterialKind kind) { return lines_[static_cast<std::size_t>(kind)]; }
  const Line& of(MaterialKind kind) const { return lines_[static_cast<std::size_t>(kind)]; }

  std::array<Line, kMaterialKinds> lines_;
};

}  // namespace tinyot::storage
