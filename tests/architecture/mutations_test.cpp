// The text of each check in checks/mutations/ occurs once in its file; tests/mutation/run disables
// it there.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>
#include <set>
#include <string>

#include "tests/architecture/source_tree.h"
#include "tests/support/files.h"

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
  for (const std::string& line : lines_of(read_file(list))) {
    const bool continues = reads_line && !line.starts_with("off   ");
    if (reads_line && !continues) {
      EXPECT_EQ(occurrences(read_file(kRoot / file), wanted), 1u)
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

// Whoever adds a check runs it: `tests/mutation/run --new --write`.
TEST(Mutations, EachHasAResult) {
  std::vector<std::string> names, rows;
  for (const auto& entry : fs::directory_iterator(kRoot / "checks" / "mutations"))
    for (const std::string& line : lines_of(read_file(entry.path())))
      if (line.starts_with("[")) names.push_back(line.substr(1, line.size() - 2));
  for (const std::string& line : lines_of(read_file(kRoot / "doc" / "mutations.md")))
    if (line.starts_with("| ") && !line.starts_with("| disabled "))
      rows.push_back(line.substr(2, line.find(" | ") - 2));
  std::ranges::sort(names);
  std::ranges::sort(rows);
  EXPECT_EQ(rows, names);
}

// The names of all tests in a folder of tests, with placeholders for instances and parameters.
std::vector<std::string> tests_in(const fs::path& folder) {
  static const std::regex kTest(R"(\nTEST(_F|_P)?\((\w+),\s*(\w+)\))");
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string text = read_file(entry.path());
    for (std::sregex_iterator match(text.begin(), text.end(), kTest), end; match != end; ++match) {
      const std::string name = (*match)[2].str() + "." + (*match)[3].str();
      names.push_back((*match)[1].str() == "_P" ? "Instance/" + name + "/0" : name);
    }
  }
  return names;
}

// As GoogleTest's filters, with * as the only wildcard.
bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] == '*')
    return matches(pattern.substr(1), name) || (!name.empty() && matches(pattern, name.substr(1)));
  return !name.empty() && pattern[0] == name[0] && matches(pattern.substr(1), name.substr(1));
}

// If its filter selected no test, a change would count as undetected.
TEST(Mutations, FiltersSelectTests) {
  static const std::set<std::string> kOfService = {"custody_attack", "daemon", "job_faults", "kms"};
  std::size_t seen = 0;
  for (const auto& entry : fs::directory_iterator(kRoot / "checks" / "mutations")) {
    for (const std::string& line : lines_of(read_file(entry.path()))) {
      if (!line.starts_with("test  ")) continue;
      const auto blank = line.find(' ', 6);
      const std::string program = line.substr(6, blank - 6);
      std::string filter = blank == std::string::npos ? "*" : line.substr(blank + 1);
      // Executables of one folder: storage_test, store_flips_test; hygiene_test is in cli.
      std::string folder = program.substr(0, program.find("_test"));
      if (folder.starts_with("store_")) folder = "storage";
      if (kOfService.contains(folder)) folder = "service";
      if (folder == "verilog") folder = "circuitgen";
      if (folder == "pkcs11_daemons") folder = "pkcs11";
      if (folder == "confinement") folder = "system";
      if (!fs::exists(kRoot / "tests" / folder)) folder = "cli";
      const std::vector<std::string> tests = tests_in(kRoot / "tests" / folder);
      bool selects = false;
      for (std::size_t at = 0; at <= filter.size();) {
        const std::size_t end = std::min(filter.find(':', at), filter.size());
        const std::string pattern = filter.substr(at, end - at);
        selects |= std::ranges::any_of(
            tests, [&](const std::string& name) { return matches(pattern, name); });
        at = end + 1;
      }
      EXPECT_TRUE(selects) << program << " has no test " << filter;
      ++seen;
    }
  }
  EXPECT_GT(seen, 200u);
}

}  // namespace
}  // namespace tinyot::test
