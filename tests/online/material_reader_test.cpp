// Material is returned in order and once, even if the source is slow, fails or has too little.
#include "online/material_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

#include "base/error.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

constexpr std::size_t kBatch = std::size_t{1} << 14;  // as in MaterialReader
constexpr MaterialKind kOne = MaterialKind::Triples, kOther = MaterialKind::AuthBitsA;

// Objects of a kind are numbered: the number is in the first column of blocks, its lowest bit in
// the bits.
class NumberedSource : public MaterialSource {
 public:
  MaterialBatch draw(MaterialKind kind, std::size_t count) override {
    EXPECT_FALSE(drawing_.exchange(true)) << "two draws at a time";
    if (before) before(draws.load());
    MaterialBatch batch(kind, Party::A, count);
    for (std::size_t i = 0; i < count; ++i, ++numbers_[static_cast<std::size_t>(kind)]) {
      const std::uint64_t number = numbers_[static_cast<std::size_t>(kind)];
      if (kind == kOne)
        batch.shares[0].macs[i].value = {number, 0}, batch.shares[0].bits.put(i, number & 1);
      else
        batch.mine[0].macs[i].value = {number, 0}, batch.mine[0].bits.put(i, number & 1);
    }
    drawn.push_back({kind, count, std::this_thread::get_id()});
    ++draws;
    drawing_ = false;
    return batch;
  }

  // Objects take the place of those of a returned batch.
  MaterialBatch draw_some(MaterialKind kind, std::size_t count, MaterialBatch memory) override {
    returned += memory.count > 0;
    EXPECT_TRUE(memory.count == 0 || memory.kind == kind);
    MaterialBatch batch = draw(kind, count);
    if (memory.count == 0) return batch;
    copy_objects(batch, 0, count, memory, 0);
    memory.count = count;
    return memory;
  }

  struct Draw {
    MaterialKind kind;
    std::size_t count;
    std::thread::id by;
  };
  std::function<void(std::size_t draw)> before;
  std::vector<Draw> drawn;  // read it only while no draw is in progress
  std::atomic<std::size_t> draws = 0;
  std::atomic<std::size_t> returned = 0;  // draws that were given a used batch

 private:
  std::atomic<bool> drawing_ = false;
  std::array<std::uint64_t, kMaterialKinds> numbers_{};
};

MaterialCounts wanted(std::uint64_t of_one, std::uint64_t of_other = 0) {
  MaterialCounts counts;
  counts[kOne] = of_one;
  counts[kOther] = of_other;
  return counts;
}

// Expects the objects [first, first + count), by their blocks and by their bits.
void expect_numbers(const MaterialSlices& slices, std::size_t first, std::size_t count) {
  SliceCursor cursor(slices);
  const bool shared = count > 0 && cursor.batch().kind == kOne;
  const BitVector bits = bits_of(slices, shared ? shared_bits : mine_bits, 0);
  ASSERT_EQ(bits.size(), count);
  for (std::size_t i = 0; i < count; ++i, cursor.advance(1)) {
    ASSERT_GT(cursor.left(), 0u);
    const MaterialBatch& batch = cursor.batch();
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
        const MaterialSlices slices = reader.take(kind, count);
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
  MaterialSlices first, second;
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
  MaterialSlices kept = reader.take(kOne, kStep);
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
  ASSERT_EQ(source.drawn.size(), 2u);
  for (const auto& draw : source.drawn) {
    EXPECT_EQ(draw.by, std::this_thread::get_id());
    EXPECT_EQ(draw.count, draw.kind == kOne ? kBatch : 5u);
  }
  EXPECT_EQ(reader.take(kOne, kBatch).size(), 1u);
  EXPECT_EQ(reader.take(kOther, 5).size(), 1u);
  EXPECT_EQ(source.drawn.size(), 2u);
  EXPECT_EQ(reader.waited_s(), 0);
}

TEST(MaterialReader, ReadsLargerRunInAnotherThread) {
  NumberedSource source;
  {
    MaterialReader reader(source, wanted(kBatch + 1, 5));
    expect_numbers(reader.take(kOther, 5), 0, 5);
    expect_numbers(reader.take(kOne, kBatch + 1), 0, kBatch + 1);
  }
  ASSERT_EQ(source.drawn.size(), 3u);
  for (const auto& draw : source.drawn) EXPECT_NE(draw.by, std::this_thread::get_id());
}

void wait_for(const NumberedSource& source, std::size_t draws) {
  while (source.draws < draws) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST(MaterialReader, ReadAheadIsBounded) {
  NumberedSource source;
  {
    MaterialReader reader(source, wanted(20 * kBatch, 20 * kBatch));
    wait_for(source, 6);  // three batches of each kind
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    EXPECT_EQ(source.draws, 6u);
    reader.take(kOne, 1);
    wait_for(source, 7);
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    EXPECT_EQ(source.draws, 7u);
    reader.take(kOne, kBatch);
    wait_for(source, 8);
  }
  ASSERT_EQ(source.drawn.size(), 8u);
  EXPECT_EQ(std::ranges::count(source.drawn, kOther, &NumberedSource::Draw::kind), 3);
}

TEST(MaterialReader, MeasuresItsWaitingTime) {
  NumberedSource source;
  source.before = [](std::size_t) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  MaterialReader reader(source, wanted(kBatch + 1));
  expect_numbers(reader.take(kOne, kBatch + 1), 0, kBatch + 1);
  EXPECT_GT(reader.waited_s(), 0.03);
}

template <class Error>
void expect_failure_at(std::size_t draw, const Error& error) {
  SCOPED_TRACE(std::string("draw ") + std::to_string(draw) + ": " + error.what());
  NumberedSource source;
  source.before = [&](std::size_t number) {
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
  EXPECT_LE(one + other, draw * kBatch);
  // A second call fails without waiting.
  EXPECT_THROW(reader.take(kOne, kAll), Error);
  EXPECT_THROW(reader.take(kOther, kAll), Error);
  EXPECT_EQ(source.draws, draw);
}

TEST(MaterialReader, FailureOfAnyDrawReachesTheCallerOfTake) {
  for (std::size_t draw = 0; draw < 8; ++draw) {
    expect_failure_at(draw, OutOfMaterial("none left"));
    expect_failure_at(draw, StoreError("the disk is gone"));
    expect_failure_at(draw, std::logic_error("a bug"));
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

TEST(MaterialReader, DestructorWaitsForADrawAndStartsNoOther) {
  NumberedSource source;
  std::atomic<bool> drawing = false, open = false;
  source.before = [&](std::size_t) {
    drawing = true;
    while (!open) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  std::thread opener;
  {
    MaterialReader reader(source, wanted(10 * kBatch));
    while (!drawing) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    opener = std::thread([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      open = true;
    });
  }
  EXPECT_TRUE(open) << "the reader was destroyed during a draw";
  EXPECT_EQ(source.draws, 1u);
  opener.join();
}

TEST(MaterialReader, DestructorAcceptsAnUnreportedFailure) {
  NumberedSource source;
  std::atomic<bool> failed = false;
  source.before = [&](std::size_t) {
    failed = true;
    throw OutOfMaterial("none left");
  };
  MaterialReader reader(source, wanted(2 * kBatch));
  while (!failed) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace
}  // namespace tinyot
