// BitVector and copy_bits against loops over single bits.
#include "base/bit_vector.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/blocks.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using test::random_words;

void copy_naively(const std::vector<std::uint64_t>& source, std::size_t from,
                  std::vector<std::uint64_t>& target, std::size_t to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bit = (source[(from + i) / 64] >> ((from + i) % 64)) & 1;
    target[(to + i) / 64] &= ~(std::uint64_t{1} << ((to + i) % 64));
    target[(to + i) / 64] |= bit << ((to + i) % 64);
  }
}

TEST(CopyBits, EqualsTheNaiveLoopAtAllOffsets) {
  const auto source = random_words(6, 1), before = random_words(6, 2);
  for (const std::size_t count : {0u, 1u, 2u, 31u, 63u, 64u, 65u, 127u, 128u, 129u, 200u}) {
    for (std::size_t from = 0; from <= 65; ++from) {
      for (std::size_t to = 0; to <= 65; ++to) {
        auto target = before, expected = before;
        copy_bits(source, from, target, to, count);
        copy_naively(source, from, expected, to, count);
        ASSERT_EQ(target, expected) << "from " << from << " to " << to << " count " << count;
      }
    }
  }
}

TEST(BitVector, CopyFromTouchesOnlyItsRange) {
  for (const std::size_t size : {1u, 63u, 64u, 65u, 130u}) {
    BitVector ones(size), target(size);
    for (std::size_t i = 0; i < size; ++i) ones.put(i, true);
    for (std::size_t first = 0; first < size; ++first) {
      BitVector copy(size);
      copy.copy_from(ones, first, first, size - first);
      for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(copy[i], i >= first);
    }
    EXPECT_THROW(target.copy_from(ones, 1, 0, size), std::logic_error);
    EXPECT_THROW(target.copy_from(ones, 0, 1, size), std::logic_error);
  }
}

TEST(BitVector, PutChangesOneBitOnly) {
  BitVector bits(200);
  for (std::size_t i = 0; i < 200; i += 3) bits.put(i, true);
  bits.put(63, false);
  for (std::size_t i = 0; i < 200; ++i) EXPECT_EQ(bits[i], i % 3 == 0 && i != 63) << i;
}

TEST(BitVector, XorIsBitwiseAndRejectsOtherSizes) {
  for (const std::size_t size : {1u, 64u, 65u, 1000u}) {
    BitVector a(size), b(size);
    for (std::size_t i = 0; i < size; ++i) a.put(i, i % 2), b.put(i, i % 3 == 0);
    a ^= b;
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(a[i], (i % 2 != 0) != (i % 3 == 0));
    EXPECT_THROW(a ^= BitVector(size + 1), std::logic_error);
  }
}

TEST(BitVector, WireFormIsLittleEndianWithinBytes) {
  BitVector bits(19);
  bits.put(0, true), bits.put(9, true), bits.put(18, true);
  ASSERT_EQ(bits.bytes().size(), 3u);
  EXPECT_EQ(bits.bytes()[0], std::byte{1});
  EXPECT_EQ(bits.bytes()[1], std::byte{2});
  EXPECT_EQ(bits.bytes()[2], std::byte{4});
}

TEST(BitVector, ClearPaddingReportsAndClearsEveryPaddingBit) {
  for (std::size_t size = 1; size <= 130; ++size) {
    for (std::size_t stray = size; stray < words_for(size) * 64; ++stray) {
      BitVector bits(size);
      put_bit(bits.words(), stray, true);
      ASSERT_FALSE(bits.clear_padding()) << size << " " << stray;
      ASSERT_EQ(bits.words()[stray / 64], 0u);
    }
    BitVector full(size);
    for (std::size_t i = 0; i < size; ++i) full.put(i, true);
    ASSERT_TRUE(full.clear_padding());
    for (std::size_t i = 0; i < size; ++i) ASSERT_TRUE(full[i]);
  }
}

TEST(BitVector, StartsWithZeros) {
  const BitVector bits(1000);
  for (const std::uint64_t word : bits.words()) EXPECT_EQ(word, 0u);
}

}  // namespace
}  // namespace tinyot
