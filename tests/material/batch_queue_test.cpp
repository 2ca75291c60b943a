// Objects leave a queue in the order in which they entered it, in pieces of any size, and are
// copied only where necessary.
#include "material/batch_queue.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tinyot {
namespace {

constexpr MaterialKind kKind = MaterialKind::AuthOtsAB;
constexpr Party kMe = Party::A;

// Objects are numbered; the number is in every column.
material::Batch numbered(std::uint64_t first, std::size_t count) {
  material::Batch batch(kKind, kMe, count);
  for (std::size_t i = 0; i < count; ++i) {
    for (MacColumn& column : batch.mine) {
      column.bits.put(i, (first + i) & 1);
      column.macs[i] = Mac{{first + i, 0}};
    }
    for (KeyColumn& column : batch.peers) column.keys[i] = Key{{0, first + i}};
  }
  return batch;
}

bool holds_number(const material::Batch& batch, std::size_t at, std::uint64_t number) {
  for (const MacColumn& column : batch.mine)
    if (column.macs[at].value.lo != number || column.bits[at] != ((number & 1) != 0)) return false;
  for (const KeyColumn& column : batch.peers)
    if (column.keys[at].value.hi != number) return false;
  return true;
}

void expect_numbers(const material::Slices& slices, std::uint64_t first, std::uint64_t count) {
  std::uint64_t next = first;
  for (const material::Slice& slice : slices)
    for (std::size_t i = 0; i < slice.count; ++i, ++next)
      ASSERT_TRUE(holds_number(*slice.batch, slice.from + i, next)) << next;
  EXPECT_EQ(next, first + count);
}

TEST(BatchQueue, ReturnsObjectsInOrderWhateverTheSizes) {
  for (const std::size_t pushed : {1u, 5u, 64u, 100u}) {
    for (const std::size_t taken : {1u, 3u, 63u, 64u, 65u, 250u}) {
      material::BatchQueue queue;
      std::uint64_t in = 0, out = 0;
      while (out < 1000) {
        while (queue.count() < taken) queue.push(numbered(in, pushed)), in += pushed;
        expect_numbers(queue.slices(0, queue.count()), out, in - out);
        expect_numbers(queue.slices(taken / 2, taken - taken / 2), out + taken / 2,
                       taken - taken / 2);
        const material::Batch batch = queue.take(kKind, kMe, taken);
        ASSERT_EQ(batch.count, taken);
        for (std::size_t i = 0; i < taken; ++i) ASSERT_TRUE(holds_number(batch, i, out + i));
        out += taken;
        EXPECT_EQ(queue.count(), in - out);
      }
    }
  }
}

TEST(BatchQueue, MovesBatchThatIsTakenAsItWasPushed) {
  material::BatchQueue queue;
  material::Batch batch = numbered(0, 70);
  const Mac* const macs = batch.mine[0].macs.data();
  queue.push(std::move(batch));
  queue.push(numbered(70, 1));
  EXPECT_EQ(queue.take(kKind, kMe, 70).mine[0].macs.data(), macs);
  EXPECT_EQ(queue.batches(), 1u);
}

TEST(BatchQueue, SliceKeepsItsObjectsWhenTheyAreTaken) {
  material::BatchQueue queue;
  queue.push(numbered(0, 100));
  const material::Slices all = queue.slices(0, 100);
  queue.drop(90);
  expect_numbers(queue.slices(0, 10), 90, 10);
  (void)queue.take(kKind, kMe, 10);
  expect_numbers(all, 0, 100);
}

TEST(BatchQueue, MovesBatchesBetweenQueues) {
  material::BatchQueue first, second;
  first.push(numbered(0, 3));
  first.push(numbered(3, 4));
  while (first.batches() > 0) second.push_first_of(first);
  EXPECT_EQ(first.count(), 0u);
  expect_numbers(second.slices(0, 7), 0, 7);
  second.drop(1);
  EXPECT_THROW(first.push_first_of(second), std::logic_error);
}

TEST(BatchQueue, CountsBytesOfObjectsLeft) {
  material::BatchQueues queues;
  queues[kKind].push(numbered(0, 64));
  queues[kKind].push(numbered(64, 64));
  queues[kKind].drop(32);
  EXPECT_EQ(queues.bytes(), bytes_of(numbered(0, 64)) * 3 / 2);
  queues[kKind].drop(96);
  EXPECT_EQ(queues.bytes(), 0u);
}

TEST(BatchQueue, RejectsMoreThanItHolds) {
  material::BatchQueue queue;
  queue.push(numbered(0, 5));
  queue.push(numbered(5, 0));
  EXPECT_EQ(queue.batches(), 1u);
  EXPECT_THROW((void)queue.slices(1, 5), std::logic_error);
  EXPECT_THROW(queue.drop(6), std::logic_error);
  EXPECT_THROW((void)queue.take(kKind, kMe, 6), std::logic_error);
  expect_numbers(queue.slices(0, 5), 0, 5);
  EXPECT_EQ(queue.take(kKind, kMe, 0).count, 0u);
}

}  // namespace
}  // namespace tinyot
