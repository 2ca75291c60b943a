// Material is returned in order and once, even if the source is slow, fails or has too little.
#include "online/material_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "base/error.h"
#include "tests/support/becomes_true.h"
#include "tests/support/blocked_thread.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

constexpr std::size_t kBatch = std::size_t{1} << 14;  // as in MaterialReader
constexpr MaterialKind kOne = MaterialKind::Triples, kOther = MaterialKind::AuthBitsA;

// Objects of a kind are numbered: the number is in the first column of blocks, its lowest bit in
// the bits. They are drawn in order and opened by any thread.
class NumberedSource : public material::Source {
 public:
  material::Batch draw(MaterialKind kind, std::size_t count) override {
    return draw_up_to(kind, count).open({});
  }

  // Objects take the place of those of a returned batch.
  material::DrawnBatch draw_up_to(MaterialKind kind, std::size_t count) override {
    EXPECT_FALSE(drawing_.exchange(true)) << "two draws at a time";
    const std::size_t draw = draws;
    if (before_draw) before_draw(draw);
    drawn_by = ::gettid();
    ++draws;
    draws.notify_all();
    const std::uint64_t first = std::exchange(next_[static_cast<std::size_t>(kind)],
                                              next_[static_cast<std::size_t>(kind)] + count);
    drawing_ = false;
    return {count, [=, this](material::Batch memory) {
              if (before) before(draw);
              returned += memory.count > 0;
              EXPECT_TRUE(memory.count == 0 || memory.kind == kind);
              if (memory.count == 0) memory = material::Batch(kind, Party::A, count);
              number(memory, first, count);
              const std::lock_guard lock(mutex_);
              opened.push_back({kind, first, count, std::this_thread::get_id()});
              return memory;
            }};
  }

  std::uint64_t ready(MaterialKind) override { return is_ready ? 1 : 0; }
  void wait_for(MaterialKind) override { is_ready.wait(false); }

  struct Opened {
    MaterialKind kind;
    std::uint64_t first;
    std::size_t count;
    std::thread::id by;
  };
  // Called before objects are drawn, and before they are opened.
  std::function<void(std::size_t draw)> before_draw, before;
  std::vector<Opened> opened;  // read it only while none is being opened
  std::atomic<std::size_t> draws = 0;
  std::atomic<pid_t> drawn_by = 0;
  std::atomic<std::size_t> returned = 0;  // batches opened in the memory of a used one
  std::atomic<bool> is_ready = true;

 private:
  static void number(material::Batch& batch, std::uint64_t first, std::size_t count) {
    batch.count = count;
    for (std::size_t i = 0; i < count; ++i) {
      material::blocks_of_column(batch, 0)[i] = {first + i, 0};
      material::bits_of_column(batch, 0).put(i, (first + i) & 1);
    }
  }

  std::mutex mutex_;
  std::atomic<bool> drawing_ = false;
  std::array<std::uint64_t, kMaterialKinds> next_{};
};

MaterialCounts wanted(std::uint64_t of_one, std::uint64_t of_other = 0) {
  MaterialCounts counts;
  counts[kOne] = of_one;
  counts[kOther] = of_other;
  return counts;
}

// Expects the objects [first, first + count), by their blocks and by their bits.
void expect_numbers(const material::Slices& slices, std::size_t first, std::size_t count) {
  SliceCursor cursor(slices);
  const bool shared = count > 0 && cursor.batch().kind == kOne;
  const BitVector bits = bits_of(slices, shared ? shared_bits : mine_bits, 0);
  ASSERT_EQ(bits.size(), count);
  for (std::size_t i = 0; i < count; ++i, cursor.advance(1)) {
    ASSERT_GT(cursor.left(), 0u);
    const material::Batch& batch = cursor.batch();
    ASSERT_EQ(shared ? batch.shares[0].macs[cursor.at()].value.lo
                     : batch.mine[0].macs[cursor.at()].value.lo,
              first + i);
    ASSERT_EQ(bits[i], ((first + i) & 1) != 0);
  }
}

TEST(MaterialReader, ReturnsEachKindInOrderAcrossBatches) {
  for (const std::size_t step :
       {std::size_t{1000}, std::size_t{8191}, kBatch - 1, kBatch, kBatch + 1, 3 * kBatch + 5}) {
    NumberedSource source;
    constexpr std::size_t kAll = 5 * kBatch + 77;
    MaterialReader reader(source, wanted(kAll, kAll));
    for (std::size_t at = 0; at < kAll; at += step) {
      const std::size_t count = std::min(step, kAll - at),
                        batches = (at + count - 1) / kBatch - at / kBatch + 1;
      for (const MaterialKind kind : {kOther, kOne}) {
        const material::Slices slices = reader.take(kind, count);
        EXPECT_EQ(slices.size(), batches);
        expect_numbers(slices, at, count);
        if (HasFatalFailure()) FAIL() << "steps of " << step << ", at " << at;
      }
    }
  }
}

// A slice keeps its batch alive.
TEST(MaterialReader, SlicesOutliveTheReader) {
  NumberedSource source;
  material::Slices first, second;
  {
    MaterialReader reader(source, wanted(2 * kBatch));
    first = reader.take(kOne, kBatch - 3);
    second = reader.take(kOne, 6);
  }
  expect_numbers(first, 0, kBatch - 3);
  expect_numbers(second, kBatch - 3, 6);
}

TEST(MaterialReader, BatchesAreUsedAgainOnceTheirSlicesAreGone) {
  NumberedSource source;
  constexpr std::size_t kAll = 20 * kBatch, kStep = kBatch / 2;
  MaterialReader reader(source, wanted(kAll, kAll));
  material::Slices kept = reader.take(kOne, kStep);
  for (std::size_t at = 0; at < kAll; at += kStep) {
    if (at > 0) expect_numbers(reader.take(kOne, kStep), at, kStep);
    expect_numbers(reader.take(kOther, kStep), at, kStep);
  }
  EXPECT_GT(source.returned, 20u);
  expect_numbers(kept, 0, kStep);
}

TEST(MaterialReader, TakingZeroObjectsIsEmpty) {
  NumberedSource source;
  MaterialReader reader(source, wanted(3));
  EXPECT_TRUE(reader.take(kOther, 0).empty());
  EXPECT_TRUE(reader.take(kOne, 0).empty());
  expect_numbers(reader.take(kOne, 3), 0, 3);
  EXPECT_EQ(bits_of({}, shared_bits, 0).size(), 0u);
}

TEST(MaterialReader, ReadsSmallRunAtOnceWithoutAThread) {
  NumberedSource source;
  MaterialReader reader(source, wanted(kBatch, 5));
  ASSERT_EQ(source.opened.size(), 2u);
  for (const auto& batch : source.opened) {
    EXPECT_EQ(batch.by, std::this_thread::get_id());
    EXPECT_EQ(batch.count, batch.kind == kOne ? kBatch : 5u);
  }
  EXPECT_EQ(reader.take(kOne, kBatch).size(), 1u);
  EXPECT_EQ(reader.take(kOther, 5).size(), 1u);
  EXPECT_EQ(source.opened.size(), 2u);
  EXPECT_EQ(reader.waited_s(), 0);
}

void wait_for(const NumberedSource& source, std::size_t draws) {
  for (std::size_t now = source.draws; now < draws; now = source.draws) source.draws.wait(now);
}

TEST(MaterialReader, ReadsLargerRunAheadInAnotherThread) {
  NumberedSource source;
  {
    MaterialReader reader(source, wanted(kBatch + 1, 5));
    wait_for(source, 3);
  }
  ASSERT_EQ(source.opened.size(), 3u);
  for (const auto& batch : source.opened) EXPECT_NE(batch.by, std::this_thread::get_id());
}

// The first batch is opened only once the caller of take() has opened another one.
TEST(MaterialReader, CallerThatWouldWaitOpensBatches) {
  NumberedSource source;
  std::atomic<bool> caller_has_opened = false;
  source.before = [&, caller = std::this_thread::get_id()](std::size_t draw) {
    if (std::this_thread::get_id() == caller) {
      caller_has_opened = true;
    } else if (draw == 0) {
      EXPECT_TRUE(test::becomes_true([&] { return caller_has_opened.load(); }))
          << "the caller waits";
    }
  };
  MaterialReader reader(source, wanted(4 * kBatch));
  wait_for(source, 1);
  for (std::size_t at = 0; at < 4 * kBatch; at += kBatch)
    expect_numbers(reader.take(kOne, kBatch), at, kBatch);
  EXPECT_GT(reader.opening_s(), 0);
}

TEST(MaterialReader, ReadAheadIsBounded) {
  NumberedSource source;
  // The reading thread draws as many batches, and then no more.
  const auto expect_draws = [&](std::size_t draws) {
    wait_for(source, draws);
    EXPECT_TRUE(test::becomes_true([&] { return test::is_asleep(source.drawn_by); }));
    EXPECT_EQ(source.draws, draws);
  };
  {
    MaterialReader reader(source, wanted(20 * kBatch, 20 * kBatch));
    expect_draws(6);  // three batches of each kind
    reader.take(kOne, 1);
    expect_draws(7);
    reader.take(kOne, kBatch);
    wait_for(source, 8);
  }
  ASSERT_EQ(source.opened.size(), 8u);
  EXPECT_EQ(std::ranges::count(source.opened, kOther, &NumberedSource::Opened::kind), 3);
}

TEST(MaterialReader, WaitsForASourceThatIsNotReady) {
  NumberedSource source;
  source.is_ready = false;
  MaterialReader reader(source, wanted(kBatch + 1));
  test::BlockedThread taking([&] { expect_numbers(reader.take(kOne, kBatch + 1), 0, kBatch + 1); });
  EXPECT_EQ(source.draws, 0u);
  source.is_ready = true;
  source.is_ready.notify_all();
  taking.join();
  EXPECT_GT(reader.waited_s(), 0);
}

using Hook = std::function<void(std::size_t)> NumberedSource::*;

template <class Error>
void expect_failure_at(Hook hook, std::size_t draw, const Error& error) {
  SCOPED_TRACE(std::string("draw ") + std::to_string(draw) + ": " + error.what());
  NumberedSource source;
  source.*hook = [&](std::size_t number) {
    if (number == draw) throw error;
  };
  constexpr std::size_t kAll = 4 * kBatch, kStep = 3000;
  MaterialReader reader(source, wanted(kAll, kAll));
  std::size_t one = 0, other = 0;
  const auto take_all = [&] {
    while (other < kAll) {
      expect_numbers(reader.take(kOne, std::min(kStep, kAll - one)), one,
                     std::min(kStep, kAll - one));
      one += std::min(kStep, kAll - one);
      expect_numbers(reader.take(kOther, std::min(kStep, kAll - other)), other,
                     std::min(kStep, kAll - other));
      other += std::min(kStep, kAll - other);
    }
  };
  EXPECT_THROW(take_all(), Error);
  // Later calls fail without waiting, and draw nothing.
  EXPECT_THROW(reader.take(kOne, kAll), Error);
  const std::size_t draws = source.draws;
  EXPECT_THROW(reader.take(kOther, kAll), Error);
  EXPECT_THROW(reader.take(kOne, kAll), Error);
  EXPECT_EQ(source.draws, draws);
}

TEST(MaterialReader, FailureOfAnyDrawOrOpeningReachesTheCallerOfTake) {
  for (const Hook hook : {&NumberedSource::before_draw, &NumberedSource::before})
    for (std::size_t draw = 0; draw < 8; ++draw) {
      expect_failure_at(hook, draw, OutOfMaterial("none left"));
      expect_failure_at(hook, draw, StoreError("the disk is gone"));
      expect_failure_at(hook, draw, std::logic_error("a bug"));
    }
}

TEST(MaterialReader, FailureOfASmallRunIsThrownAtOnce) {
  for (std::size_t draw = 0; draw < 2; ++draw) {
    NumberedSource source;
    source.before = [&](std::size_t number) {
      if (number == draw) throw OutOfMaterial("none left");
    };
    EXPECT_THROW(MaterialReader(source, wanted(10, 10)), OutOfMaterial);
  }
}

TEST(MaterialReader, RejectsTakingMoreThanWanted) {
  for (const std::size_t all : {std::size_t{10}, kBatch, kBatch + 10, 5 * kBatch}) {
    NumberedSource source;
    MaterialReader reader(source, wanted(all));
    EXPECT_THROW(reader.take(kOther, 1), OutOfMaterial);
    expect_numbers(reader.take(kOne, all - 1), 0, all - 1);
    EXPECT_THROW(reader.take(kOne, 2), OutOfMaterial);
    expect_numbers(reader.take(kOne, 1), all - 1, 1);
    EXPECT_THROW(reader.take(kOne, 1), OutOfMaterial);
  }
}

TEST(MaterialReader, DestructorWaitsForABatchAndStartsNoOther) {
  NumberedSource source;
  std::atomic<bool> drawing = false, open = false;
  source.before = [&](std::size_t) {
    drawing = true;
    drawing.notify_all();
    open.wait(false);
  };
  auto reader = std::make_unique<MaterialReader>(source, wanted(10 * kBatch));
  drawing.wait(false);
  {
    test::BlockedThread destroying([&] { reader.reset(); });
    open = true;
    open.notify_all();
  }
  EXPECT_EQ(source.draws, 1u);
}

TEST(MaterialReader, DestructorAcceptsAnUnreportedFailure) {
  NumberedSource source;
  std::atomic<bool> failed = false;
  source.before = [&](std::size_t) {
    failed = true;
    failed.notify_all();
    throw OutOfMaterial("none left");
  };
  MaterialReader reader(source, wanted(2 * kBatch));
  failed.wait(false);
}

}  // namespace
}  // namespace tinyot
