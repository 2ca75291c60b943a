// Each check of checks/mutations/ is where the list says; tests/mutation/run switches it off there.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/architecture/source_tree.h"

namespace tinyot::test {
namespace {

std::string source_of(const std::string& path) {
  std::ifstream file(std::filesystem::path(TINYOT_SOURCE_DIR) / path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t occurrences(const std::string& text, const std::string& wanted) {
  std::size_t count = 0;
  for (auto at = text.find(wanted); at != std::string::npos; at = text.find(wanted, at + 1)) ++count;
  return count;
}

// How many lines of the list have been looked up.
std::size_t expect_lines_stand_once(const std::string& list) {
  std::string name, file, wanted;
  std::size_t lines = 0;
  bool reads_line = false;
  for (const std::string& line : lines_of(source_of(list))) {
    const bool goes_on = reads_line && line.size() > 5 && line.compare(0, 6, "off   ") != 0;
    if (reads_line && !goes_on) {
      EXPECT_EQ(occurrences(source_of(file), wanted), 1u) << name << ": " << file << " has not once:\n" << wanted;
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
  for (const char* kind : {"checks", "network", "offline", "stores"}) lines += expect_lines_stand_once(std::string("checks/mutations/") + kind + ".txt");
  EXPECT_GT(lines, 60u);
}

}  // namespace
}  // namespace tinyot::test
