// The text of each check in checks/mutations/ occurs once in its file; tests/mutation/run disables
// it there.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>

#include "tests/architecture/source_tree.h"

namespace tinyot::test {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = TINYOT_SOURCE_DIR;

// Blanks do not count, since the formatter may change them.
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

// Returns the number of texts checked.
std::size_t expect_texts_occur_once(const fs::path& list) {
  std::string name, file, wanted;
  std::size_t lines = 0;
  bool reads_line = false;
  for (const std::string& line : lines_of(text_of(list))) {
    const bool continues = reads_line && !line.starts_with("off   ");
    if (reads_line && !continues) {
      EXPECT_EQ(occurrences(text_of(kRoot / file), wanted), 1u)
          << name << ": does not occur once in " << file << ":\n"
          << wanted;
      ++lines, reads_line = false;
    }
    if (continues)
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

TEST(Mutations, TextOccursOnceInFile) {
  std::size_t lines = 0;
  for (const auto& entry : fs::directory_iterator(kRoot / "checks" / "mutations"))
    lines += expect_texts_occur_once(entry.path());
  EXPECT_GT(lines, 60u);
}

}  // namespace
}  // namespace tinyot::test
