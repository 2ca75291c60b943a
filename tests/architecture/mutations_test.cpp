// Each check of checks/mutations/ is where the list says; tests/mutation/run switches it off there.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>

#include "tests/architecture/source_tree.h"

namespace tinyot::test {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = TINYOT_SOURCE_DIR;

// Line breaks and indentation are the formatter's, so that they do not count.
std::string without_blanks(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isspace(c) != 0; });
  return text;
}

std::size_t occurrences(std::string text, std::string wanted) {
  text = without_blanks(std::move(text));
  wanted = without_blanks(std::move(wanted));
  std::size_t count = 0;
  for (auto at = text.find(wanted); at != std::string::npos; at = text.find(wanted, at + 1))
    ++count;
  return count;
}

// How many lines of the list have been looked up.
std::size_t expect_lines_stand_once(const fs::path& list) {
  std::string name, file, wanted;
  std::size_t lines = 0;
  bool reads_line = false;
  for (const std::string& line : lines_of(text_of(list))) {
    const bool goes_on = reads_line && !line.starts_with("off   ");
    if (reads_line && !goes_on) {
      EXPECT_EQ(occurrences(text_of(kRoot / file), wanted), 1u)
          << name << ": " << file << " has not once:\n"
          << wanted;
      ++lines, reads_line = false;
    }
    if (goes_on)
      wanted += "\n" + line;
    else if (line.starts_with("["))
      name = line;
    else if (line.starts_with("in    "))
      file = line.substr(6);
    else if (line.starts_with("line  "))
      wanted = line.substr(6), reads_line = true;
  }
  return lines;
}

TEST(Mutations, AreOfTextThatStandsOnceInItsFile) {
  std::size_t lines = 0;
  for (const auto& entry : fs::directory_iterator(kRoot / "checks" / "mutations"))
    lines += expect_lines_stand_once(entry.path());
  EXPECT_GT(lines, 60u);
}

}  // namespace
}  // namespace tinyot::test
