// Rules on the text of the sources: forbidden calls, length of files and lines, beginning of
// headers.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/architecture/source_tree.h"

namespace tinyot::test {
namespace {

constexpr std::size_t kLinesMax = 400, kColumnsMax = 100;

using Words = std::vector<std::string>;

// assert is disabled in a release build; rand is neither secret nor reproducible.
const Words kNowhere = {"assert", "rand", "srand"};
// Not constant time, so not allowed where operands may be secret.
const Words kNotWhereSecretsAre = {"memcmp", "strcmp", "strncmp"};
const std::set<std::string> kSecretFolders = {"checks", "offline", "online"};

// The first of `words` that is called in a line of code, or nothing.
std::string forbidden_call(const std::string& code, const Words& words) {
  for (const std::string& word : words)
    if (calls(code, word)) return word;
  return {};
}

// Concatenated, so that a search for them does not find this file.
bool has_left_over(const std::string& line) {
  return line.find(std::string("TO") + "DO") != std::string::npos ||
         line.find(std::string("FIX") + "ME") != std::string::npos;
}

// Whether a line has an absolute path of the developer's machine.
bool has_private_path(const std::string& line) {
  for (const char* name : {"work", "root"}) {
    const std::string wanted = std::string("/") + name + "/";
    for (auto at = line.find(wanted); at != std::string::npos; at = line.find(wanted, at + 1)) {
      const char before = at == 0 ? ' ' : line[at - 1];
      if (!std::isalnum(static_cast<unsigned char>(before)) && before != '.' && before != '_' &&
          before != '}')
        return true;
    }
  }
  return false;
}

TEST(SourceRules, NoForbiddenCalls) {
  for (const SourceFile& file : product_files()) {
    if (!file.is_code()) continue;
    const auto code = code_lines(file.lines);
    for (std::size_t i = 0; i < code.size(); ++i) {
      EXPECT_EQ(forbidden_call(code[i], kNowhere), "") << file.path << ":" << i + 1;
      if (kSecretFolders.contains(file.folder)) {
        EXPECT_EQ(forbidden_call(code[i], kNotWhereSecretsAre), "") << file.path << ":" << i + 1;
      }
    }
  }
}

// What only the commands may do: write to the terminal and handle signals.
TEST(SourceRules, OnlyToolsWritesToTheTerminalAndHandlesSignals) {
  for (const SourceFile& file : product_files()) {
    if (!file.is_code() || file.folder == "tools") continue;
    const auto code = code_lines(file.lines);
    for (std::size_t i = 0; i < code.size(); ++i)
      for (const char* word :
           {"std::cerr", "std::cout", "std::clog", "stderr", "sigaction", "sigset"})
        EXPECT_EQ(code[i].find(word), std::string::npos) << file.path << ":" << i + 1;
  }
}

TEST(SourceRules, HaveNoLeftOversOrPrivatePaths) {
  for (const SourceFile& file : product_files()) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      EXPECT_FALSE(has_left_over(file.lines[i]))
          << file.path << ":" << i + 1 << ": " << file.lines[i];
      EXPECT_FALSE(has_private_path(file.lines[i]))
          << file.path << ":" << i + 1 << ": " << file.lines[i];
    }
  }
}

TEST(SourceRules, FilesAreShort) {
  for (const SourceFile& file : product_files())
    EXPECT_LE(file.lines.size(), kLinesMax) << file.path;
}

TEST(SourceRules, LinesOfCodeAreShort) {
  for (const SourceFile& file : product_files()) {
    if (!file.is_code()) continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i)
      EXPECT_LE(file.lines[i].size(), kColumnsMax) << file.path << ":" << i + 1;
  }
}

TEST(SourceRules, HeadersBeginWithCommentAndPragmaOnce) {
  std::size_t headers = 0;
  for (const SourceFile& file : product_files()) {
    if (!file.is_header()) continue;
    ++headers;
    ASSERT_FALSE(file.lines.empty()) << file.path;
    EXPECT_TRUE(file.lines[0].starts_with("// ")) << file.path << " begins with: " << file.lines[0];
    EXPECT_EQ(std::count(file.lines.begin(), file.lines.end(), "#pragma once"), 1) << file.path;
  }
  EXPECT_GT(headers, 30u) << "the test reads no headers";
}

TEST(SourceRules, FindCallsInCodeOnly) {
  EXPECT_TRUE(calls("  assert(x);", "assert"));
  EXPECT_TRUE(calls("return std::rand ();", "rand"));
  EXPECT_TRUE(calls("static_assert(y); assert(x);", "assert"));
  EXPECT_FALSE(calls("static_assert(sizeof x == 8);", "assert"));
  EXPECT_FALSE(calls("operand(x);", "rand"));
  EXPECT_FALSE(calls("rand_x(1); rand", "rand"));
  const auto code = code_lines({"f(\"assert(x) \\\" // no\"); g();  // rand()", "/* memcmp(a, b)",
                                "strcmp() */ memcmp(a, b);", "n = 1'000; assert(n == '\\'');"});
  ASSERT_EQ(code.size(), 4u);
  EXPECT_EQ(forbidden_call(code[0], {"assert", "rand"}), "");
  EXPECT_TRUE(calls(code[0], "g"));
  EXPECT_FALSE(calls(code[1], "memcmp"));
  EXPECT_FALSE(calls(code[2], "strcmp"));
  EXPECT_TRUE(calls(code[2], "memcmp"));
  EXPECT_TRUE(calls(code[3], "assert"));
}

TEST(SourceRules, FindLeftOversAndPrivatePaths) {
  EXPECT_TRUE(has_left_over(std::string("  // TO") + "DO: later"));
  EXPECT_FALSE(has_left_over("  // to do it later"));
  EXPECT_TRUE(has_private_path(std::string("open(\"/wo") + "rk/x\")"));
  EXPECT_TRUE(has_private_path(std::string("/ro") + "ot/x"));
  EXPECT_FALSE(has_private_path(std::string("${DIR}/wo") + "rk/x"));
  EXPECT_FALSE(has_private_path(std::string("net/wo") + "rk/x"));
}

}  // namespace
}  // namespace tinyot::test
