// A store in memory between a party's offline and online phase, for a run that uses its material as
// it is made: what was poured is drawn once, in order, and is gone. It lives and dies with the
// process, so nothing of it is ever served again.
//
// Bounded: whoever pours waits at the beginning of a unit while kReadyBytesMax are ready, unless
// somebody waits for material; so neither side can wait for the other for ever. Memory:
// kReadyBytesMax and two units, if kinds are used as evenly as they are made.
//
// One thread pours, another one draws, any may end it.
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

  // Fails: what end() was given.
  void pour(MaterialBatch batch) override;
  void finish_unit() override;

  // Waits until the objects are there. Fails: what end() was given, once there are not enough.
  MaterialBatch draw(MaterialKind kind, std::size_t count) override;
  std::uint64_t ready(MaterialKind kind) override;

  // Nobody draws any more: what is still poured is dropped.
  void drain() noexcept;

  // No more is poured, or wanted: whoever pours or waits fails with `reason`. What is ready can
  // still be drawn.
  void end(std::exception_ptr reason) noexcept;

 private:
  struct Line {
    std::deque<MaterialBatch> open, ready;  // of the unit that is not finished, and before
    std::uint64_t ready_count = 0;
    std::size_t taken = 0;  // of the first batch that is ready
  };
  Line& line_of(MaterialKind kind) { return lines_[static_cast<std::size_t>(kind)]; }
  MaterialBatch take(Line& line, MaterialKind kind, std::size_t count);

  Party me_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<Line, kMaterialKinds> lines_;
  std::uint64_t ready_bytes_ = 0;
  bool unit_begun_ = false;
  bool awaited_ = false;
  bool drains_ = false;
  std::exception_ptr end_;
};

}  // namespace tinyot::storage
