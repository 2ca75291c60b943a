#include "storage/batch.h"

#include <cstring>
#include <functional>

#include "storage/record.h"
#include "tests/storage/store_support.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

BatchEntry test_entry() {
  BatchEntry entry{.kind = MaterialKind::AuthOtsAB,
                   .first = 4096,
                   .count = 128,
                   .shard = 3,
                   .origin = 512,
                   .slot = 77};
  for (std::size_t i = 0; i < entry.tag.size(); ++i) entry.tag[i] = static_cast<std::byte>(i + 1);
  return entry;
}

BatchEntry unlocked_entry() {
  BatchEntry entry = test_entry();
  entry.peers_tag = SealTag{};
  entry.peers_tag->back() = std::byte{9};
  return entry;
}

std::optional<BatchEntry> decoded(const CodedEntry& coded) {
  return decode_entry(MaterialKind::AuthOtsAB, 4096, coded);
}

TEST(BatchEntry, RoundTripKeepsEveryField) {
  EXPECT_EQ(decoded(encode_entry(test_entry())), test_entry());
  EXPECT_EQ(decoded(encode_entry(unlocked_entry())), unlocked_entry());
  BatchEntry zero_tag = test_entry();
  zero_tag.peers_tag = SealTag{};
  EXPECT_EQ(decoded(encode_entry(zero_tag)), zero_tag);
  for (const MaterialKind kind : kAllMaterialKinds) {
    BatchEntry full{.kind = kind,
                    .first = 0,
                    .count = static_cast<std::uint32_t>(material::full_batch(kind)),
                    .slot = ~std::uint64_t{0}};
    full.origin = ~std::uint64_t{0};
    EXPECT_EQ(decode_entry(kind, 0, encode_entry(full)), full);
  }
  EXPECT_EQ(text_of(test_entry()), "auth_ots_ab 4096..4223");
}

// Offsets of the fields of a coded entry, as in FORMAT.md.
constexpr std::size_t kCountAt = 0, kShardAt = 4, kSlotAt = 16, kFlagsAt = 24, kZerosAt = 28,
                      kPeersTagAt = 48;

void expect_refused(const BatchEntry& entry, const char* what,
                    const std::function<void(std::byte*)>& change) {
  CodedEntry coded = encode_entry(entry);
  change(coded.data());
  EXPECT_FALSE(decoded(coded)) << what;
}

template <class Number>
void put(std::byte* coded, std::size_t at, Number number) {
  std::memcpy(coded + at, &number, sizeof number);
}

TEST(BatchEntry, RejectsInvalidFields) {
  const auto capacity = static_cast<std::uint32_t>(material::full_batch(MaterialKind::AuthOtsAB));
  expect_refused(test_entry(), "no objects",
                 [](std::byte* c) { put(c, kCountAt, std::uint32_t{0}); });
  expect_refused(test_entry(), "too many objects",
                 [&](std::byte* c) { put(c, kCountAt, capacity + 1); });
  expect_refused(test_entry(), "far too many",
                 [](std::byte* c) { put(c, kCountAt, ~std::uint32_t{0}); });
  expect_refused(test_entry(), "shard 0", [](std::byte* c) { put(c, kShardAt, std::uint32_t{0}); });
  expect_refused(test_entry(), "no such shard",
                 [](std::byte* c) { put(c, kShardAt, ~std::uint32_t{0}); });
  expect_refused(test_entry(), "slot of the global key",
                 [](std::byte* c) { put(c, kSlotAt, std::uint64_t{0}); });
  expect_refused(test_entry(), "unknown flag",
                 [](std::byte* c) { put(c, kFlagsAt, std::uint32_t{2}); });
  expect_refused(unlocked_entry(), "unknown flags",
                 [](std::byte* c) { put(c, kFlagsAt, std::uint32_t{3}); });
  expect_refused(test_entry(), "nonzero padding",
                 [](std::byte* c) { put(c, kZerosAt, std::uint32_t{1}); });
  expect_refused(test_entry(), "a tag without its flag",
                 [](std::byte* c) { c[kPeersTagAt + 15] = std::byte{1}; });
  expect_refused(unlocked_entry(), "a tag whose flag is cleared",
                 [](std::byte* c) { put(c, kFlagsAt, std::uint32_t{0}); });
  const CodedEntry coded = encode_entry(test_entry());
  std::vector<std::byte> longer(coded.begin(), coded.end());
  longer.push_back(std::byte{0});
  EXPECT_FALSE(decode_entry(MaterialKind::AuthOtsAB, 4096, longer));
  for (std::size_t size = 0; size < coded.size(); ++size)
    EXPECT_FALSE(decode_entry(MaterialKind::AuthOtsAB, 4096, std::span(coded).first(size)));
}

TEST(BatchEntry, FlippedBitIsRejectedOrChangesEntry) {
  for (const BatchEntry& entry : {test_entry(), unlocked_entry()}) {
    for (std::size_t bit = 0; bit < kBatchEntryBytes * 8; ++bit) {
      CodedEntry coded = encode_entry(entry);
      coded[bit / 8] ^= std::byte{1} << (bit % 8);
      const auto other = decoded(coded);
      if (!other) continue;
      EXPECT_FALSE(*other == entry) << bit;
      EXPECT_EQ(encode_entry(*other), coded) << bit;
    }
  }
}

struct SealedBatch {
  SessionId session{};
  BatchEntry entry = test_entry();
  SealKey key;
  std::vector<std::byte> sealed;

  SealedBatch() {
    session.bytes[3] = 4;
    key.bytes[5] = std::byte{6};
    const material::Batch objects = test_batch(entry.kind, Party::A, entry.first, entry.count);
    sealed.resize(bytes_of(objects));
    seal_batch(session, Party::A, entry, key, objects, sealed);
  }
  std::string message(Party me = Party::A) const {
    return message_of([&] {
      material::Batch opened = open_batch(session, me, entry, key, sealed, {});
      EXPECT_TRUE(holds(std::move(opened), entry.kind, me, 4096, entry.count));
    });
  }
};

TEST(Batch, OpensOnlyInItsContext) {
  EXPECT_EQ(SealedBatch().message(), "");
  EXPECT_FALSE(SealedBatch().entry.tag == test_entry().tag);
  const auto refused = [](const char* what, const std::function<void(SealedBatch&)>& change) {
    SealedBatch batch;
    change(batch);
    EXPECT_TRUE(mentions(batch.message(), "batch " + text_of(batch.entry) + " is corrupt")) << what;
  };
  refused("a bit of the record", [](SealedBatch& b) { b.sealed.back() ^= std::byte{128}; });
  refused("a record that is too short", [](SealedBatch& b) { b.sealed.pop_back(); });
  refused("a record that is too long", [](SealedBatch& b) { b.sealed.push_back({}); });
  refused("the tag", [](SealedBatch& b) { b.entry.tag[0] ^= std::byte{1}; });
  refused("the key", [](SealedBatch& b) { b.key.bytes[31] ^= std::byte{1}; });
  refused("the session", [](SealedBatch& b) { b.session.bytes[31] ^= 1; });
  refused("the kind", [](SealedBatch& b) { b.entry.kind = MaterialKind::AuthOtsBA; });
  refused("the count", [](SealedBatch& b) { ++b.entry.count; });
  refused("the shard", [](SealedBatch& b) { ++b.entry.shard; });
  refused("the origin", [](SealedBatch& b) { ++b.entry.origin; });
  EXPECT_TRUE(mentions(SealedBatch().message(Party::B), "is corrupt"));
  EXPECT_EQ(remedy_of([] { throw_corrupt_batch("x"); }), Remedy::VerifyStore);
}

TEST(Batch, OpensInTheMemoryOfABatchOfItsShape) {
  const SealedBatch batch;
  const auto opens_in_place = [&](material::Batch memory) {
    const Block* const place = material::blocks_of_column(memory, 0);
    material::Batch opened = open_batch(batch.session, Party::A, batch.entry, batch.key,
                                        batch.sealed, std::move(memory));
    const bool in_place = material::blocks_of_column(opened, 0) == place;
    EXPECT_TRUE(holds(std::move(opened), batch.entry.kind, Party::A, 4096, batch.entry.count));
    return in_place;
  };
  const auto [kind, count] = std::pair(batch.entry.kind, std::size_t{batch.entry.count});
  EXPECT_TRUE(opens_in_place(test_batch(kind, Party::A, 77, count)));
  EXPECT_FALSE(opens_in_place(test_batch(kind, Party::A, 77, count + 1)));
  EXPECT_FALSE(opens_in_place(test_batch(kind, Party::A, 77, count - 1)));
  EXPECT_FALSE(opens_in_place(test_batch(MaterialKind::AuthOtsBA, Party::A, 77, count)));
}

TEST(Batch, OnlyABatchOfTheEntrysShapeIsSealed) {
  SealedBatch batch;
  const auto seal_as = [&](MaterialKind kind, std::size_t count) {
    const material::Batch objects = test_batch(kind, Party::A, 0, count);
    batch.sealed.resize(bytes_of(objects));
    seal_batch(batch.session, Party::A, batch.entry, batch.key, objects, batch.sealed);
  };
  EXPECT_THROW(seal_as(MaterialKind::AuthOtsBA, 128), std::logic_error);
  EXPECT_THROW(seal_as(MaterialKind::AuthOtsAB, 127), std::logic_error);
  EXPECT_NO_THROW(seal_as(MaterialKind::AuthOtsAB, 128));
}

// A merge changes indices and slots without sealing again.
TEST(Batch, AllowsChangeOfIndexAndSlot) {
  SealedBatch batch;
  batch.entry.first = 1 << 20;
  batch.entry.slot = 5;
  batch.entry.peers_tag = batch.entry.tag;
  EXPECT_EQ(batch.message(), "");
}

}  // namespace
}  // namespace tinyot
