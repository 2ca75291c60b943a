#include "storage/record.h"

#include "storage/pour_queue.h"
#include "tests/storage/store_support.h"

namespace tinyot {
namespace {

constexpr std::size_t kSizes[] = {1, 63, 64, 65, 1023, 1024, 1025};

TEST(Record, BothPartiesCutAtTheSameObjectsAndFillThePages) {
  for (const MaterialKind kind : kAllMaterialKinds) {
    const std::size_t capacity = record_capacity(kind);
    EXPECT_EQ(capacity % 64, 0u);
    const std::size_t larger = std::max(record_bytes(kind, Party::A, capacity), record_bytes(kind, Party::B, capacity));
    EXPECT_LE(larger, kRecordBytesMax);
    EXPECT_GT(larger, kRecordBytesMax - 2 * 4096);
  }
}

TEST(Record, RoundTripAtAnyOffsetAndAlignment) {
  for (const Party me : {Party::A, Party::B}) {
    for (const MaterialKind kind : kAllMaterialKinds) {
      for (const std::size_t count : kSizes) {
        const MaterialBatch batch = test_batch(kind, me, 1000, count);
        const Segment whole{&batch, 0, count};
        std::vector<std::byte> memory(record_bytes(kind, me, count) + 2);
        const std::span record = std::span(memory).subspan(2);
        encode_record({kind, me, 1000, static_cast<std::uint32_t>(count)}, {&whole, 1}, record);
        const RecordHeader header = check_record(kind, me, 1000, record);
        EXPECT_EQ(header.end(), 1000 + count);
        for (const std::size_t from : {std::size_t{0}, count / 3, count - 1}) {
          MaterialBatch part(kind, me, count - from);
          decode_objects(header, record, from, count - from, part, 0);
          EXPECT_TRUE(holds(std::move(part), kind, me, 1000 + from, count - from));
        }
      }
    }
  }
}

TEST(Record, GatheredFromManyBatches) {
  PourQueue queue;
  const MaterialKind kind = MaterialKind::AuthOtsAB;
  std::uint64_t poured = 0;
  for (const std::size_t count : {5, 64, 1, 0, 130, 63}) {
    queue.add(test_batch(kind, Party::B, poured, count));
    poured += count;
  }
  queue.drop_front(kind, 3);
  EXPECT_EQ(queue.count(kind), poured - 3);
  const std::vector<Segment> segments = queue.segments(kind, 10, 200);
  std::vector<std::byte> record(record_bytes(kind, Party::B, 200));
  encode_record({kind, Party::B, 13, 200}, segments, record);
  MaterialBatch batch(kind, Party::B, 200);
  decode_objects(check_record(kind, Party::B, 13, record), record, 0, 200, batch, 0);
  EXPECT_TRUE(holds(std::move(batch), kind, Party::B, 13, 200));
  queue.drop_front(kind, queue.count(kind));
  EXPECT_EQ(queue.bytes(), 0u);
}

TEST(Record, EveryFieldOfTheHeaderIsChecked) {
  const MaterialKind kind = MaterialKind::AuthOtsAB;
  const MaterialBatch batch = test_batch(kind, Party::A, 7, 65);
  const Segment whole{&batch, 0, 65};
  std::vector<std::byte> record(record_bytes(kind, Party::A, 65));
  encode_record({kind, Party::A, 7, 65}, {&whole, 1}, record);
  EXPECT_EQ(message_of([&] { check_record(kind, Party::A, 7, record); }), "");
  for (std::size_t bit = 0; bit < kRecordHeaderBytes * 8; ++bit) {
    record[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_TRUE(mentions(message_of([&] { check_record(kind, Party::A, 7, record); }), "record auth_ots_ab 7 is corrupt")) << bit;
    record[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  EXPECT_NE(message_of([&] { check_record(kind, Party::B, 7, record); }), "");
  EXPECT_NE(message_of([&] { check_record(kind, Party::A, 8, record); }), "");
  EXPECT_NE(message_of([&] { check_record(MaterialKind::AuthOtsBA, Party::A, 7, record); }), "");
  EXPECT_NE(message_of([&] { check_record(kind, Party::A, 7, std::span(record).first(record.size() - 1)); }), "");
  EXPECT_NE(message_of([&] { check_record(kind, Party::A, 7, std::span(record).first(31)); }), "");
  EXPECT_NE(message_of([&] { check_record(kind, Party::A, 7, {}); }), "");
}

}  // namespace
}  // namespace tinyot
