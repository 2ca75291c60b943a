// An in-memory queue between a party's offline and online phase, for a run that uses its material
// as it is made. Objects are drawn once and in order. Nothing is written to disk, so nothing can be
// served again after the process ends.
// Bounded: pour() blocks at the beginning of a unit while kReadyBytesMax are ready, unless draw()
// is waiting, so the two threads cannot deadlock. Memory: kReadyBytesMax and two units, if kinds
// are used in the proportion in which they are made.
//
// Threads: one pours, one draws, any may call end().
#pragma once

#include <array>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>

#include "base/material.h"

namespace tinyot::storage {

class MaterialPipe : public MaterialSink, public MaterialSource {
 public:
  static constexpr std::uint64_t kReadyBytesMax = std::uint64_t{48} << 20;

  explicit MaterialPipe(Party me) : me_(me) {}

  // Fails: with the exception given to end().
  void pour(MaterialBatch batch) override;
  void finish_unit() override;

  // Blocks until the objects are ready. Fails: with the exception given to end(), if they are not
  // ready by then.
  MaterialBatch draw(MaterialKind kind, std::size_t count) override;
  std::uint64_t ready(MaterialKind kind) override;

  // No more is drawn: what is poured from now on is dropped.
  void drain() noexcept;

  // Makes pour(), and draw() beyond what is ready, fail with `reason`. The first reason stays.
  void end(std::exception_ptr reason) noexcept;

 private:
  struct KindQueue {
    std::deque<MaterialBatch> open, ready;  // of the unfinished unit; of finished units
    std::uint64_t ready_count = 0;
    std::size_t taken = 0;  // objects already drawn of ready.front()
  };
  KindQueue& queue_of(MaterialKind kind) { return queues_[static_cast<std::size_t>(kind)]; }
  MaterialBatch take(KindQueue& queue, MaterialKind kind, std::size_t count);

  Party me_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<KindQueue, kMaterialKinds> queues_;
  std::uint64_t ready_bytes_ = 0;
  bool unit_begun_ = false;
  bool awaited_ = false;
  bool drains_ = false;
  std::exception_ptr end_;
};

}  // namespace tinyot::storage
