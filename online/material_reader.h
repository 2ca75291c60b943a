// Reads material ahead of need, by a thread of its own, and hands it out in order, without copying
// it again. What a small run wants is read at once: to wait for another thread would take longer.
#pragma once

#include <array>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/material.h"

namespace tinyot::online {

// Objects [from, from + count) of a batch.
struct MaterialSlice {
  std::shared_ptr<const MaterialBatch> batch;
  std::size_t from;
  std::size_t count;
};
using MaterialSlices = std::vector<MaterialSlice>;

class MaterialReader {
 public:
  // Nobody else draws from `source` while this object lives. `wanted`: all that will be taken.
  MaterialReader(MaterialSource& source, const MaterialCounts& wanted);
  // Waits for a draw that has begun.
  ~MaterialReader();
  MaterialReader(const MaterialReader&) = delete;
  MaterialReader& operator=(const MaterialReader&) = delete;

  // The next `count` objects of a kind, each handed out once. Fails: as the source, OutOfMaterial
  // among it.
  MaterialSlices take(MaterialKind kind, std::size_t count);

  // Seconds that take() has waited for the source.
  double waited_s() const { return waited_s_; }

 private:
  static constexpr std::size_t kReadObjects = std::size_t{1} << 14;  // drawn at a time
  static constexpr std::size_t kBatchesAhead = 3;                    // of a kind

  struct Line {
    std::uint64_t unread = 0;  // objects still to be drawn
    std::deque<std::shared_ptr<const MaterialBatch>> ready;
    // The taker's own.
    std::shared_ptr<const MaterialBatch> open;
    std::size_t taken = 0;  // of the open batch
  };

  Line& line_of(MaterialKind kind) { return lines_[static_cast<std::size_t>(kind)]; }
  void read_all(const MaterialCounts& wanted);
  void work();
  Line* next_to_read();
  void open_next(MaterialKind kind, Line& line);

  MaterialSource& source_;
  double waited_s_ = 0;
  std::array<Line, kMaterialKinds> lines_;
  Line* asked_ = nullptr;  // what take() waits for
  std::mutex mutex_;
  std::condition_variable changed_;
  std::exception_ptr failure_;
  bool ends_ = false;
  std::thread thread_;
};

// Bits of one column of what was taken, side by side; and the same of a column of mine or shared.
BitVector bits_of(const MaterialSlices& slices,
                  const BitVector& (*column)(const MaterialBatch&, std::size_t), std::size_t index);
const BitVector& mine_bits(const MaterialBatch& batch, std::size_t column);
const BitVector& shared_bits(const MaterialBatch& batch, std::size_t column);

// Walks along what was taken: the next objects that lie side by side.
class SliceCursor {
 public:
  explicit SliceCursor(const MaterialSlices& slices) : slice_(slices.data()) {}

  const MaterialBatch& batch() const { return *slice_->batch; }
  std::size_t at() const { return slice_->from + done_; }
  std::size_t left() const { return slice_->count - done_; }
  void advance(std::size_t count) {
    done_ += count;
    if (done_ < slice_->count) return;
    ++slice_;
    done_ = 0;
  }

 private:
  const MaterialSlice* slice_;
  std::size_t done_ = 0;
};

}  // namespace tinyot::online
