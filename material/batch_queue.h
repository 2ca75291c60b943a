// A queue of material of one kind, between a producer of batches and a consumer of objects: batches
// are added as they arrive, and any number of objects is taken out in the same order.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "material/material.h"

namespace tinyot::material {

// Objects [from, from + count) of a batch, which the slice keeps in memory.
struct Slice {
  std::shared_ptr<const Batch> batch;
  std::size_t from;
  std::size_t count;
};
using Slices = std::vector<Slice>;

class BatchQueue {
 public:
  // A batch without objects is dropped.
  void push(std::shared_ptr<Batch> batch);
  void push(Batch batch) { push(std::make_shared<Batch>(std::move(batch))); }
  // Moves the first batch of another queue to the end of this one. No object of the batch has been
  // dropped.
  void push_first_of(BatchQueue& other);

  std::uint64_t count() const { return count_; }  // of objects
  std::size_t batches() const { return batches_.size(); }
  // Objects that are left of the first batch.
  std::size_t first_count() const {
    return batches_.empty() ? 0 : batches_.front()->count - dropped_;
  }
  // Bytes of the objects, if all batches have the columns of the first one.
  std::uint64_t bytes() const;

  // The objects [from, from + count), counted from the front.
  Slices slices(std::uint64_t from, std::uint64_t count) const;
  void drop(std::uint64_t count);

  // The next `count` objects. A batch that is taken exactly as it was pushed is moved, not copied.
  Batch take(MaterialKind kind, Party me, std::size_t count);

 private:
  std::deque<std::shared_ptr<Batch>> batches_;
  std::size_t dropped_ = 0;  // objects already dropped of batches_.front()
  std::uint64_t count_ = 0;
};

// A queue for each kind.
struct BatchQueues {
  std::array<BatchQueue, kMaterialKinds> of;

  BatchQueue& operator[](MaterialKind kind) { return of[static_cast<std::size_t>(kind)]; }
  const BatchQueue& operator[](MaterialKind kind) const {
    return of[static_cast<std::size_t>(kind)];
  }
  std::uint64_t bytes() const;
};

}  // namespace tinyot::material
