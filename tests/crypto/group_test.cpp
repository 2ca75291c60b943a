// The group of the base OTs and of EQ.
#include "crypto/group.h"

#include <gtest/gtest.h>

#include "tests/support/layers.h"

namespace tinyot {
namespace {

Rng group_rng(std::uint64_t seed) { return Rng(Seed{{seed, 11}}); }

TEST(Group, RejectsIdentityAndNonCanonicalPoints) {
  Point identity{}, ones{}, field_prime{};
  ones.bytes.fill(0xFF);
  field_prime.bytes.fill(0xFF);  // p = 2^255 - 19, a second encoding of zero
  field_prime.bytes[0] = 0xED, field_prime.bytes[31] = 0x7F;
  Point negative{};
  negative.bytes[0] = 1;  // an odd field element
  EXPECT_FALSE(is_valid(identity));
  EXPECT_FALSE(is_valid(ones));
  EXPECT_FALSE(is_valid(field_prime));
  EXPECT_FALSE(is_valid(negative));
}

TEST(Group, ValidPointHasOneEncoding) {
  Rng rng = group_rng(1);
  for (int i = 0; i < 20; ++i) {
    Point point = random_point(rng);
    EXPECT_TRUE(is_valid(point));
    point.bytes[31] |= 0x80;
    EXPECT_FALSE(is_valid(point));
    point.bytes[31] &= 0x7F;
    point.bytes[0] |= 1;
    EXPECT_FALSE(is_valid(point));
  }
}

// Half of them are negative, half of them are at least 2^255, and about half of the rest do not
// encode a point.
TEST(Group, RejectsMostRandomBytes) {
  Rng rng = group_rng(2);
  int accepted = 0;
  for (int i = 0; i < 2000; ++i) accepted += is_valid(rng.object<Point>());
  EXPECT_LT(accepted, 2000 / 4);
  EXPECT_GT(accepted, 0);
}

TEST(Group, DiffieHellmanAgrees) {
  Rng rng = group_rng(3);
  for (int i = 0; i < 20; ++i) {
    const Scalar a = random_scalar(rng), b = random_scalar(rng);
    EXPECT_EQ(times(a, times_base(b)).bytes, times(b, times_base(a)).bytes);
    EXPECT_NE(times_base(a).bytes, times_base(b).bytes);
  }
}

TEST(Group, SumsAndDifferencesAreInverse) {
  Rng rng = group_rng(4);
  const Point a = random_point(rng), b = random_point(rng);
  EXPECT_EQ(((a + b) - b).bytes, a.bytes);
  EXPECT_EQ((a + b).bytes, (b + a).bytes);
  EXPECT_FALSE(is_valid(a - a));
  const Scalar s = random_scalar(rng);
  EXPECT_EQ(times(s, a + b).bytes, (times(s, a) + times(s, b)).bytes);
}

TEST(Group, TimesTheIdentityIsTheIdentity) {
  Rng rng = group_rng(5);
  const Point a = random_point(rng);
  EXPECT_EQ(times(random_scalar(rng), a - a).bytes, Point{}.bytes);
}

TEST(Group, HashToGroupIsDeterministicAndSpreads) {
  std::array<std::uint8_t, 64> uniform{};
  const Point first = hash_to_group(uniform);
  EXPECT_EQ(first.bytes, hash_to_group(uniform).bytes);
  for (std::size_t i = 0; i < 64; i += 7) {
    auto other = uniform;
    other[i] = 1;
    EXPECT_TRUE(is_valid(hash_to_group(other)));
    EXPECT_NE(hash_to_group(other).bytes, first.bytes) << i;
  }
}

TEST(Group, RandomPointsAndScalarsDiffer) {
  Rng rng = group_rng(6);
  EXPECT_NE(random_point(rng).bytes, random_point(rng).bytes);
  EXPECT_NE(random_scalar(rng).bytes, random_scalar(rng).bytes);
}

}  // namespace
}  // namespace tinyot
