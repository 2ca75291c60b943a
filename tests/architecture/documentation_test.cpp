// The documents name tests that exist.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>

#include "tests/architecture/source_tree.h"
#include "tests/support/files.h"

namespace tinyot::test {
namespace {

namespace fs = std::filesystem;

// All tests, as Suite.Test.
std::set<std::string> existing_tests() {
  static const std::regex kTest(R"(\nTEST(?:_F|_P)?\((\w+), (\w+)\))");
  std::set<std::string> names;
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(TINYOT_SOURCE_DIR) / "tests")) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string text = read_file(entry.path());
    for (std::sregex_iterator match(text.begin(), text.end(), kTest), end; match != end; ++match)
      names.insert((*match)[1].str() + "." + (*match)[2].str());
  }
  return names;
}

TEST(Documentation, NamesExistingTests) {
  static const std::regex kName(R"(`([A-Z]\w+\.[A-Z]\w+)`)");
  const std::set<std::string> tests = existing_tests();
  ASSERT_GT(tests.size(), 500u) << "the tests are not found";
  std::size_t named = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(TINYOT_SOURCE_DIR) / "doc")) {
    if (!entry.is_regular_file()) continue;
    const std::string text = read_file(entry.path());
    for (std::sregex_iterator match(text.begin(), text.end(), kName), end; match != end;
         ++match, ++named)
      EXPECT_TRUE(tests.contains((*match)[1].str()))
          << entry.path().filename() << " names " << (*match)[1].str();
  }
  EXPECT_GT(named, 50u);
}

// A path may omit the file extension.
bool exists(const std::string& path) {
  const fs::path root = TINYOT_SOURCE_DIR;
  for (const char* ending : {"", ".h", ".cpp"})
    if (fs::exists(root / (path + ending))) return true;
  return false;
}

TEST(Documentation, NamesExistingFiles) {
  static const std::regex kPath(
      "`((?:base|crypto|net|checks|offline|storage|circuitgen|online|engine|include|tools|tests|"
      "examples|packaging|python)/[A-Za-z0-9_/.]+)`");
  // Folders reserved for later.
  static const std::set<std::string> kPlanned = {"offline/silent/", "online/garbled/"};
  std::size_t named = 0;
  for (const char* folder : {"", "doc", "storage"}) {
    for (const auto& entry : fs::directory_iterator(fs::path(TINYOT_SOURCE_DIR) / folder)) {
      if (entry.path().extension() != ".md") continue;
      const std::string text = read_file(entry.path());
      for (std::sregex_iterator match(text.begin(), text.end(), kPath), end; match != end;
           ++match, ++named)
        EXPECT_TRUE(exists((*match)[1].str()) || kPlanned.contains((*match)[1].str()))
            << entry.path().filename() << " names " << (*match)[1].str();
    }
  }
  EXPECT_GT(named, 100u);
}

}  // namespace
}  // namespace tinyot::test
