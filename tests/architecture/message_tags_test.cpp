// Message tags are unique over all protocols and are all listed in doc/protocol.md.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include "tests/architecture/source_tree.h"

namespace tinyot::test {
namespace {

struct Tag {
  std::string id, name, file;
};

// Declarations; one line may have several: MessageTag kFirst{0x2001, "and.fgdh"}.
std::vector<Tag> declared_tags() {
  static const std::regex kTag(R"re(\bk\w+\{(0x[0-9A-Fa-f]{4}), "([^"]+)"\})re");
  std::vector<Tag> tags;
  for (const SourceFile& file : product_files()) {
    if (!file.is_code()) continue;
    for (const std::string& line : file.lines) {
      if (line.find("MessageTag") == std::string::npos) continue;
      for (std::sregex_iterator match(line.begin(), line.end(), kTag), end; match != end; ++match)
        tags.push_back({(*match)[1].str(), (*match)[2].str(), file.path});
    }
  }
  return tags;
}

std::map<std::string, std::string> documented_tags() {
  static const std::regex kRow(R"re(^\| (0x[0-9A-Fa-f]{4}) \| `([^`]+)` \|.*)re");
  std::map<std::string, std::string> tags;
  const std::string text =
      text_of(std::filesystem::path(TINYOT_SOURCE_DIR) / "doc" / "protocol.md");
  for (const std::string& line : lines_of(text)) {
    std::smatch match;
    if (!std::regex_match(line, match, kRow)) continue;
    EXPECT_TRUE(tags.emplace(match[1].str(), match[2].str()).second)
        << match[1].str() << " is documented twice";
  }
  return tags;
}

TEST(MessageTags, AreUnique) {
  std::set<std::string> ids, names;
  for (const Tag& tag : declared_tags()) {
    EXPECT_TRUE(ids.insert(tag.id).second) << tag.id << " again in " << tag.file;
    EXPECT_TRUE(names.insert(tag.name).second) << tag.name << " again in " << tag.file;
  }
  EXPECT_GT(ids.size(), 45u) << "the declarations are not found";
}

TEST(MessageTags, AreThoseOfTheProtocol) {
  auto documented = documented_tags();
  for (const Tag& tag : declared_tags()) {
    if (tag.name.starts_with("bench.")) continue;
    const auto row = documented.find(tag.id);
    ASSERT_NE(row, documented.end()) << tag.name << " of " << tag.file << " is not documented";
    EXPECT_EQ(row->second, tag.name);
    documented.erase(row);
  }
  for (const auto& [id, name] : documented) ADD_FAILURE() << id << " " << name << " does not exist";
}

}  // namespace
}  // namespace tinyot::test
