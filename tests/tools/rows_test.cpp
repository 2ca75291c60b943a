// `tinyot run --rows`: tables as inputs and outputs, of two processes, and what is refused.
#include <sys/stat.h>

#include <random>

#include "base/error.h"
#include "tests/support/layers.h"
#include "tests/tools/command_test.h"
#include "circuitgen/formats/column.h"
#include "tools/cli/rows/csv.h"

namespace tinyot::test {
namespace {

using circuit::NumberBase;
using circuit::ValueFormat;

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
           {"fix64.32", 64, {{"2147483647.5", "2147483647.5"}, {"-0.25", "-0.25"}}},
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
           {"u8", 8, "-7", "negative"},
           {"u8", 8, "7.5", "no point"},
           {"u8", 8, "", "not a decimal"},
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
  for (const char* type : {"u", "u0", "u65", "i65", "f32", "fix8", "fix8.8", "fix.4", "str", "hex",
                           "u8x", "str4294967295"})
    EXPECT_NE(refusal(type, 8, "0").find("there is no column type"), std::string::npos) << type;
  EXPECT_NE(refusal("u16", 8, "0").find("has 16 bits, not the 8"), std::string::npos);
}

class RowsTest : public CommandTest {
 protected:
  RowsTest() {
    EXPECT_TRUE(ended_with(tinyot({"local", "preprocess", "--store", dir_.string(), "--profile",
                                   "fast", "--ands", "2^17", "--inputs", "200k", "--quiet"}),
                           0));
  }
  static Arguments rows(const std::string& file, const Arguments& more = {}) {
    return Arguments{"--circuit", "millionaires", "--rows", file} + more;
  }
};

TEST_F(RowsTest, OutputsAreInOrderOfRows) {
  std::mt19937 rng(1);
  std::string a = "a:u32\n", b = "\"b\"\r\n", expected_a = "a_has_more:u1\n";
  for (int row = 0; row < 1000; ++row) {
    const std::uint32_t x = rng(), y = row % 7 == 0 ? x : static_cast<std::uint32_t>(rng());
    a += std::to_string(x) + "\n";
    b += "\"" + std::to_string(y) + "\"\r\n";
    expected_a += x > y ? "1\n" : "0\n";
  }
  write_file(path("a.csv"), a);
  write_file(path("b.csv"), b);
  const auto [ended_a, ended_b] =
      both("run",
           rows(path("a.csv"),
                {"--out", path("out-a.csv"), "--column", "a_has_more=u1", "--rows-at-once", "300"}),
           rows(path("b.csv"),
                {"--out", path("out-b.csv"), "--rows-at-once", "300", "--output-base", "2"}));
  ASSERT_TRUE(ended_with(ended_a, 0));
  ASSERT_TRUE(ended_with(ended_b, 0));
  EXPECT_EQ(read_file(path("out-a.csv")), expected_a);
  EXPECT_EQ(read_file(path("out-b.csv")).substr(0, 13), "a_has_more\n0b");
  const Json report = json_of(ended_a);
  EXPECT_EQ(report["rows"], 1000);
  EXPECT_EQ(report["ands"], 32'000);
  struct stat status {};
  ASSERT_EQ(::stat(path("out-a.csv").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(RowsTest, RefusesBadRowsBeforeAnythingIsSpent) {
  const std::string before = store_info('A').dump();
  const auto refused = [&](const std::string& text, const std::string& reason,
                           const Arguments& more = {}) {
    write_file(path("bad.csv"), text);
    const Ended ended =
        tinyot(as('A', "run", rows(path("bad.csv"), Arguments{"--out", path("none")} + more)));
    EXPECT_TRUE(ended_with(ended, 2, reason));
    EXPECT_EQ((ended.err + ended.out).find("777"), std::string::npos);
  };
  refused("a\n1\n2\n777x\n4\n", "bad.csv, line 4, column a");
  refused("a:u32\n1\n4294967777\n", "bad.csv, line 3, column a: the number is too large");
  refused("a:u32\n1\n\n4294967777\n", "bad.csv, line 3, column a: it is not a decimal number");
  refused("a\n1\n\n4\n", "bad.csv, line 3, column a");
  refused("a,b\n1,2\n", "does not belong to party A");
  refused("a,a\n1,2\n", "occurs twice");
  refused("a\n1,2\n", "line 2: the row has 2 fields, but there are 1 columns");
  refused("a\n\"1\n", "a quote is not closed");
  refused("a\n\"1\"x\n", "text after a closing quote");
  refused("c\n1\n", "has no input 'c'");
  refused("", "no line with the names");
  refused("a\n", "there are no rows");
  refused("a:u16\n1\n", "type u16 has 16 bits, not the 32");
  refused("a:float\n1\n", "there is no column type 'float'");
  refused("a\n1\n", "has no input 'x'", {"--column", "x=u32"});
  refused("a\n1\n", "--rows cannot be combined with --lanes", {"--lanes", "2"});
  refused("a\n1\n", "its values are a column", {"--input", "a=777"});
  EXPECT_FALSE(std::filesystem::exists(path("none")));
  EXPECT_EQ(store_info('A').dump(), before);
}

// Of a table with an empty line the two parties must not count the rows differently.
TEST(CsvReader, EmptyLineIsRowOrError) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("tinyot-csv-" + std::to_string(::getpid()));
  const auto rows_of = [&](const std::string& text) {
    write_file(file, text);
    std::string rows;
    try {
      CsvReader reader(file);
      while (reader.next()) {
        rows += reader.where().substr(file.string().size() + 7) + ":";
        for (const SecretText& field : reader.fields())
          rows += "<" + std::string(view_of(field)) + ">";
        rows += " ";
      }
    } catch (const UsageError& error) {
      rows += std::string(error.what()).substr(file.string().size() + 2);
    }
    std::filesystem::remove(file);
    return rows;
  };
  const std::string at_end =
      ": the file ends with an empty line; remove it, or write \"\" if it is a row with an empty "
      "value";
  for (const std::string end : {"\n", "\r\n"}) {
    const auto lines = [&](std::initializer_list<std::string> all) {
      std::string text;
      for (const std::string& line : all) text += line + end;
      return text;
    };
    const std::string row = "2:<ann> ";
    EXPECT_EQ(rows_of(lines({"x", "ann", "", "bob"})), row + "3:<> 4:<bob> ");
    EXPECT_EQ(rows_of(lines({"x", "", "", "ann", "", "bob"})), "2:<> 3:<> 4:<ann> 5:<> 6:<bob> ");
    EXPECT_EQ(rows_of(lines({"x", "ann", "\"\""})), row + "3:<> ");
    EXPECT_EQ(rows_of(lines({"x", "ann", "  "})), row + "3:<  > ");
    EXPECT_EQ(rows_of(lines({"x", "ann", ""})), row + "line 3" + at_end);
    EXPECT_EQ(rows_of(lines({"x", "ann", "", ""})), row + "line 3" + at_end);
    EXPECT_EQ(rows_of(lines({"x", "", "", "bob", ""})), "2:<> 3:<> 4:<bob> line 5" + at_end);
    EXPECT_EQ(rows_of(lines({"x"}) + "ann"), row) << "without a line end";
    EXPECT_EQ(rows_of(lines({"x", ""})), "line 2" + at_end);
    EXPECT_EQ(rows_of(lines({"", "x"})), "line 1: the line is empty, without names of columns");
    const std::string two = "2:<1><2> ";
    EXPECT_EQ(rows_of(lines({"x,y", "1,2", ",", "3,4"})), two + "3:<><> 4:<3><4> ");
    for (const auto& rest : {lines({"", "3,4"}), lines({""}), lines({"", ""})})
      EXPECT_EQ(rows_of(lines({"x,y", "1,2"}) + rest),
                two + "line 3: the line is empty, but a row has 2 columns; remove the line");
    EXPECT_EQ(rows_of(lines({"x,y", "1,2", " "})),
              two + "line 3: the row has 1 fields, but there are 2 columns");
  }
}

TEST(CsvReader, ReadsLinesOfAnyLength) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("tinyot-csv-" + std::to_string(::getpid()));
  for (const std::size_t length : {65533u, 65534u, 65535u, 65536u, 65537u, 200000u}) {
    const std::string line(length, 'v');
    write_file(file, "x\n" + line + "\n" + line + "\r\nw");
    CsvReader reader(file);
    for (const std::string& wanted : {line, line, std::string("w")}) {
      ASSERT_TRUE(reader.next());
      EXPECT_TRUE(view_of(reader.fields()[0]) == wanted);
    }
    EXPECT_FALSE(reader.next());
  }
  std::filesystem::remove(file);
}

// Readers that drop empty lines read as many rows as were written.
TEST(CsvWriter, WritesNoEmptyLine) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("tinyot-csv-" + std::to_string(::getpid()));
  CsvWriter writer(file);
  for (const std::vector<std::string>& row :
       std::vector<std::vector<std::string>>{{"x"}, {""}, {"", ""}, {"a\"b"}}) {
    std::vector<SecretText> fields;
    for (const std::string& field : row) fields.push_back(secret_text(field));
    writer.write_row(fields);
  }
  writer.flush();
  EXPECT_EQ(read_file(file), "x\n\"\"\n,\n\"a\"\"b\"\n");
  std::filesystem::remove(file);
}

// Rows of the two parties, in whose tables different lines are empty, stay beside each other.
TEST_F(RowsTest, EmptyLinesDoNotShiftRows) {
  std::string gates;
  for (int bit = 0; bit < 64; ++bit)
    gates += "2 1 " + std::to_string(bit) + " " + std::to_string(64 + bit) + " " +
             std::to_string(128 + bit) + " XOR\n";
  for (int bit = 0; bit < 64; ++bit)
    gates += "1 1 " + std::to_string(128 + bit) + " " + std::to_string(192 + bit) + " INV\n";
  for (int bit = 1; bit < 64; ++bit)
    gates += "2 1 " + std::to_string(bit == 1 ? 192 : 254 + bit) + " " + std::to_string(192 + bit) +
             " " + std::to_string(255 + bit) + " AND\n";
  write_file(path("same.txt"), "191 319\n2 64 64\n1 1\n\n" + gates);
  write_file(path("a.csv"), "0:str8\nann\n\nbob\ncarl\n");
  write_file(path("b.csv"), "1:str8\nann\nbob\n\ncarl\n");
  const Arguments circuit = {"--circuit", path("same.txt")};
  const auto [a, b] =
      both("run", circuit + Arguments{"--rows", path("a.csv"), "--out", path("out-a.csv")},
           circuit + Arguments{"--rows", path("b.csv"), "--out", path("out-b.csv")});
  ASSERT_TRUE(ended_with(a, 0));
  ASSERT_TRUE(ended_with(b, 0));
  EXPECT_EQ(read_file(path("out-a.csv")), "0\n0x1\n0x0\n0x0\n0x1\n");
  EXPECT_EQ(read_file(path("out-b.csv")), read_file(path("out-a.csv")));
}

TEST_F(RowsTest, NumbersOfRowsAreComparedFirst) {
  write_file(path("a.csv"), "a\n1\n2\n");
  write_file(path("b.csv"), "b\n1\n2\n3\n");
  const auto [a, b] = both("run", rows(path("a.csv"), {"--out", path("out-a.csv")}),
                           rows(path("b.csv"), {"--out", path("out-b.csv")}));
  EXPECT_TRUE(ended_with(a, 6, "2 rows, from row 1"));
  EXPECT_TRUE(ended_with(b, 6, "3 rows, from row 1"));
  EXPECT_FALSE(std::filesystem::exists(path("out-a.csv"))) << "it has no rows";
}

TEST_F(RowsTest, TooFewAndsForAllRowsAreFoundBeforeTheFirst) {
  std::string table = "a\n";
  for (int row = 0; row < 5000; ++row) table += "1\n";
  write_file(path("a.csv"), table);
  const std::string before = store_info('A').dump();
  write_file(path("b.csv"), "b" + table.substr(1));
  const auto [a, b] = both("run", rows(path("a.csv"), {"--out", path("out-a.csv")}),
                           rows(path("b.csv"), {"--out", path("out-b.csv")}));
  EXPECT_TRUE(ended_with(a, 5, "160000"));
  EXPECT_EQ(store_info('A').dump(), before);
}

// B's key is the same for all rows, and it has no column.
TEST_F(RowsTest, PartyWithoutColumnsGivesTheNumber) {
  write_file(path("a.csv"),
             "message\n00112233445566778899aabbccddeeff\n"
             "00000000000000000000000000000000\n");
  const auto [a, b] = both("run",
                           {"--circuit", "aes128", "--rows", path("a.csv"), "--input",
                            "key_a=000102030405060708090a0b0c0d0e0f"},
                           {"--circuit", "aes128", "--rows", "2", "--out", path("out.csv"),
                            "--input", "key_b=00000000000000000000000000000000"});
  ASSERT_TRUE(ended_with(a, 0));
  ASSERT_TRUE(ended_with(b, 0));
  EXPECT_EQ(read_file(path("out.csv")),
            "ciphertext\n69c4e0d86a7b0430d8cdb78070b4c55a\nc6a13b37878f5b826f4f8162a1c8d879\n");
}

}  // namespace
}  // namespace tinyot::test
