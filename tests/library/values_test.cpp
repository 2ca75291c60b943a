#include <gtest/gtest.h>
#include <tinyot/values.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>

#include "tests/support/refusal.h"
#include "tinyot/error.h"

namespace tinyot {
namespace {

using test::refusal;

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

TEST(Values, SignedIntegersAreAsWideAsTheirBundle) {
  Values values;
  values.set_signed("x", -5, 9);
  EXPECT_EQ(values.at("x").bits(), 9u);
  EXPECT_EQ(values.integer("x"), 0x1fbu);
  EXPECT_EQ(values.signed_integer("x"), -5);
  values.set_signed("y", std::array<std::int64_t, 3>{-256, 255, -1}, 9);
  EXPECT_EQ(values.signed_integer("y", 0), -256);
  EXPECT_EQ(values.signed_integer("y", 1), 255);
  EXPECT_EQ(values.signed_integer("y", 2), -1);
  values.set_signed("z", std::numeric_limits<std::int64_t>::min(), 64);
  EXPECT_EQ(values.signed_integer("z"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(refusal([&] { values.set_signed("x", 256, 9); }),
            "value 'x' does not fit 9 bits (signed)");
  EXPECT_EQ(refusal([&] { values.set_signed("x", -257, 9); }),
            "value 'x' does not fit 9 bits (signed)");
  EXPECT_EQ(refusal([&] { values.set_signed("x", 0, 65); }),
            "value 'x': 65 bits are out of range: 1 to 64");
}

TEST(Values, RefuseMissingOrWideValues) {
  Values values;
  EXPECT_EQ(refusal([&] { values.integer("y"); }), "there is no value 'y'; there are none");
  values.set("x", 1).add("long", std::array<std::byte, 9>{std::byte{1}});
  EXPECT_FALSE(values.contains("y"));
  EXPECT_EQ(refusal([&] { values.integer("y"); }), "there is no value 'y'; there are 'long', 'x'");
  EXPECT_EQ(refusal([&] { values.integer("lnog"); }),
            "there is no value 'lnog' (did you mean long?); there are 'long', 'x'");
  EXPECT_EQ(refusal([&] { values.integer("x", 1); }), "value 'x' has no lane 1; it has 1");
  EXPECT_EQ(values.integer("long"), 1u) << "a ninth byte of zero";
  values.add("wide", std::array<std::byte, 9>{std::byte{0}, std::byte{0}, std::byte{0},
                                              std::byte{0}, std::byte{0}, std::byte{0},
                                              std::byte{0}, std::byte{0}, std::byte{1}});
  EXPECT_EQ(refusal([&] { values.integer("wide"); }), "value 'wide' has more than 64 bits");
  EXPECT_EQ(refusal([&] { values.signed_integer("wide"); }),
            "value 'wide' has 72 bits: a signed integer has 1 to 64");
}

}  // namespace
}  // namespace tinyot
