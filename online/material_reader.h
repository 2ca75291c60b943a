// Reads material ahead on its own thread and returns it in order, without copying. A caller that
// would have to wait reads, too. The material of a small run is read in the constructor, which is
// faster than waiting for another thread.
#pragma once

#include <array>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "material/batch_queue.h"
#include "material/material.h"

namespace tinyot::online {

// Batches whose last user has released them, so that their memory is used again: it need not be
// wiped in between, nor be assigned by the system.
class BatchPool : public std::enable_shared_from_this<BatchPool> {
 public:
  // The last copy of the pointer releases the batch to this object.
  std::shared_ptr<material::Batch> share(material::Batch batch);
  // Returns a released batch of the kind; without one, an empty batch.
  material::Batch acquire(MaterialKind kind);

 private:
  void release(std::unique_ptr<material::Batch> batch) noexcept;

  std::mutex mutex_;
  std::array<std::vector<material::Batch>, kMaterialKinds> released_;
};

class MaterialReader {
 public:
  // No other caller may draw from `source` during this object's lifetime. `wanted`: all material
  // that will be taken.
  MaterialReader(material::Source& source, const MaterialCounts& wanted);
  // Waits for a batch that is being read.
  ~MaterialReader();
  MaterialReader(const MaterialReader&) = delete;
  MaterialReader& operator=(const MaterialReader&) = delete;

  // The next `count` objects of a kind; each is returned once. Fails: as the source, for instance
  // OutOfMaterial.
  material::Slices take(MaterialKind kind, std::size_t count);

  // Seconds that take() has waited for the source or for the other thread, and those in which it
  // has opened batches itself.
  double waited_s() const { return waited_s_; }
  double opening_s() const { return opening_s_; }

 private:
  // Drawn at a time, at most. A run that needs no more of any kind is small.
  static constexpr std::size_t kReadObjects = std::size_t{1} << 14;
  static constexpr std::size_t kObjectsAhead = 3 * kReadObjects;  // of a kind

  // A batch that has been drawn. Empty until it is opened.
  struct Drawn {
    std::size_t count;
    std::shared_ptr<material::Batch> batch;
  };
  // What is read ahead of a kind.
  struct Ahead {
    std::uint64_t undrawn = 0;
    std::deque<Drawn> drawn;
    std::uint64_t count = 0;  // of the drawn objects
  };
  Ahead& ahead_of(MaterialKind kind) { return ahead_[static_cast<std::size_t>(kind)]; }

  void read_all(const MaterialCounts& wanted);
  void work();
  bool can_read(MaterialKind kind);
  std::optional<MaterialKind> next_to_read();
  void read_next(std::unique_lock<std::mutex>& lock, MaterialKind kind);
  void wait_for_first(std::unique_lock<std::mutex>& lock, MaterialKind kind);
  void take_first(MaterialKind kind);

  material::Source& source_;
  std::shared_ptr<BatchPool> batches_ = std::make_shared<BatchPool>();
  double waited_s_ = 0, opening_s_ = 0;
  material::BatchQueues open_;  // used by take() only, without the mutex
  std::array<Ahead, kMaterialKinds> ahead_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::exception_ptr failure_;
  bool ends_ = false;
  std::thread thread_;
};

// Concatenates the bits of one column of the slices. mine_bits and shared_bits select a column of
// this party's own bits or of shared bits.
BitVector bits_of(const material::Slices& slices,
                  const BitVector& (*column)(const material::Batch&, std::size_t),
                  std::size_t index);
const BitVector& mine_bits(const material::Batch& batch, std::size_t column);
const BitVector& shared_bits(const material::Batch& batch, std::size_t column);

// Iterates over slices: batch(), at() and left() are the next contiguous objects.
class SliceCursor {
 public:
  explicit SliceCursor(const material::Slices& slices) : slice_(slices.data()) {}

  const material::Batch& batch() const { return *slice_->batch; }
  std::size_t at() const { return slice_->from + done_; }
  std::size_t left() const { return slice_->count - done_; }
  void advance(std::size_t count) {
    done_ += count;
    if (done_ < slice_->count) return;
    ++slice_;
    done_ = 0;
  }

 private:
  const material::Slice* slice_;
  std::size_t done_ = 0;
};

}  // namespace tinyot::online
