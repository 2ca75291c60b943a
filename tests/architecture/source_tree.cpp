#include "tests/architecture/source_tree.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <regex>
#include <stdexcept>

#include "tests/support/files.h"

namespace tinyot::test {
namespace {

namespace fs = std::filesystem;

bool is_word(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Replaces comments and literals by blanks, one character at a time; keeps newlines.
class CodeFilter {
 public:
  char next(char c, char following) {
    const char before = before_;
    before_ = c;
    if (c == '\n') {
      if (state_ == State::LineComment) state_ = State::Code;
      return c;
    }
    switch (state_) {
      case State::Code:
        return from_code(c, following, before);
      case State::LineComment:
        return ' ';
      case State::BlockComment:
        if (before == '*' && c == '/') state_ = State::Code;
        return ' ';
      case State::Literal:
        return from_literal(c);
    }
    return c;
  }

 private:
  enum class State { Code, LineComment, BlockComment, Literal };

  char from_code(char c, char following, char before) {
    if (c == '/' && (following == '/' || following == '*')) {
      state_ = following == '/' ? State::LineComment : State::BlockComment;
      before_ = ' ';
      return ' ';
    }
    // A quote after a digit is a digit separator.
    if (c == '"' || (c == '\'' && !is_word(before))) state_ = State::Literal, quote_ = c;
    return c;
  }

  char from_literal(char c) {
    if (escaped_) {
      escaped_ = false;
      return ' ';
    }
    if (c == '\\') escaped_ = true;
    if (c != quote_) return ' ';
    state_ = State::Code;
    return c;
  }

  State state_ = State::Code;
  char quote_ = '"', before_ = ' ';
  bool escaped_ = false;
};

// Raw strings that span lines are texts in another language.
void blank_texts_of_several_lines(std::string& text) {
  const std::string opening = "R\"(", closing = ")\"";
  for (std::size_t at = text.find(opening); at < text.size(); at = text.find(opening, at + 1)) {
    const std::size_t end = std::min(text.find(closing, at), text.size() - closing.size());
    const auto begin = text.begin() + static_cast<std::ptrdiff_t>(at),
               last = text.begin() + static_cast<std::ptrdiff_t>(end + closing.size());
    if (std::find(begin, last, '\n') == last) continue;
    std::replace_if(
        begin, last, [](char c) { return c != '\n'; }, ' ');
  }
}

}  // namespace

const std::vector<std::string>& product_folders() {
  static const std::vector<std::string> kFolders = {
      "include", "base",       "system", "material", "crypto",  "net",     "checks", "offline",
      "storage", "circuitgen", "online", "engine",   "custody", "service", "tools",  "python"};
  return kFolders;
}

std::vector<SourceFile> product_files() {
  std::vector<SourceFile> files;
  for (const std::string& folder : product_folders()) {
    const std::size_t before = files.size();
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(TINYOT_SOURCE_DIR) / folder)) {
      if (!entry.is_regular_file()) continue;
      files.push_back({fs::relative(entry.path(), TINYOT_SOURCE_DIR).generic_string(), folder,
                       lines_of(read_file(entry.path()))});
    }
    if (files.size() == before) throw std::runtime_error("no sources in " + folder);
  }
  std::sort(files.begin(), files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::vector<std::string> code_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  blank_texts_of_several_lines(text);
  CodeFilter filter;
  for (std::size_t i = 0; i < text.size(); ++i)
    text[i] = filter.next(text[i], i + 1 < text.size() ? text[i + 1] : ' ');
  return lines_of(text);
}

std::vector<Literal> string_literals(const std::vector<std::string>& lines) {
  const auto code = code_lines(lines);
  std::vector<Literal> literals;
  bool is_adjacent = false;  // only blanks and comments since the last literal
  for (std::size_t i = 0; i < code.size(); ++i) {
    for (std::size_t at = 0; at < code[i].size(); ++at) {
      if (code[i][at] != '"') {
        is_adjacent = is_adjacent && code[i][at] == ' ';
        continue;
      }
      const std::size_t end = code[i].find('"', at + 1);
      if (end == std::string::npos)
        throw std::runtime_error("a string literal does not end: " + lines[i]);
      if (!is_adjacent) literals.push_back({});
      literals.back().line = i + 1;
      literals.back().text += lines[i].substr(at + 1, end - at - 1);
      is_adjacent = true;
      at = end;
    }
  }
  return literals;
}

std::vector<Include> includes_of(const std::vector<std::string>& lines) {
  static const std::regex kPattern(R"(^\s*#\s*include\s*(["<])([^">]*)[">].*)");
  std::vector<Include> includes;
  std::smatch match;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (std::regex_match(lines[i], match, kPattern))
      includes.push_back({i + 1, match[2].str(), match[1].str() == "<"});
  return includes;
}

bool calls(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    if (at > 0 && is_word(text[at - 1])) continue;
    std::size_t end = at + word.size();
    while (end < text.size() && text[end] == ' ') ++end;
    if (end < text.size() && text[end] == '(') return true;
  }
  return false;
}

}  // namespace tinyot::test
