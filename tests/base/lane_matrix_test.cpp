#include "tinyot/lane_matrix.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

#include "base/lane_bits.h"
#include "tinyot/values.h"

namespace tinyot {
namespace {

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> result;
  for (const int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

TEST(LaneMatrix, KeepsBitsOfEachLane) {
  for (const std::size_t bits : {1, 7, 8, 9, 64, 65}) {
    LaneMatrix matrix(3, bits);
    for (std::size_t lane = 0; lane < 3; ++lane)
      for (std::size_t bit = 0; bit < bits; ++bit) {
        EXPECT_FALSE(matrix[lane][bit]);
        matrix[lane].put(bit, (bit + lane) % 3 == 0);
      }
    for (std::size_t lane = 0; lane < 3; ++lane)
      for (std::size_t bit = 0; bit < bits; ++bit) {
        EXPECT_EQ(matrix[lane][bit], (bit + lane) % 3 == 0) << lane << ", " << bit;
        EXPECT_EQ(to_bits(std::as_const(matrix)[lane])[bit], (bit + lane) % 3 == 0);
      }
    EXPECT_EQ(matrix.bytes().size(), 3 * ((bits + 7) / 8));
  }
}

TEST(LaneMatrix, RefusesBitsBeyondTheWidthAndChangesNothing) {
  LaneMatrix matrix(1, 9);
  EXPECT_TRUE(matrix.assign(0, bytes({0x12, 0x01})));
  for (const auto& wide : {bytes({0xff, 0x02}), bytes({0xff, 0x81}), bytes({0xff, 0x01, 0x01})}) {
    EXPECT_FALSE(matrix.assign(0, wide));
    EXPECT_FALSE(matrix.append(wide));
  }
  EXPECT_EQ(matrix.lanes(), 1u);
  EXPECT_EQ(matrix.bytes()[0], std::byte{0x12});
  EXPECT_TRUE(matrix.assign(0, bytes({0x05}))) << "the rest of the row becomes zero";
  EXPECT_EQ(matrix.bytes()[1], std::byte{0});
  EXPECT_TRUE(matrix.assign(0, bytes({0x05, 0x01, 0x00, 0x00}))) << "wider, but with zeros";
}

TEST(LaneMatrix, RefusesLanesThatDoNotExist) {
  LaneMatrix matrix(2, 8);
  EXPECT_THROW((void)matrix[2], std::logic_error);
  EXPECT_THROW((void)LaneMatrix()[0], std::logic_error);
  EXPECT_THROW((void)matrix.assign(2, bytes({1})), std::logic_error);
}

TEST(LaneMatrix, CopiesAreApartAndMovesLeaveNothing) {
  LaneMatrix matrix(2, 16), copy = matrix;
  matrix[1].put(3, true);
  EXPECT_FALSE(copy[1][3]);
  copy = matrix;
  EXPECT_TRUE(copy[1][3]);
  const LaneMatrix moved = std::move(matrix);
  EXPECT_TRUE(moved[1][3]);
  EXPECT_EQ(matrix.lanes(), 0u);  // NOLINT(bugprone-use-after-move): what a move leaves
  EXPECT_TRUE(matrix.bytes().empty());
}

TEST(LaneMatrix, GrowsByLanes) {
  LaneMatrix matrix(0, 12);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(matrix.append(bytes({i & 0xff, i >> 8})));
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(matrix[static_cast<std::size_t>(i)].bytes()[0], static_cast<std::byte>(i & 0xff));
    ASSERT_EQ(matrix[static_cast<std::size_t>(i)].bytes()[1], static_cast<std::byte>(i >> 8));
  }
}

TEST(Values, HaveIntegersAndBytesByName) {
  const std::array<std::uint64_t, 3> integers = {1, ~std::uint64_t{0}, 0x1234};
  Values values;
  values.set("a", integers).set("b", 7).add("c", bytes({1, 2})).add("c", bytes({3, 4}));
  EXPECT_EQ(values.names(), (std::vector<std::string>{"a", "b", "c"}));
  for (std::size_t lane = 0; lane < 3; ++lane) EXPECT_EQ(values.integer("a", lane), integers[lane]);
  EXPECT_EQ(values.integer("c", 1), 0x0403u);
  EXPECT_EQ(values.lanes("d"), 0u);
  EXPECT_THROW((void)values.at("d"), UsageError);
  EXPECT_THROW((void)values.integer("b", 1), UsageError);
  values.add("c", bytes({5})).add("c", bytes({6, 7, 8}));
  EXPECT_EQ(values.integer("c", 1), 0x0403u);
  EXPECT_EQ(values.integer("c", 2), 0x05u);
  EXPECT_EQ(values.integer("c", 3), 0x080706u);
}

}  // namespace
}  // namespace tinyot
