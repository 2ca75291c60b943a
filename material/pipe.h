// An in-memory queue between a party's offline and online phase, for a run that uses its material
// as it is made. Objects are drawn once and in order. Nothing is written to disk, so nothing can be
// served again after the process ends.
// Bounded: pour() blocks at the beginning of a unit while kReadyBytesMax are ready, unless draw()
// is waiting, so the two threads cannot deadlock. Memory: kReadyBytesMax and two units, if kinds
// are used in the proportion in which they are made.
//
// Threads: one pours, one draws, any may call end().
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>

#include "material/batch_queue.h"
#include "material/material.h"

namespace tinyot::material {

class Pipe : public Sink, public Source {
 public:
  static constexpr std::uint64_t kReadyBytesMax = kWaitingBytes;

  explicit Pipe(Party me) : me_(me) {}

  // Fails: with the exception given to end().
  void pour(Batch batch) override;
  void finish_unit() override;

  // Blocks until the objects are ready. Fails: with the exception given to end(), if they are not
  // ready by then.
  Batch draw(MaterialKind kind, std::size_t count) override;
  // Does not wait for more than one object. Returns whole batches as they were poured, as long as
  // they are drawn from their beginning.
  DrawnBatch draw_up_to(MaterialKind kind, std::size_t count) override;
  std::uint64_t ready(MaterialKind kind) override;
  void wait_for(MaterialKind kind) override;

  // Nothing more will be drawn: material poured from now on is dropped.
  void drain() noexcept;

  // Makes pour(), and draw() beyond what is ready, fail with `reason`. Only the first reason
  // counts.
  void end(std::exception_ptr reason) noexcept;

 private:
  // The queue of a kind, once `count` objects are ready.
  BatchQueue& queue_with(std::unique_lock<std::mutex>& lock, MaterialKind kind, std::size_t count);

  Party me_;
  std::mutex mutex_;
  std::condition_variable changed_;
  BatchQueues open_, ready_;  // of the unfinished unit; of finished units
  bool unit_begun_ = false;
  bool awaited_ = false;
  bool drains_ = false;
  std::exception_ptr end_;
};

}  // namespace tinyot::material
