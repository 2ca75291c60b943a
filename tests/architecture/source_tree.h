// The product's sources as text, for tests of architecture and style.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tinyot::test {

struct SourceFile {
  std::string path;    // below the root, as base/block.h
  std::string folder;  // base
  std::vector<std::string> lines;

  bool is_header() const { return path.ends_with(".h"); }
  bool is_code() const { return is_header() || path.ends_with(".cpp"); }
};

// The folders of the product.
const std::vector<std::string>& product_folders();

// Every file of the product, sorted by path. Fails: std::runtime_error if a folder is missing or
// empty.
std::vector<SourceFile> product_files();

std::vector<std::string> lines_of(std::string_view text);

// The file with comments and the contents of string and character literals replaced by blanks. Raw
// string literals are not supported; the product has none.
std::vector<std::string> code_lines(const std::vector<std::string>& lines);

struct Literal {
  std::size_t line;  // from 1, of its end
  std::string text;  // as written, with escape sequences
};

// The string literals, adjacent ones joined. As code_lines, without raw ones.
std::vector<Literal> string_literals(const std::vector<std::string>& lines);

struct Include {
  std::size_t line;  // from 1
  std::string path;
  bool angled;
};
std::vector<Include> includes_of(const std::vector<std::string>& lines);

// Whether `word` occurs in the text as an identifier followed by an opening parenthesis.
bool calls(std::string_view text, std::string_view word);

}  // namespace tinyot::test
