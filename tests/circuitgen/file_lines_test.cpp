// Lines of a text that is longer than a block, from both ends.
#include "circuitgen/formats/file_lines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/error.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

struct NumberedLine {
  std::string text;
  std::uint64_t number;
};

// Lines of all lengths, some of them longer than several blocks, some blank.
std::string random_text(std::mt19937_64& rng, std::size_t lines, bool ends,
                        std::vector<NumberedLine>& expected) {
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) {
    const std::size_t kind = rng() % 100;
    const std::size_t length = kind < 2    ? rng() % 900'000
                               : kind < 10 ? rng() % 20'000
                               : kind < 20 ? 0
                                           : rng() % 60;
    std::string line(length, static_cast<char>('a' + i % 26));
    if (kind < 20 && kind >= 15) line = " \t\r";
    if (!line.empty() && kind != 15) line.back() = kind % 2 == 0 ? '\r' : line.back();
    text += line;
    if (std::any_of(line.begin(), line.end(), [](char c) { return !is_blank(c); }))
      expected.push_back({line, i + 1});
    if (ends || i + 1 < lines) text += '\n';
  }
  return text;
}

TEST(FileLines, AreTheSameFromBothEnds) {
  std::mt19937_64 rng(1);
  for (std::size_t run = 0; run < 8; ++run) {
    std::vector<NumberedLine> expected;
    const auto source = text_in_memory("text", random_text(rng, 300, run % 2 == 0, expected));
    FileLines forward(*source);
    for (const auto& [text, number] : expected) {
      ASSERT_TRUE(forward.next());
      ASSERT_EQ(forward.line(), text);
      ASSERT_EQ(forward.number(), number);
      ASSERT_EQ(*forward.line().end(), '\n');
    }
    EXPECT_FALSE(forward.next());
    EXPECT_FALSE(forward.next());

    FileLinesFromEnd backward(*source);
    for (std::size_t i = expected.size(); i-- > 0;) {
      ASSERT_TRUE(backward.next());
      ASSERT_EQ(backward.line(), expected[i].text);
      ASSERT_EQ(*backward.line().end(), '\n');
    }
    EXPECT_FALSE(backward.next());
    EXPECT_FALSE(backward.next());
  }
}

TEST(FileLines, EmptyOrBlankTextHasNoLines) {
  for (const std::string text : {"", "\n", "\n\n \t\r\n", "  "}) {
    const auto source = text_in_memory("text", text);
    EXPECT_FALSE(FileLines(*source).next());
    EXPECT_FALSE(FileLinesFromEnd(*source).next());
  }
}

TEST(FileLines, SplitLinesIntoWords) {
  const auto source = text_in_memory("text", " one\ttwo \r\nthree");
  FileLines lines(*source);
  ASSERT_TRUE(lines.next());
  EXPECT_EQ(lines.words(), (std::vector<std::string_view>{"one", "two"}));
  ASSERT_TRUE(lines.next());
  EXPECT_EQ(lines.words(), (std::vector<std::string_view>{"three"}));
}

std::uint64_t line_digest(const std::string& text) {
  const auto source = text_in_memory("text", text);
  FileLines lines(*source);
  while (lines.next()) {
  }
  return lines.digest();
}

TEST(FileLines, DigestDependsOnEveryByte) {
  std::string text(1000, 'x');
  const std::uint64_t digest = line_digest(text);
  EXPECT_EQ(line_digest(text), digest);
  for (char& c : text) {
    c = 'y';
    EXPECT_NE(line_digest(text), digest);
    c = 'x';
  }
  EXPECT_NE(line_digest(text + std::string(1, '\0')), digest);
}

}  // namespace
}  // namespace tinyot
