// The registries of message tags, phases of RO and uses of H: each entry is used by the file that
// it names and by no other, the product has no entry outside them, and doc/protocol.md lists them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include "crypto/hash_uses.h"
#include "crypto/phases.h"
#include "net/message_tags.h"
#include "tests/architecture/source_tree.h"
#include "tests/support/files.h"

namespace tinyot::test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTags = "net/message_tags.h", kPhasesFile = "crypto/phases.h",
                           kUses = "crypto/hash_uses.h";

const std::vector<SourceFile>& code_files() {
  static const std::vector<SourceFile> files = [] {
    std::vector<SourceFile> code = product_files();
    std::erase_if(code, [](const SourceFile& file) { return !file.is_code(); });
    return code;
  }();
  return files;
}

std::string without_extension(const std::string& path) {
  return fs::path(path).replace_extension().generic_string();
}

// The first group of every match in the product's code, except in one file, with the files that
// have it, without their extensions.
std::multimap<std::string, std::string> matches_of(const std::regex& pattern,
                                                   std::string_view except) {
  std::multimap<std::string, std::string> found;
  for (const SourceFile& file : code_files()) {
    if (file.path == except) continue;
    for (const std::string& line : file.lines)
      for (std::sregex_iterator match(line.begin(), line.end(), pattern), end; match != end;
           ++match)
        found.emplace((*match)[1].str(), without_extension(file.path));
  }
  return found;
}

void expect_used_in(const std::multimap<std::string, std::string>& uses, std::string_view name,
                    std::string_view file) {
  const auto [begin, end] = uses.equal_range(std::string(name));
  EXPECT_NE(begin, end) << name << " is not used";
  for (auto use = begin; use != end; ++use)
    EXPECT_EQ(use->second, file) << name << " is used outside the file that the registry names";
}

std::string protocol_text() {
  return read_file(fs::path(TINYOT_SOURCE_DIR) / "doc" / "protocol.md");
}

// The names in backquotes in the first column of a table's rows, between two headings.
std::set<std::string> documented_names(std::string_view begin, std::string_view end) {
  static const std::regex kName("`([^`]+)`");
  const std::string text = protocol_text();
  const std::size_t from = text.find(begin);
  EXPECT_NE(from, std::string::npos) << begin;
  std::set<std::string> names;
  for (const std::string& line : lines_of(text.substr(from, text.find(end, from) - from))) {
    if (!line.starts_with("| `")) continue;
    const std::string column = line.substr(0, line.find('|', 1));
    for (std::sregex_iterator match(column.begin(), column.end(), kName), last; match != last;
         ++match)
      EXPECT_TRUE(names.insert((*match)[1].str()).second) << (*match)[1].str() << " twice";
  }
  return names;
}

TEST(Registries, MessageTagsAreUsedByTheirFilesAlone) {
  const auto uses = matches_of(std::regex(R"re(\bmessage_tag\("([^"]+)"\))re"), kTags);
  std::multimap<std::string, std::string> declared;
  // The cheating peer of the self-test names the messages that it alters.
  for (const auto& [name, file] : uses)
    if (!file.starts_with("tools/selftest/adversary/")) declared.emplace(name, file);
  for (const net::MessageTagEntry& entry : net::kMessageTags)
    expect_used_in(declared, entry.tag.name, entry.file);
}

// MessageTag kFirst{0x2001, "and.fgdh"}, MessageTag{...}, or a call with {0x2001, "and.fgdh"}.
TEST(Registries, NoMessageTagIsDeclaredOutside) {
  const auto declared = matches_of(
      std::regex(R"re((\bMessageTag(?: \w+)?\{|\{0x[0-9A-Fa-f]+, *"[a-z_]+\.))re"), kTags);
  for (const auto& [text, file] : declared) ADD_FAILURE() << text << " in " << file;
}

TEST(Registries, MessageTagsAreInOrderAndNotThoseOfTests) {
  EXPECT_TRUE(
      std::ranges::is_sorted(net::kMessageTags, {}, [](const auto& e) { return e.tag.id; }));
  for (const net::MessageTagEntry& entry : net::kMessageTags)
    EXPECT_TRUE(entry.tag.id < net::kForeignTagsBegin || entry.tag.id >= net::kForeignTagsEnd ||
                entry.tag.name.starts_with("bench."))
        << entry.tag.name;
}

TEST(Registries, MessageTagsAreThoseOfTheProtocol) {
  static const std::regex kRow(R"re(^\| (0x[0-9A-Fa-f]+) \| `?([a-z_.]+)`? \|.*)re");
  std::map<std::uint32_t, std::string> documented;
  for (const std::string& line : lines_of(protocol_text())) {
    std::smatch match;
    if (!std::regex_match(line, match, kRow)) continue;
    const auto id = static_cast<std::uint32_t>(std::stoul(match[1].str(), nullptr, 16));
    EXPECT_TRUE(documented.emplace(id, match[2].str()).second) << line << " is documented twice";
  }
  for (const net::MessageTagEntry& entry : net::kMessageTags) {
    if (entry.tag.name.starts_with("bench.")) continue;
    EXPECT_EQ(documented[entry.tag.id], entry.tag.name);
    documented.erase(entry.tag.id);
  }
  for (const auto& [id, name] : documented) ADD_FAILURE() << id << " " << name << " does not exist";
}

// That no phase is spelt outside the registry needs no test: such a literal does not compile.
TEST(Registries, PhasesAreUsedByTheirFilesAlone) {
  static const std::set<std::string> layers = {"crypto", "checks",  "offline", "online",
                                               "engine", "custody", "service"};
  std::multimap<std::string, std::string> literals;
  for (const SourceFile& file : code_files()) {
    if (file.path == kPhasesFile || !layers.contains(file.folder)) continue;
    for (const Literal& literal : string_literals(file.lines))
      literals.emplace(literal.text, without_extension(file.path));
  }
  for (const crypto::PhaseEntry& entry : crypto::kPhases) {
    const auto [begin, end] = literals.equal_range(std::string(entry.phase));
    EXPECT_TRUE(std::any_of(begin, end, [&](const auto& use) { return use.second == entry.file; }))
        << entry.phase << " is not used in " << entry.file;
    // Single words are names of other things too.
    if (entry.phase.find(' ') != std::string_view::npos)
      expect_used_in(literals, entry.phase, entry.file);
  }
}

TEST(Registries, PhasesOfTestsAreNotInTheProduct) {
  for (const auto& [name, file] : matches_of(std::regex("\\b(Phase::unregistered)"), kPhasesFile))
    ADD_FAILURE() << name << " in " << file;
}

TEST(Registries, PhasesAreThoseOfTheProtocol) {
  std::set<std::string> phases;
  for (const crypto::PhaseEntry& entry : crypto::kPhases) phases.emplace(entry.phase);
  EXPECT_EQ(phases, documented_names("### 2.1 Phases of RO", "### 2.2 Uses of H"));
}

TEST(Registries, UsesOfHAreThoseOfTheirFiles) {
  const auto uses = matches_of(std::regex(R"re(\bHashUse::(\w+))re"), kUses);
  std::set<std::string> known;
  for (const crypto::HashUseEntry& entry : crypto::kHashUses) {
    expect_used_in(uses, entry.name, entry.file);
    known.emplace(entry.name);
  }
  for (const auto& [name, file] : uses)
    EXPECT_TRUE(known.contains(name)) << name << " of " << file << " is not in kHashUses";
  const auto numbers = matches_of(std::regex("(static_cast<(?:crypto::)?HashUse>)"), kUses);
  for (const auto& [text, file] : numbers) ADD_FAILURE() << text << " in " << file;
}

TEST(Registries, UsesOfHAreThoseOfTheProtocol) {
  static const std::regex kRow(R"re(^\| (\d+) \| `(\w+)` \|.*)re");
  const std::string text = protocol_text();
  const std::size_t from = text.find("### 2.2 Uses of H");
  ASSERT_NE(from, std::string::npos);
  std::vector<std::pair<std::uint64_t, std::string>> documented, registered;
  for (const std::string& line : lines_of(text.substr(from, text.find("\n## ", from) - from))) {
    std::smatch match;
    if (std::regex_match(line, match, kRow))
      documented.emplace_back(std::stoull(match[1].str()), match[2].str());
  }
  for (const crypto::HashUseEntry& entry : crypto::kHashUses)
    registered.emplace_back(static_cast<std::uint64_t>(entry.use), entry.name);
  EXPECT_EQ(documented, registered);
}

}  // namespace
}  // namespace tinyot::test
