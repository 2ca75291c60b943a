#include "circuitgen/formats/values.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "circuits.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

constexpr ValueFormat kBytes = ValueFormat::Bytes, kInteger = ValueFormat::Integer;

TEST(Values, BytesAreInOrderWithTheirLowestBitFirst) {
  const BitVector value = parse_value("01f0", 16, kBytes, false);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(value[i], i == 0 || i >= 12) << i;
  EXPECT_EQ(value.words()[0], 0xf001u);
  EXPECT_EQ(print_value(value, kBytes, false), "01f0");
  EXPECT_EQ(print_value(value, kBytes, true), "0f80");
  EXPECT_EQ(parse_value("0X01F0", 16, kBytes, false).words()[0], 0xf001u);
}

TEST(Values, IntegersHaveBitJOnWireJ) {
  EXPECT_EQ(parse_value("0x1f", 12, kInteger, false).words()[0], 0x1fu);
  EXPECT_EQ(parse_value("31", 12, kInteger, false).words()[0], 31u);
  EXPECT_EQ(parse_value("0x0000001f", 5, kInteger, false).words()[0], 0x1fu);
  EXPECT_EQ(parse_value("0x1", 12, kInteger, true).words()[0], 0x800u);
  EXPECT_EQ(parse_value("18446744073709551615", 64, kInteger, false).words()[0], ~std::uint64_t{0});
  EXPECT_EQ(print_value(parse_value("0x1f", 13, kInteger, false), kInteger, false), "0x001f");
  EXPECT_EQ(print_value(parse_value("1", 1, kInteger, false), kInteger, false), "0x1");
  EXPECT_EQ(print_value(parse_value("0", 70, kInteger, false), kInteger, false),
            "0x" + std::string(18, '0'));
}

TEST(Values, NumbersHaveThreeBases) {
  const BitVector value = parse_value("0b0101", 9, kInteger, false);
  EXPECT_EQ(value.words()[0], 5u);
  EXPECT_EQ(print_value(value, kInteger, false, NumberBase::Binary), "0b000000101");
  EXPECT_EQ(print_value(value, kInteger, false, NumberBase::Decimal), "5");
  EXPECT_EQ(print_value(value, kInteger, true, NumberBase::Decimal), "320");
  EXPECT_EQ(print_value(BitVector(9), kInteger, false, NumberBase::Decimal), "0");
  EXPECT_EQ(print_value(parse_value("0a", 8, kBytes, false), kBytes, false, NumberBase::Decimal),
            "0a");
  const BitVector power = parse_value("340282366920938463463374607431768211456", 129, kInteger,
                                      false);  // 2^128
  for (std::size_t i = 0; i < 129; ++i) EXPECT_EQ(power[i], i == 128);
  EXPECT_THROW(print_value(BitVector(kDecimalBitsMax + 1), kInteger, false, NumberBase::Decimal),
               UsageError);
}

TEST(Values, MsbFirstReversesTheBits) {
  std::mt19937_64 rng(9);
  for (const std::uint32_t bits : {8u, 16u, 64u, 72u, 128u}) {
    const BitVector value = random_bits(bits, rng);
    for (const ValueFormat format : {kBytes, kInteger}) {
      const BitVector mirrored = parse_value(print_value(value, format, false), bits, format, true);
      for (std::size_t j = 0; j < bits; ++j) EXPECT_EQ(mirrored[j], value[bits - 1 - j]);
    }
  }
}

TEST(Values, RoundTrip) {
  std::mt19937_64 rng(10);
  for (std::uint32_t bits = 1; bits <= 200; ++bits) {
    for (const bool msb_first : {false, true}) {
      for (const ValueFormat format : {kBytes, kInteger}) {
        if (format == kBytes && bits % 8 != 0) continue;
        const BitVector value = random_bits(bits, rng);
        const std::string text = print_value(value, format, msb_first);
        const BitVector again = parse_value(text, bits, format, msb_first);
        EXPECT_TRUE(std::ranges::equal(again.words(), value.words())) << bits;
        if (format == kBytes) continue;
        for (const NumberBase base : {NumberBase::Binary, NumberBase::Decimal}) {
          const BitVector number =
              parse_value(print_value(value, format, msb_first, base), bits, format, msb_first);
          EXPECT_TRUE(std::ranges::equal(number.words(), value.words())) << bits;
        }
      }
    }
  }
}

TEST(Values, ErrorsDoNotShowTheValue) {
  struct Row {
    const char* text;
    std::uint32_t bits;
    ValueFormat format;
    const char* expected;
  };
  const Row rows[] = {
      {"", 8, kBytes, "empty"},
      {"", 8, kInteger, "empty"},
      {"deadbe", 32, kBytes,
       "the value has 6 characters, but its bundle of 32 bits takes exactly 8 hexadecimal digits"},
      {"deadbeef77", 32, kBytes, "the value has 10 characters"},
      {"0xdeadbe", 32, kBytes, "the value has 6 characters"},
      {"deadbexf", 32, kBytes, "position 7"},
      {"0xdeadbexf", 32, kBytes, "position 9"},
      {"0x", 8, kInteger, "no digits"},
      {"0xdeadg", 64, kInteger, "position 7 of the value is not a hexadecimal digit"},
      {"12345a", 64, kInteger, "position 6 of the value is not a decimal digit (write 0x"},
      {"-12345", 64, kInteger, "position 1"},
      {" 12345", 64, kInteger, "position 1"},
      {"0xdeadbe", 23, kInteger, "the value does not fit in the 23 bits"},
      {"0xdeadbe", 16, kInteger, "the value does not fit in the 16 bits"},
      {"12345", 13, kInteger, "the value does not fit in the 13 bits"},
      {"18446744073709551616", 64, kInteger, "the value does not fit in the 64 bits"},
      {"123450000000000000000000", 64, kInteger, "the value does not fit in the 64 bits"},
      {"4294967296", 32, kInteger, "the value does not fit in the 32 bits"},
      {"2", 1, kInteger, "the value does not fit in the 1 bits"},
      {"12345", (1 << 15) + 1, kInteger, "a decimal number is for at most 32768 bits"},
      {"0b", 8, kInteger, "no digits after 0b"},
      {"0b012345", 8, kInteger, "position 5 of the value is not a bit"},
      {"0b100000000", 8, kInteger, "the value does not fit in the 8 bits"},
  };
  for (const Row& row : rows) {
    try {
      parse_value(row.text, row.bits, row.format, false);
      ADD_FAILURE() << row.text;
    } catch (const UsageError& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(row.expected), std::string::npos) << message;
      EXPECT_EQ(message.find("dead"), std::string::npos) << message;
      EXPECT_EQ(message.find("12345"), std::string::npos) << message;
    }
  }
}

}  // namespace
}  // namespace tinyot
