#include <gtest/gtest.h>
#include <tinyot/tinyot.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

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
  EXPECT_EQ(refusal([&] { values.integer("x"); }),
            "value 'x' is negative: signed_integer() returns it");
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

TEST(Values, ListsHaveTheirIntegersSideBySide) {
  Values values;
  values.set_list("x", std::array<std::uint64_t, 3>{1, 2, 7}, 3);
  EXPECT_EQ(values.at("x").bits(), 9u);
  EXPECT_EQ(values.integer("x"), 1u | 2u << 3 | 7u << 6);
  EXPECT_EQ(values.list("x", 3), (std::vector<std::uint64_t>{1, 2, 7}));
  values.set_signed_list("y", std::array<std::int64_t, 3>{-4, 3, -1}, 3);
  EXPECT_EQ(values.signed_list("y", 3), (std::vector<std::int64_t>{-4, 3, -1}));
  EXPECT_EQ(refusal([&] {
              values.set_list("x", std::array<std::uint64_t, 2>{1, 8}, 3);
            }),
            "value 2 of 'x' does not fit 3 bits (unsigned)");
  EXPECT_EQ(refusal([&] { values.set_signed_list("x", std::array<std::int64_t, 1>{4}, 3); }),
            "value 'x' does not fit 3 bits (signed)");
  EXPECT_EQ(refusal([&] { values.list("x", 4); }),
            "value 'x' has 9 bits, which are no list of integers of 4");
}

Values outputs_of(const std::string& circuit, const Values& inputs) {
  return circuit::evaluate(*circuit::named_circuit(circuit), inputs);
}

TEST(Values, IntegersAreWhatTheCircuitReads) {
  const auto values = [](std::int64_t a, std::int64_t b, std::size_t bits) {
    return Values().set_signed("a", a, bits).set_signed("b", b, bits);
  };
  EXPECT_EQ(outputs_of("millionaires:bits=8,signed=1", values(-1, 1, 8)).integer("a_has_more"), 0u);
  EXPECT_EQ(
      outputs_of("millionaires:bits=8", Values().set("a", 200).set("b", 1)).integer("a_has_more"),
      1u);
  EXPECT_EQ(refusal([&] { outputs_of("millionaires:bits=8", values(-1, 1, 8)); }),
            "input a is unsigned, and was given as signed integers; circuit "
            "millionaires:bits=8,signed=1 does");
  // 200 is -56 of 8 bits; 5 is 5 either way.
  EXPECT_EQ(refusal([&] {
              outputs_of("millionaires:bits=8,signed=1", Values().set("a", 200).set("b", 1));
            }),
            "input a is signed, and was given as unsigned integers; circuit millionaires:bits=8 "
            "does");
  EXPECT_NO_THROW(outputs_of("millionaires:bits=8,signed=1", Values().set("a", 5).set("b", 1)));
  EXPECT_EQ(refusal([&] { outputs_of("millionaires:signed=1", values(-1, 1, 8)); }),
            "input a takes 1 integer of 32 bits, and 1 integer of 8 bits were given");
  EXPECT_EQ(
      refusal([&] { outputs_of("millionaires:bits=8,text=1", Values().set("a", 5).set("b", 1)); }),
      "input a is text, and was given as unsigned integers; circuit millionaires:bits=8 does");
}

TEST(Values, ListsAndOutputsAreWhatTheCircuitReads) {
  const std::array<std::int64_t, 2> a = {-7, 120}, b = {-64, 3};
  const Values sorted =
      outputs_of("sort:count=4,bits=8,signed=1",
                 Values().set_signed_list("values_a", a, 8).set_signed_list("values_b", b, 8));
  EXPECT_EQ(sorted.signed_list("sorted", 8), (std::vector<std::int64_t>{-64, -7, 3, 120}));
  const std::array<std::uint64_t, 3> three = {3, 1, 2};
  EXPECT_EQ(
      refusal([&] { outputs_of("sort:count=4,bits=8", Values().set_list("values_a", three, 8)); }),
      "input values_a takes 2 integers of 8 bits, and 3 integers of 8 bits were given; "
      "circuit sort:count=6,bits=8, or sort:count=5,bits=8, does");
  const Values lowest =
      outputs_of("minimum:count=2,bits=8,signed=1",
                 Values().set_signed("values_a", -1, 8).set_signed("values_b", 1, 8));
  EXPECT_EQ(lowest.signed_integer("minimum"), -1);
  EXPECT_EQ(refusal([&] { lowest.integer("minimum"); }),
            "value 'minimum' is negative: signed_integer() returns it");
  const Values high =
      outputs_of("minimum:count=2,bits=8", Values().set("values_a", 200).set("values_b", 201));
  EXPECT_EQ(high.integer("minimum"), 200u);
  EXPECT_THROW((void)high.signed_integer("minimum"), UsageError);
  EXPECT_EQ(refusal([&] {
              outputs_of("sorted_set_intersection:count=2,bits=8",
                         Values().set_list("values_a", std::array<std::uint64_t, 2>{2, 1}, 8));
            }),
            "input values_a: value 2 is less than the one before: the list has to be in ascending "
            "order");
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
