// What the documents name exists: tests, files, functions, options, and the places that they link
// to.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "net/handshake.h"
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

// README and other documents of the root, those of doc/ and of the store.
std::vector<fs::path> documents() {
  std::vector<fs::path> all;
  const fs::path root = TINYOT_SOURCE_DIR;
  for (const char* folder : {"", "doc", "doc/decisions", "storage"})
    for (const auto& entry : fs::directory_iterator(root / folder))
      if (entry.path().extension() == ".md") all.push_back(entry.path());
  return all;
}

// Calls use(match, document) for all matches in a document; returns their number.
template <class Use>
std::size_t for_each_match(const std::regex& expression, const Use& use) {
  std::size_t seen = 0;
  for (const fs::path& document : documents()) {
    const std::string text = read_file(document);
    for (std::sregex_iterator match(text.begin(), text.end(), expression), end; match != end;
         ++match, ++seen)
      use(*match, document);
  }
  return seen;
}

TEST(Documentation, NamesExistingTests) {
  static const std::regex kName(R"(`([A-Z]\w+\.[A-Z]\w+)`)");
  const std::set<std::string> tests = existing_tests();
  ASSERT_GT(tests.size(), 500u) << "the tests are not found";
  const std::size_t named = for_each_match(kName, [&](const auto& match, const fs::path& document) {
    EXPECT_TRUE(tests.contains(match[1].str()))
        << document.filename() << " names " << match[1].str();
  });
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
      "`((?:base|crypto|system|net|checks|material|offline|storage|circuitgen|online|engine|"
      "service|"
      "include|tools|tests|examples|packaging|python)/[A-Za-z0-9_/.]+)`");
  const std::size_t named = for_each_match(kPath, [](const auto& match, const fs::path& document) {
    EXPECT_TRUE(exists(match[1].str())) << document.filename() << " names " << match[1].str();
  });
  EXPECT_GT(named, 100u);
}

TEST(Documentation, TableOfDisabledChecksNamesExistingFiles) {
  static const std::regex kRow(R"(\n\| [^|]+ \| ([a-z]\w*/[\w/.]+) \| [^|]+ \|)");
  const std::string text = read_file(fs::path(TINYOT_SOURCE_DIR) / "doc/mutations.md");
  std::size_t rows = 0;
  for (std::sregex_iterator match(text.begin(), text.end(), kRow), end; match != end;
       ++match, ++rows)
    EXPECT_TRUE(fs::exists(fs::path(TINYOT_SOURCE_DIR) / (*match)[1].str())) << (*match)[1].str();
  EXPECT_GT(rows, 100u);
}

// The one of the sources, where it stands as a number.
TEST(Documentation, NamesTheWireVersion) {
  const fs::path root = TINYOT_SOURCE_DIR;
  const std::string version = std::to_string(net::kWireVersion);
  for (const auto& [document, text] :
       {std::pair("doc/protocol.md", "wire version (" + version + ")"),
        std::pair("CHANGELOG.md", "Wire version " + version + ",")})
    EXPECT_NE(read_file(root / document).find(text), std::string::npos)
        << document << " does not have: " << text;
}

// The anchor of a heading: lower case, without punctuation, with a hyphen for each space.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const unsigned char c : heading) {
    if (c == ' ') anchor += '-';
    if (std::isalnum(c) != 0 || c == '-' || c == '_' || c >= 0x80)
      anchor += static_cast<char>(std::tolower(c));
  }
  return anchor;
}

std::set<std::string> anchors_of(const fs::path& document) {
  static const std::regex kHeading("\n#+ ([^\n]+)");
  const std::string text = "\n" + read_file(document);
  std::set<std::string> anchors;
  for (std::sregex_iterator match(text.begin(), text.end(), kHeading), end; match != end; ++match)
    anchors.insert(anchor_of((*match)[1].str()));
  return anchors;
}

TEST(Documentation, LinksLeadSomewhere) {
  static const std::regex kLink(R"(\]\(([^)#\s:]*)(?:#([^)\s]+))?\))");
  const std::size_t links = for_each_match(kLink, [](const auto& match, const fs::path& document) {
    const fs::path target =
        match[1].length() == 0 ? document : document.parent_path() / match[1].str();
    ASSERT_TRUE(fs::exists(target)) << document.filename() << " links to " << match.str();
    EXPECT_TRUE(!match[2].matched || anchors_of(target).contains(match[2].str()))
        << document.filename() << " links to " << match.str();
  });
  EXPECT_GT(links, 50u);
}

// A longer one is a list, or a paragraph.
TEST(Documentation, RowsOfTablesAreShort) {
  constexpr std::size_t kRowMax = 400;
  std::size_t rows = 0;
  for (const fs::path& document : documents()) {
    std::istringstream lines(read_file(document));
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with('|')) continue;
      ++rows;
      EXPECT_LE(line.size(), kRowMax) << document.filename() << ": " << line;
    }
  }
  EXPECT_GT(rows, 500u);
}

// The names of all options of the command: declared as option("name", ...).
std::set<std::string> existing_options() {
  static const std::regex kOption(
      R"((?:value|values|flag|multi_value|alias)\(\s*"([a-z][a-z0-9-]*)\")");
  std::set<std::string> names = {"help", "help-all", "version"};
  for (const SourceFile& file : product_files()) {
    if (file.folder != "tools" || !file.is_code()) continue;
    std::string text;
    for (const std::string& line : file.lines) text += line + "\n";
    for (std::sregex_iterator match(text.begin(), text.end(), kOption), end; match != end; ++match)
      names.insert((*match)[1].str());
  }
  return names;
}

TEST(Documentation, NamesExistingOptions) {
  static const std::regex kOption(R"([ `(]--([a-z][a-z0-9-]+))");
  // Of CMake, CTest, Git, GoogleTest, Google Benchmark, buildah, journalctl, pkg-config, systemctl
  // and jq; and of the project's fuzzers, of tests/mutation/run and of packaging/release.
  static const std::set<std::string> kOthers = {
      "build",  "test-dir", "install",      "preset",   "target", "gtest",     "benchmark",
      "file",   "follow",   "now",          "tag",      "output", "raw-input", "random",
      "python", "seconds",  "new",          "write",    "prefix", "cflags",    "libs",
      "static", "module",   "list-objects", "list-all", "green",  "dry-run"};
  const std::set<std::string> options = existing_options();
  ASSERT_GT(options.size(), 80u) << "the options are not found";
  const std::size_t named = for_each_match(kOption, [&](const auto& match, const fs::path& where) {
    EXPECT_TRUE(options.contains(match[1].str()) || kOthers.contains(match[1].str()))
        << where.filename() << " names --" << match[1].str();
  });
  EXPECT_GT(named, 200u);
}

// The identifiers of the code, those of tests and of Python included.
std::set<std::string> existing_identifiers() {
  static const std::regex kIdentifier(R"([A-Za-z_]\w+)");
  std::set<std::string> names;
  for (const char* folder :
       {"base", "bench", "checks", "circuitgen", "crypto", "engine", "examples", "include",
        "material", "net", "offline", "online", "pkcs11", "python", "service", "storage", "system",
        "tests", "tools"}) {
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(TINYOT_SOURCE_DIR) / folder)) {
      const std::string ending = entry.path().extension();
      if (ending != ".h" && ending != ".cpp" && ending != ".py" && ending != ".proto") continue;
      const std::string text = read_file(entry.path());
      for (std::sregex_iterator match(text.begin(), text.end(), kIdentifier), end; match != end;
           ++match)
        names.insert(match->str());
    }
  }
  return names;
}

TEST(Documentation, NamesExistingFunctions) {
  static const std::regex kFunction(R"(`(?:\w+(?:::|\.))*(\w+)\(\)`|`(?:\w+::)+(\w+)`)");
  const std::set<std::string> identifiers = existing_identifiers();
  const std::size_t named =
      for_each_match(kFunction, [&](const auto& match, const fs::path& where) {
        const std::string name = match[1].matched ? match[1].str() : match[2].str();
        EXPECT_TRUE(identifiers.contains(name)) << where.filename() << " names " << match.str();
      });
  EXPECT_GT(named, 20u);
}

}  // namespace
}  // namespace tinyot::test
