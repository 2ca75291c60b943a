// A circuit file as lines of words: what the readers of all formats share.
//
// Blank lines are skipped, LF and CRLF both end a line. Memory: the longest line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace tinyot {

class FileLines {
 public:
  // `file` is the name in messages. Both outlive this object.
  FileLines(std::istream& text, const std::string& file) : text_(text), file_(file) {}

  // Goes to the next line that is not blank; false at the end of the file. Fails: UsageError if the file cannot be read on.
  bool next();

  // The words of the line, valid until next(); at least one.
  const std::vector<std::string_view>& words() const { return words_; }

  // The word at `index` as a number. Fails: UsageError if it is none or does not fit.
  std::uint64_t integer(std::size_t index) const;

  // Throws a UsageError with file, number of the line and `reason`.
  [[noreturn]] void fail(const std::string& reason) const;

  // A word as it may stand in a message: in quotes, cut short, printable.
  static std::string shown(std::string_view word);

 private:
  void split();

  std::istream& text_;
  const std::string& file_;
  std::string line_;
  std::vector<std::string_view> words_;
  std::uint64_t number_ = 0;  // of the line, from 1
};

}  // namespace tinyot
