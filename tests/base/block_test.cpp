// The algebra of blocks, MACs and keys.
#include "base/block.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/support/blocks.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using test::same;

// 2.x coefficient by coefficient: shift up by one, and X^128 = X^7 + X^2 + X + 1.
Block doubled_naively(Block x) {
  std::vector<bool> in(128), out(128);
  for (std::size_t i = 0; i < 128; ++i) in[i] = ((i < 64 ? x.lo : x.hi) >> (i % 64)) & 1;
  for (std::size_t i = 1; i < 128; ++i) out[i] = in[i - 1];
  for (const std::size_t i : {7u, 2u, 1u, 0u}) out[i] = out[i] != in[127];
  Block y{0, 0};
  for (std::size_t i = 0; i < 128; ++i) (i < 64 ? y.lo : y.hi) |= std::uint64_t{out[i]} << (i % 64);
  return y;
}

TEST(Block, DoublingEqualsBitwiseDoubling) {
  for (std::size_t i = 0; i < 128; ++i) {
    const Block unit =
        i < 64 ? Block{std::uint64_t{1} << i, 0} : Block{0, std::uint64_t{1} << (i - 64)};
    EXPECT_TRUE(same(doubled(unit), doubled_naively(unit))) << i;
  }
  std::mt19937_64 engine(3);
  for (int i = 0; i < 1000; ++i) {
    const Block x{engine(), engine()};
    ASSERT_TRUE(same(doubled(x), doubled_naively(x)));
  }
}

TEST(Block, DoublingReducesTheHighestBit) {
  EXPECT_TRUE(same(doubled({0, std::uint64_t{1} << 63}), {0x87, 0}));
  EXPECT_TRUE(same(doubled({std::uint64_t{1} << 63, 0}), {0, 1}));
  EXPECT_TRUE(same(doubled({0, 0}), {0, 0}));
}

TEST(Block, TimesIsTheBlockOrZero) {
  const Block x{0x0123456789abcdef, 0xfedcba9876543210};
  EXPECT_TRUE(same(times(x, true), x));
  EXPECT_TRUE(same(times(x, false), {0, 0}));
}

TEST(Block, MacIsKeyPlusBitTimesDelta) {
  const Delta delta{{5, 9}};
  const Key key{{3, 4}};
  EXPECT_TRUE(same((key ^ delta * false).value, key.value));
  EXPECT_TRUE(same((key ^ delta * true).value, {3 ^ 5, 4 ^ 9}));
}

TEST(Block, XorPublicBitFitsTheFlippedBit) {
  const Delta delta{{5, 9}};
  const Key key{{3, 4}};
  for (const bool bit : {false, true}) {
    for (const bool constant : {false, true}) {
      const Mac mac = key ^ delta * bit;
      EXPECT_TRUE(same(mac.value,
                       (xor_public_bit(key, delta, constant) ^ delta * (bit != constant)).value));
    }
  }
}

}  // namespace
}  // namespace tinyot
