// Rules on the text of the sources: forbidden calls, length of files and lines, beginning of
// headers.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "tests/architecture/source_tree.h"
#include "tests/support/files.h"

namespace tinyot::test {
namespace {

constexpr std::size_t kColumnsMax = 100;

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

// Concatenated, so that a search for them does not find this file. The last two are of merges.
bool has_left_over(const std::string& line) {
  return line.find(std::string("TO") + "DO") != std::string::npos ||
         line.find(std::string("FIX") + "ME") != std::string::npos ||
         line.starts_with(std::string(7, '<') + ' ') || line.starts_with(std::string(7, '>') + ' ');
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

// The subcommands of `tinyot`, from their table.
std::set<std::string> subcommands() {
  static const std::regex kEntry(R"re(\{"(\w+)",\s*"[^"]*",)re");
  const std::string text =
      read_file(std::filesystem::path(TINYOT_SOURCE_DIR) / "tools" / "cli" / "subcommands.cpp");
  std::set<std::string> names;
  for (std::sregex_iterator match(text.begin(), text.end(), kEntry), end; match != end; ++match)
    names.insert((*match)[1].str());
  return names;
}

// The command-line option or subcommand that a text names, or nothing.
std::string named_on_command_line(const std::string& text) {
  static const std::regex kOption("--[A-Za-z][a-z-]*"), kCommand("tinyot ([a-z]+)");
  static const std::set<std::string> kSubcommands = subcommands();
  std::smatch match;
  if (std::regex_search(text, match, kOption)) return match.str();
  for (std::sregex_iterator at(text.begin(), text.end(), kCommand), end; at != end; ++at)
    if (kSubcommands.contains((*at)[1].str())) return at->str();
  return {};
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
    if (file.path == "system/process.cpp") continue;  // of a child that has not begun
    const auto code = code_lines(file.lines);
    for (std::size_t i = 0; i < code.size(); ++i)
      for (const char* word :
           {"std::cerr", "std::cout", "std::clog", "stderr", "sigaction", "sigset"})
        EXPECT_EQ(code[i].find(word), std::string::npos) << file.path << ":" << i + 1;
  }
}

// A search of its memory does not tell: chance may overwrite what OpenSSL leaves.
TEST(SourceRules, CommandWipesWhatOpensslFrees) {
  std::size_t calls = 0;
  for (const SourceFile& file : product_files())
    for (const std::string& line : code_lines(file.lines))
      calls += file.path == "tools/cli/main.cpp" &&
               line.find("crypto::wipe_what_openssl_frees();") != std::string::npos;
  EXPECT_EQ(calls, 1u);
}

// Other programs embed the layers below: a message has a Remedy, and tools/ words it.
TEST(SourceRules, OnlyToolsNamesOptionsSubcommandsAndExitStatuses) {
  std::size_t literals = 0;
  for (const SourceFile& file : product_files()) {
    if (!file.is_code() || file.folder == "tools") continue;
    if (file.path == "system/confinement.cpp") continue;  // options of bubblewrap
    for (std::size_t i = 0; i < file.lines.size(); ++i)
      EXPECT_EQ(file.lines[i].find("ExitStatus"), std::string::npos) << file.path << ":" << i + 1;
    for (const Literal& literal : string_literals(file.lines)) {
      ++literals;
      if (literal.text == "tinyot key check") continue;  // is hashed: doc/custody.md
      EXPECT_EQ(named_on_command_line(literal.text), "") << file.path << ":" << literal.line;
    }
  }
  EXPECT_GT(literals, 500u) << "the test finds no literals";
}

// A command's results are typed up to where they leave.
TEST(SourceRules, JsonIsNamedWhereItLeavesOrIsReadOnly) {
  static const std::regex kJson(R"(\bJson\b|\bnlohmann\b)");
  const std::vector<std::string> places = {"tools/cli/render/",      "tools/bench/",
                                           "tools/selftest/render/", "circuitgen/formats/verilog/",
                                           "service/event_log.",     "service/key_audit."};
  std::size_t names = 0;
  for (const SourceFile& file : product_files()) {
    if (!file.is_code()) continue;
    const auto code = code_lines(file.lines);
    for (std::size_t i = 0; i < code.size(); ++i) {
      const std::string line = std::regex_replace(code[i], std::regex("Format::Json"), "");
      if (!std::regex_search(line, kJson) || line.find("enum class Format") != std::string::npos)
        continue;
      ++names;
      EXPECT_TRUE(std::ranges::any_of(
          places, [&](const std::string& place) { return file.path.starts_with(place); }))
          << file.path << ":" << i + 1 << ": " << code[i];
    }
  }
  EXPECT_GT(names, 50u) << "the test reads no sources";
}

TEST(SourceRules, FindOptionsAndSubcommandsInLiteralsOnly) {
  const auto literals = string_literals(
      {"#include \"a.h\"", "f(\"give it with --store-\"  // --key", "  \"key @FILE\", '\"', x);",
       "--i; // \"--sigma\"", "g(\"see \\\"tinyot \" /* \"no\" */ \"store info\\\"\");"});
  ASSERT_EQ(literals.size(), 3u);
  EXPECT_EQ(literals[0].text, "a.h");
  EXPECT_EQ(literals[1].text, "give it with --store-key @FILE");
  EXPECT_EQ(literals[1].line, 3u);
  EXPECT_EQ(literals[2].text, "see \\\"tinyot store info\\\"");
  EXPECT_EQ(named_on_command_line(literals[1].text), "--store-key");
  EXPECT_EQ(named_on_command_line(literals[2].text), "tinyot store");
  EXPECT_EQ(named_on_command_line("make a key with tinyot keygen"), "tinyot keygen");
  EXPECT_EQ(named_on_command_line("the tinyot protocol -- a-b --"), "");
  EXPECT_GE(subcommands().size(), 10u);
  // The rule finds what tools/ has.
  std::size_t found = 0;
  for (const SourceFile& file : product_files())
    if (file.path == "tools/cli/failure.cpp")
      for (const Literal& literal : string_literals(file.lines))
        found += named_on_command_line(literal.text).empty() ? 0 : 1;
  EXPECT_GT(found, 10u);
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

// The type that a line at the top level begins to define, or defines as a whole.
std::string defined_type(const std::string& line) {
  static const std::regex kDefinition(
      R"(^(class|struct|enum class) (alignas\(\d+\) )?(\w+)( final)?( :[^:].*)?( \{.*)?$)");
  std::smatch found;
  const bool is_declaration = line.ends_with(";") && line.find('{') == std::string::npos;
  return !is_declaration && std::regex_match(line, found, kDefinition) ? found[3] : std::string();
}

TEST(SourceRules, FindTypesOfOneLine) {
  EXPECT_EQ(defined_type("enum class Colour { Red, Blue };"), "Colour");
  EXPECT_EQ(defined_type("struct Empty {};"), "Empty");
  EXPECT_EQ(defined_type("class Long final : public Base {"), "Long");
  EXPECT_EQ(defined_type("enum class Kind : std::uint8_t { A = 0 };"), "Kind");
  EXPECT_EQ(defined_type("class Declared;"), "");
  EXPECT_EQ(defined_type("enum class Declared : int;"), "");
}

// A type that two layers need stands in the lower one; two types of one name are different things
// that a reader takes for the same.
TEST(SourceRules, NoClassNameStandsInTwoLayers) {
  std::map<std::string, std::set<std::string>> folders;
  for (const SourceFile& file : product_files()) {
    if (!file.is_header()) continue;
    for (const std::string& line : code_lines(file.lines)) {
      if (const std::string name = defined_type(line); !name.empty())
        folders[name].insert(file.folder);
    }
  }
  EXPECT_GT(folders.size(), 300u) << "the test finds no classes";
  for (const auto& [name, layers] : folders)
    EXPECT_EQ(layers.size(), 1u) << name << " stands in " << *layers.begin() << " and in "
                                 << *layers.rbegin();
}

// What distinguishes a profile stands in its entry, so that a further one changes no other layer.
// The benches and the cheating peer choose between profiles.
TEST(SourceRules, OnlyEntriesNameTheirProfile) {
  static const std::regex kProfile(R"(Profile::(Nnob12|Fast|Wan)\b)");
  std::size_t named = 0;
  for (const SourceFile& file : product_files()) {
    if (!file.is_code() || file.folder == "include" || file.folder == "tools") continue;
    const bool is_entry = file.path.ends_with("_profile.cpp");
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      if (!std::regex_search(file.lines[i], kProfile)) continue;
      named += is_entry;
      EXPECT_TRUE(is_entry) << file.path << ":" << i + 1;
    }
  }
  EXPECT_EQ(named, 3u);
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
  EXPECT_TRUE(has_left_over(std::string(7, '<') + " one"));
  EXPECT_TRUE(has_left_over(std::string(7, '>') + " other"));
  EXPECT_FALSE(has_left_over("  // to do it later"));
  EXPECT_TRUE(has_private_path(std::string("open(\"/wo") + "rk/x\")"));
  EXPECT_TRUE(has_private_path(std::string("/ro") + "ot/x"));
  EXPECT_FALSE(has_private_path(std::string("${DIR}/wo") + "rk/x"));
  EXPECT_FALSE(has_private_path(std::string("net/wo") + "rk/x"));
}

}  // namespace
}  // namespace tinyot::test
