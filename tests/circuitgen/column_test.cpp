// Types of the columns of a table.
#include "circuitgen/formats/column.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tinyot::circuit {
namespace {

ColumnType column(const std::string& type, std::uint32_t bits) {
  return {type, bits, ValueFormat::Integer, NumberBase::Decimal};
}

std::string refusal(const std::string& type, std::uint32_t bits, const std::string& field) {
  try {
    (void)column(type, bits).parse(field);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ColumnType, PrintsWhatItHasParsed) {
  struct Row {
    const char* type;
    std::uint32_t bits;
    std::vector<std::pair<const char*, const char*>> fields;
  };
  for (const auto& [type, bits, fields] : std::vector<Row>{
           {"u8", 8, {{"0", "0"}, {"255", "255"}, {"007", "7"}, {"+1", "1"}, {"-0", "0"}}},
           {"u64", 64, {{"18446744073709551615", "18446744073709551615"}}},
           {"i8", 8, {{"-128", "-128"}, {"127", "127"}, {"-1", "-1"}, {"0", "0"}}},
           {"i64", 64, {{"-9223372036854775808", "-9223372036854775808"}, {"5", "5"}}},
           {"i1", 1, {{"-1", "-1"}, {"0", "0"}}},
           {"hex12", 12, {{"abc", "abc"}, {"0xf", "00f"}}},
           {"fix16.8",
            16,
            {{"1.5", "1.5"},
             {"-127.99609375", "-127.99609375"},
             {"-128", "-128"},
             {"0.001953125", "0.00390625"},
             {"0.0019", "0"},
             {".5", "0.5"}}},
           {"u8", 8, {{"2.5e1", "25"}, {"1E+2", "100"}, {"2000e-1", "200"}, {"0e5", "0"}}},
           {"fix32.16",
            32,
            {{"1e-05", "0.0000152587890625"}, {"-2.5e-1", "-0.25"}, {"3e3", "3000"}}},
           {"fix64.32", 64, {{"2147483647.5", "2147483647.5"}, {"-0.25", "-0.25"}}},
           {"u70", 70, {{"1180591620717411303423", "1180591620717411303423"}, {"+07", "7"}}},
           {"i70",
            70,
            {{"-590295810358705651712", "-590295810358705651712"},
             {"590295810358705651711", "590295810358705651711"},
             {"-1", "-1"},
             {"-0", "0"}}},
           {"str3", 24, {{"abc", "abc"}, {"", ""}, {"\xc3\xa4", "\xc3\xa4"}}},
           {"", 70, {{"1180591620717411303423", "1180591620717411303423"}, {"0x10", "16"}}}}) {
    for (const auto& [field, printed] : fields) {
      SCOPED_TRACE(std::string(type) + " " + field);
      const ColumnType read = column(type, bits);
      const BitVector value = read.parse(field);
      EXPECT_EQ(value.size(), bits);
      EXPECT_EQ(view_of(read.print(value)), printed);
    }
  }
  EXPECT_EQ(column("i8", 8).parse("-2").words()[0], 0xfeu);
  EXPECT_EQ(column("str2", 16).parse("ab").words()[0], 0x6261u);
  EXPECT_EQ(column("fix8.4", 8).parse("-1.5").words()[0], 0xe8u);
}

TEST(ColumnType, RefusesWhatDoesNotFitWithoutTheField) {
  for (const auto& [type, bits, field, reason] :
       std::vector<std::tuple<const char*, std::uint32_t, const char*, const char*>>{
           {"u8", 8, "256", "too large"},
           {"u70", 70, "1180591620717411303424", "does not fit"},
           {"u70", 70, "-1", "negative"},
           {"u70", 70, "1e3", "not a decimal"},
           {"i70", 70, "590295810358705651712", "too large"},
           {"i70", 70, "-590295810358705651713", "too large"},
           {"i70", 70, "0x1", "not a decimal"},
           {"i70", 70, "-", "not a decimal"},
           {"u8", 8, "-7", "negative"},
           {"u8", 8, "7.5", "no point"},
           {"u8", 8, "", "not a decimal"},
           {"u8", 8, "7.77e1", "no point"},
           {"u8", 8, "1e777", "exponent of -100 to 100"},
           {"u8", 8, "1e", "exponent of -100 to 100"},
           {"u8", 8, "e1", "not a decimal"},
           {"u8", 8, "1e3", "too large"},
           {"u64", 64, "1e99", "too large"},
           {"u8", 8, "0x7", "not a decimal"},
           {"u64", 64, "18446744073709551616", "too large"},
           {"i8", 8, "128", "too large"},
           {"i8", 8, "-129", "too large"},
           {"fix16.8", 16, "128", "too large"},
           {"fix16.8", 16, "127.999", "too large"},
           {"fix16.8", 16, "1.2.3", "not a decimal"},
           {"hex8", 8, "777", "does not fit"},
           {"str2", 16, "777", "3 bytes"}}) {
    SCOPED_TRACE(std::string(type) + " " + field);
    const std::string message = refusal(type, bits, field);
    EXPECT_NE(message.find(reason), std::string::npos) << message;
    EXPECT_EQ(message.find("777"), std::string::npos);
  }
  for (const char* type : {"u", "u0", "u32769", "i32769", "f32", "fix8", "fix8.8", "fix.4", "str",
                           "hex", "u8x", "str4294967295"})
    EXPECT_NE(refusal(type, 8, "0").find("there is no type"), std::string::npos) << type;
  EXPECT_NE(refusal("u16", 8, "0").find("has 16 bits, not the 8"), std::string::npos);
}

}  // namespace
}  // namespace tinyot::circuit
