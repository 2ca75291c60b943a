#include "storage/record.h"

#include "tests/storage/store_support.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

constexpr std::size_t kSizes[] = {1, 63, 64, 65, 1023, 1024, 1025};

TEST(Record, PartiesCutAtSameObjectsAndFillPages) {
  for (const MaterialKind kind : kAllMaterialKinds) {
    const std::size_t capacity = material::full_batch(kind);
    EXPECT_EQ(capacity % 64, 0u);
    const std::size_t larger = std::max(material::bytes_of(kind, Party::A, capacity),
                                        material::bytes_of(kind, Party::B, capacity));
    EXPECT_LE(larger, material::kBatchBytesMax);
    EXPECT_GT(larger, material::kBatchBytesMax - 2 * 4096);
  }
}

// The bytes of FORMAT.md, computed another way: bits of each column, then its blocks; then keys.
TEST(Record, ArraysAreThoseOfTheFormat) {
  for (const Party me : {Party::A, Party::B}) {
    for (const MaterialKind kind : kAllMaterialKinds) {
      for (const std::size_t count : kSizes) {
        const material::Batch batch = test_batch(kind, me, 1000, count);
        std::vector<std::byte> expected;
        const auto append = [&](const void* data, std::size_t bytes) {
          const auto* first = static_cast<const std::byte*>(data);
          expected.insert(expected.end(), first, first + bytes);
        };
        const auto append_bits = [&](const BitVector& bits) {
          for (std::size_t word = 0; word < (count + 63) / 64; ++word) {
            std::uint64_t packed = 0;
            for (std::size_t i = 64 * word; i < std::min(64 * word + 64, count); ++i)
              packed |= std::uint64_t{bits[i]} << (i % 64);
            append(&packed, sizeof packed);
          }
        };
        for (const MacColumn& column : batch.mine) {
          append_bits(column.bits);
          append(column.macs.data(), 16 * count);
        }
        for (const AuthShares& column : batch.shares) {
          append_bits(column.bits);
          append(column.macs.data(), 16 * count);
        }
        for (const KeyColumn& column : batch.peers) append(column.keys.data(), 16 * count);

        std::vector<std::byte> record;
        for (const auto array : arrays_of(batch))
          record.insert(record.end(), array.begin(), array.end());
        EXPECT_EQ(record, expected);
        EXPECT_EQ(record.size(), material::bytes_of(kind, me, count));
        EXPECT_EQ(record.size(), bytes_of(batch));
      }
    }
  }
}

TEST(Record, RoundTripAlsoWithPaddingThatIsNotZero) {
  for (const MaterialKind kind : kAllMaterialKinds) {
    for (const std::size_t count : kSizes) {
      const material::Batch batch = test_batch(kind, Party::B, 1000, count);
      material::Batch copy(kind, Party::B, count);
      const auto from = arrays_of(batch);
      const auto to = arrays_of(copy);
      ASSERT_EQ(from.size(), to.size());
      for (std::size_t i = 0; i < from.size(); ++i) std::ranges::copy(from[i], to[i].begin());
      if (count % 64 != 0 && material::columns_with_bits(material::shape_of(kind, Party::B)) > 0)
        material::bits_of_column(copy, 0).words().back() |= std::uint64_t{1} << 63;
      finish_arrays(copy);
      for (std::size_t column = 0;
           column < material::columns_with_bits(material::shape_of(kind, Party::B)); ++column)
        EXPECT_TRUE(material::bits_of_column(copy, column).clear_padding()) << "padding was left";
      EXPECT_TRUE(holds(std::move(copy), kind, Party::B, 1000, count));
    }
  }
}

}  // namespace
}  // namespace tinyot
