// Batches that are poured but not yet committed, a queue for each kind. Objects leave a queue only
// after the transaction with their record is committed, so that it can be repeated.
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
  struct KindQueue {
    std::deque<MaterialBatch> batches;
    std::size_t taken = 0;  // objects already dropped of batches.front()
    std::uint64_t count = 0;
  };
  KindQueue& of(MaterialKind kind) { return queues_[static_cast<std::size_t>(kind)]; }
  const KindQueue& of(MaterialKind kind) const { return queues_[static_cast<std::size_t>(kind)]; }

  std::array<KindQueue, kMaterialKinds> queues_;
};

}  // namespace tinyot::storage
