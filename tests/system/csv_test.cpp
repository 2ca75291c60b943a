// Tables as text.
#include "system/csv.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <iterator>

#include "tests/support/files.h"
#include "tinyot/error.h"

namespace tinyot::system {
namespace {

using test::read_file;
using test::write_file;

TEST(CsvReader, EmptyLineIsRowOrError) {
  const test::TestDirectory directory;
  const std::filesystem::path file = directory / "table.csv";
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
  const test::TestDirectory directory;
  const std::filesystem::path file = directory / "table.csv";
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
}

// What is written is read again, whatever the fields hold.
TEST(CsvWriter, FieldsAreReadAsTheyWere) {
  const test::TestDirectory directory;
  const std::filesystem::path file = directory / "table.csv";
  const std::vector<std::vector<std::string>> rows{{"x", "y\"z"},      {"\"", "\"\""},
                                                   {",", "a,\"b\",c"}, {"", "\""},
                                                   {" a ", "\"a"},     {"a\"", "\",\""}};
  {
    CsvWriter writer(file);
    for (const std::vector<std::string>& row : rows) {
      std::vector<SecretText> fields;
      for (const std::string& field : row) fields.push_back(secret_text(field));
      writer.write_row(fields);
    }
    writer.flush();
  }
  CsvReader reader(file);
  EXPECT_EQ(reader.header(), rows[0]);
  for (std::size_t row = 1; row < rows.size(); ++row) {
    ASSERT_TRUE(reader.next());
    for (std::size_t column = 0; column < 2; ++column)
      EXPECT_TRUE(view_of(reader.fields()[column]) == rows[row][column]) << row << ' ' << column;
  }
  EXPECT_FALSE(reader.next());
}

// Readers that drop empty lines read as many rows as were written.
TEST(CsvWriter, WritesNoEmptyLine) {
  const test::TestDirectory directory;
  const std::filesystem::path file = directory / "table.csv";
  CsvWriter writer(file);
  for (const std::vector<std::string>& row :
       std::vector<std::vector<std::string>>{{"x"}, {""}, {"", ""}, {"a\"b"}}) {
    std::vector<SecretText> fields;
    for (const std::string& field : row) fields.push_back(secret_text(field));
    writer.write_row(fields);
  }
  writer.flush();
  EXPECT_EQ(read_file(file), "x\n\"\"\n,\n\"a\"\"b\"\n");
}

}  // namespace
}  // namespace tinyot::system
