// `tinyot run --rows`: tables as inputs and outputs, of two processes, and what is refused.
#include <sys/stat.h>

#include <random>
#include <thread>

#include "base/error.h"
#include "tests/support/command_test.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

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
  refused("a:u16\n1\n",
          "--type a=u16: the circuit reads it as unsigned, not as u16; circuit "
          "millionaires:bits=16 does");
  refused("a:float\n1\n", "there is no type 'float'");
  refused("a\n1\n", "millionaires has no such input or output", {"--column", "x=u32"});
  refused("a\n1\n", "--rows cannot be combined with --lanes: each row is a lane", {"--lanes", "2"});
  refused("a\n1\n", "--rows cannot be combined with --live: make the material first", {"--live"});
  refused("a\n\"7, 777\"\n", "; a cell holds one value: lists take --lanes and --input");
  refused("a\n1\n", "its values are a column", {"--input", "a=777"});
  EXPECT_FALSE(std::filesystem::exists(path("none")));
  write_file(path("none"), "of another run");
  refused("a\n1\n", path("none") + " already exists");
  EXPECT_EQ(read_file(path("none")), "of another run");
  EXPECT_EQ(store_info('A').dump(), before);
}

// Of a table with an empty line the two parties must not count the rows differently.
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

// As a shell's <(...) is, with what Excel and pandas write.
TEST_F(RowsTest, ColumnsHaveTheTypesOfTheFile) {
  ASSERT_TRUE(ended_with(tinyot({"circuit", "convert", "millionaires:bits=8", "--output",
                                 path("file.txt"), "--type", "a=i8", "--type", "a_has_more=u1"}),
                         0));
  write_file(path("a.csv"), "a\n-128\n127\n");
  write_file(path("b.csv"), "b\n127\n-128\n");
  const auto of_file = [&](const std::string& table) {
    return Arguments{"--circuit", path("file.txt"), "--rows", path(table)};
  };
  const auto [ended_a, ended_b] =
      both("run", of_file("a.csv") + Arguments{"--out", path("typed.csv")},
           of_file("b.csv") + Arguments{"--out", path("hex.csv"), "--column", "a_has_more=hex1"});
  ASSERT_TRUE(ended_with(ended_a, 0));
  ASSERT_TRUE(ended_with(ended_b, 0));
  EXPECT_EQ(read_file(path("typed.csv")), "a_has_more:u1\n0\n1\n");
}

// The types of the columns choose the circuit; the parties have to choose the same.
TEST_F(RowsTest, ColumnsOfSignedNumbersAndTextsAreComparedAsSuch) {
  const auto compared = [&](const std::string& a, const std::string& b) {
    write_file(path("a.csv"), a);
    write_file(path("b.csv"), b);
    const auto [ended_a, ended_b] = both("run", rows(path("a.csv"), {"--out", path("out-a.csv")}),
                                         rows(path("b.csv"), {"--out", path("out-b.csv")}));
    EXPECT_TRUE(ended_with(ended_a, 0));
    EXPECT_TRUE(ended_with(ended_b, 0));
    const std::string out = read_file(path("out-a.csv"));
    for (const char* name : {"out-a.csv", "out-b.csv"}) std::filesystem::remove(path(name));
    return out;
  };
  EXPECT_EQ(compared("a:i32\n-1\n5\n-7\n", "b:i32\n5\n-1\n-3\n"), "a_has_more\n0x0\n0x1\n0x0\n");
  EXPECT_EQ(compared("a:fix32.16\n-1.5\n0.25\n", "b:fix32.16\n1.5\n-0.25\n"),
            "a_has_more\n0x0\n0x1\n");
  EXPECT_EQ(compared("a:str4\naz\nba\n", "b:str4\nba\naz\n"), "a_has_more\n0x0\n0x1\n");

  const std::string before = store_info('A').dump();
  write_file(path("a.csv"), "a:i32\n-1\n");
  write_file(path("b.csv"), "b:u32\n1\n");
  const auto [a, b] = both("run", rows(path("a.csv"), {"--out", path("out-a.csv")}),
                           rows(path("b.csv"), {"--out", path("out-b.csv")}));
  for (const Ended* ended : {&a, &b}) {
    EXPECT_TRUE(ended_with(*ended, 6, "millionaires:signed=1"));
    EXPECT_TRUE(ended_with(*ended, 6, "millionaires ("));
  }
  EXPECT_EQ(store_info('A').dump(), before);
}

TEST_F(RowsTest, TablesComeThroughPipes) {
  const auto piped = [&](const char* name, const std::string& table) {
    EXPECT_EQ(::mkfifo(path(name).c_str(), 0600), 0);
    return std::jthread([file = path(name), table] { write_file(file, table); });
  };
  const std::jthread a = piped("a.csv",
                               "\xef\xbb\xbf"
                               "a:u32\r\n7e0\r\n1e+3\r\n"),
                     b = piped("b.csv", "b:u32\n8\n999\n");
  const Arguments out = {"--out", path("out.csv"), "--column", "a_has_more=u1"};
  const auto [ended_a, ended_b] =
      both("run", rows(path("a.csv"), out), rows(path("b.csv"), {"--out", path("out-b.csv")}));
  ASSERT_TRUE(ended_with(ended_a, 0));
  EXPECT_EQ(read_file(path("out.csv")), "a_has_more:u1\n0\n1\n");
}

TEST_F(RowsTest, GoesOnFromARow) {
  write_file(path("a.csv"), "a\n1\n20\n30\n40\n");
  write_file(path("b.csv"), "b\n11\n12\n13\n50\n");
  const auto options = [&](const std::string& party, const std::string& row) {
    return rows(path(party + ".csv"), {"--out", path("out-" + party + ".csv"), "--type",
                                       "a_has_more=u1", "--from-row", row});
  };
  // A has one row more than both are to keep, and a part of another.
  write_file(path("out-a.csv"), "a_has_more:u1\n0\n1\n1\n0");
  write_file(path("out-b.csv"), "a_has_more:u1\n0\n1\n");
  const BothEnded ended = both("run", options("a", "3"), options("b", "3"));
  ASSERT_TRUE(ended_with(ended.a, 0));
  ASSERT_TRUE(ended_with(ended.b, 0));
  EXPECT_EQ(json_of(ended.a)["ands"], 2 * 32);
  for (const char* out : {"out-a.csv", "out-b.csv"})
    EXPECT_EQ(read_file(path(out)), "a_has_more:u1\n0\n1\n1\n0\n");

  const auto refused = [&](const std::string& begun, const std::string& row,
                           const std::string& reason) {
    write_file(path("out-a.csv"), begun);
    EXPECT_TRUE(ended_with(tinyot(as('A', "run", options("a", row))), 2, reason));
    EXPECT_EQ(read_file(path("out-a.csv")), begun);
  };
  refused("a_has_more:u1\n0\n", "3", "has 2 whole lines, fewer than the 3 to go on after");
  refused("other:u1\n0\n0\n", "3", "has other columns than this run");
  refused("a_has_more:u1\n0\n", "5", "--from-row is out of range: 1 to 4");
  refused("a_has_more:u1\n0\n", "1", "already exists");
  write_file(path("out-a.csv"), "a_has_more:u1\n0\n1\n");
  // Rows that are to be made again stay until they are.
  const std::string begun = "a_has_more:u1\n0\n1\n1\n";
  write_file(path("out-a.csv"), begun);
  const BothEnded differ = both("run", options("a", "3"), options("b", "2"));
  EXPECT_TRUE(ended_with(differ.a, 6, "from row"));
  EXPECT_EQ(read_file(path("out-a.csv")), begun);
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
