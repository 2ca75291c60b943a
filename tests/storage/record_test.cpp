#include "storage/record.h"

#include "tests/storage/store_support.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

constexpr std::size_t kSizes[] = {1, 63, 64, 65, 1023, 1024, 1025};

TEST(Record, PartiesCutAtSameObjectsAndFillPages) {
  for (const MaterialKind kind : kAllMaterialKinds) {
    const std::size_t capacity = record_capacity(kind);
    EXPECT_EQ(capacity % 64, 0u);
    const std::size_t larger =
        std::max(record_bytes(kind, Party::A, capacity), record_bytes(kind, Party::B, capacity));
    EXPECT_LE(larger, kRecordBytesMax);
    EXPECT_GT(larger, kRecordBytesMax - 2 * 4096);
  }
}

TEST(Record, RoundTripAtAnyOffsetAndAlignment) {
  for (const Party me : {Party::A, Party::B}) {
    for (const MaterialKind kind : kAllMaterialKinds) {
      for (const std::size_t count : kSizes) {
        const MaterialBatch batch = test_batch(kind, me, 1000, count);
        std::vector<std::byte> memory(record_bytes(kind, me, count) + 2);
        const std::span record = std::span(memory).subspan(2);
        encode_record(me, batch, 0, count, record);
        for (const std::size_t from : {std::size_t{0}, count / 3, count - 1}) {
          MaterialBatch part(kind, me, count - from);
          decode_objects(kind, me, count, record, from, count - from, part, 0);
          EXPECT_TRUE(holds(std::move(part), kind, me, 1000 + from, count - from));
        }
      }
    }
  }
}

TEST(Record, GathersFromSeveralBatches) {
  BatchQueue queue;
  const MaterialKind kind = MaterialKind::AuthOtsAB;
  std::uint64_t poured = 0;
  for (const std::size_t count : {5, 64, 1, 0, 130, 63}) {
    queue.push(test_batch(kind, Party::B, poured, count));
    poured += count;
  }
  queue.drop(3);
  EXPECT_EQ(queue.count(), poured - 3);
  const MaterialSlices slices = queue.slices(10, 200);
  std::vector<std::byte> record(record_bytes(kind, Party::B, 200));
  encode_record(kind, Party::B, 200, slices, record);
  MaterialBatch batch(kind, Party::B, 200);
  decode_objects(kind, Party::B, 200, record, 0, 200, batch, 0);
  EXPECT_TRUE(holds(std::move(batch), kind, Party::B, 13, 200));
  queue.drop(queue.count());
  EXPECT_EQ(queue.bytes(), 0u);
}

TEST(Record, RangeOutsideRecordIsLogicError) {
  const MaterialKind kind = MaterialKind::AuthOtsAB;
  const MaterialSlice whole{
      std::make_shared<const MaterialBatch>(test_batch(kind, Party::A, 7, 65)), 0, 65};
  std::vector<std::byte> record(record_bytes(kind, Party::A, 65));
  std::vector<std::byte> longer(record_bytes(kind, Party::A, 66));
  EXPECT_THROW(encode_record(kind, Party::A, 66, {&whole, 1}, longer), std::logic_error);
  EXPECT_THROW(
      encode_record(kind, Party::A, 65, {&whole, 1}, std::span(record).first(record.size() - 1)),
      std::logic_error);
  encode_record(kind, Party::A, 65, {&whole, 1}, record);
  MaterialBatch target(kind, Party::A, 65);
  EXPECT_THROW(decode_objects(kind, Party::A, 65, record, 60, 6, target, 0), std::logic_error);
  EXPECT_THROW(decode_objects(kind, Party::A, 65, record, 0, 6, target, 60), std::logic_error);
  EXPECT_THROW(decode_objects(kind, Party::A, 65, record, 0, 0, target, 0), std::logic_error);
  EXPECT_THROW(decode_objects(kind, Party::A, 64, record, 0, 1, target, 0), std::logic_error);
}

}  // namespace
}  // namespace tinyot
