#include <gtest/gtest.h>
#include <tinyot/values.h>

#include <array>
#include <stdexcept>

namespace tinyot {
namespace {

TEST(Values, IntegersAreLittleEndianBytes) {
  Values values;
  values.set("x", 0x0102030405060708);
  ASSERT_EQ(values.bytes("x").size(), 8u);
  EXPECT_EQ(values.bytes("x")[0], std::byte{8});
  EXPECT_EQ(values.bytes("x")[7], std::byte{1});
  EXPECT_EQ(values.integer("x"), 0x0102030405060708u);
}

TEST(Values, HoldOneValueForEachLane) {
  Values values;
  values.set("x", std::array<std::uint64_t, 3>{5, 6, 7});
  EXPECT_EQ(values.lanes("x"), 3u);
  EXPECT_EQ(values.integer("x", 2), 7u);
  values.add("y", std::array{std::byte{1}, std::byte{2}}).add("y", std::array{std::byte{3}});
  EXPECT_EQ(values.lanes("y"), 2u);
  EXPECT_EQ(values.integer("y", 0), 0x201u);
  EXPECT_EQ(values.integer("y", 1), 3u);
  values.set("x", 1);
  EXPECT_EQ(values.lanes("x"), 1u) << "set() replaces";
  EXPECT_EQ(values.names(), (std::vector<std::string>{"x", "y"}));
}

TEST(Values, CopiesAreIndependent) {
  Values values;
  values.set("x", 1);
  Values copy = values;
  copy.set("x", 2);
  EXPECT_EQ(values.integer("x"), 1u);
  values = std::move(copy);
  EXPECT_EQ(values.integer("x"), 2u);
}

TEST(Values, RefuseMissingOrWideValues) {
  Values values;
  values.set("x", 1).add("long", std::array<std::byte, 9>{std::byte{1}});
  EXPECT_FALSE(values.contains("y"));
  EXPECT_THROW(values.integer("y"), std::logic_error);
  EXPECT_THROW(values.integer("x", 1), std::logic_error);
  EXPECT_EQ(values.integer("long"), 1u) << "a ninth byte of zero";
  values.add("wide", std::array<std::byte, 9>{std::byte{0}, std::byte{0}, std::byte{0},
                                              std::byte{0}, std::byte{0}, std::byte{0},
                                              std::byte{0}, std::byte{0}, std::byte{1}});
  EXPECT_THROW(values.integer("wide"), std::logic_error);
}

}  // namespace
}  // namespace tinyot
