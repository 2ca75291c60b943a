// GF(2^128): sums of products against bitwise multiplication, on every instruction set of the
// processor.
#include "crypto/gf128.h"

#include <gtest/gtest.h>

// The same targets as in crypto/gf128.cpp.
#define HWY_BROKEN_EMU128 0
#define HWY_WANT_AVX3_DL 1
#include <hwy/targets.h>

#include <vector>

#include "tests/support/blocks.h"
#include "tests/support/every_target.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using test::random_blocks;
using test::same;

// Horner's rule over the bits of b.
Block product_bit_by_bit(Block a, Block b) {
  Block product{0, 0};
  for (std::size_t i = 128; i-- > 0;)
    product = doubled(product) ^ times(a, ((i < 64 ? b.lo : b.hi) >> (i % 64)) & 1);
  return product;
}

Block sum_of_products(std::span<const Block> a, std::span<const Block> b) {
  WideBlock sum{};
  add_products(a, b, sum);
  return reduced(sum);
}

class Gf128 : public test::EveryTarget {};

TEST_F(Gf128, SumsOfProductsEqualBitwiseProducts) {
  for (const std::size_t count :
       {0u, 1u, 2u, 3u, 4u, 5u, 7u, 8u, 9u, 127u, 128u, 129u, 1023u, 1024u, 1025u}) {
    const auto a = random_blocks(count, 2 * count), b = random_blocks(count, 2 * count + 1);
    Block expected{0, 0};
    for (std::size_t i = 0; i < count; ++i) expected ^= product_bit_by_bit(a[i], b[i]);
    for_each_target([&] { EXPECT_TRUE(same(sum_of_products(a, b), expected)) << count; });
  }
}

TEST_F(Gf128, MultipliesEveryPairOfPowersOfX) {
  const auto power = [](std::size_t i) {
    return i < 64 ? Block{std::uint64_t{1} << i, 0} : Block{0, std::uint64_t{1} << (i - 64)};
  };
  for_each_target([&] {
    for (std::size_t i = 0; i < 128; ++i) {
      Block expected = power(i);
      for (std::size_t j = 0; j < 128; ++j, expected = doubled(expected)) {
        const Block a = power(i), b = power(j);
        ASSERT_TRUE(same(sum_of_products({&a, 1}, {&b, 1}), expected)) << i << ", " << j;
      }
    }
  });
}

TEST_F(Gf128, ProductsAddUpOverSeveralCalls) {
  const auto a = random_blocks(64, 1), b = random_blocks(64, 2);
  for_each_target([&] {
    WideBlock sum{};
    for (std::size_t first = 0; first < 64; first += 16)
      add_products(std::span(a).subspan(first, 16), std::span(b).subspan(first, 16), sum);
    EXPECT_TRUE(same(reduced(sum), sum_of_products(a, b)));
  });
}

TEST_F(Gf128, RejectsSpansOfDifferentLength) {
  const auto a = random_blocks(3, 1);
  WideBlock sum{};
  EXPECT_THROW(add_products(a, std::span(a).first(2), sum), std::logic_error);
}

}  // namespace
}  // namespace tinyot
