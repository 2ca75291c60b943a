// A circuit file as lines, from the start or from the end: what the readers of all formats share.
//
// Blank lines are skipped, LF and CRLF both end a line. A newline stands behind every line in
// memory, so that a scan of the line needs no other end. Memory: a block of the file, or the
// longest line.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "circuitgen/formats/text_source.h"

namespace tinyot::circuit {

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

class FileLines {
 public:
  // `text` outlives this object. Fails: UsageError if it has not the length any more that it was
  // opened with.
  explicit FileLines(const TextSource& text);

  // Goes to the next line that is not blank; false at the end. Fails: UsageError if the file cannot
  // be read on.
  bool next();

  // Without its end, valid until next().
  std::string_view line() const { return line_; }

  // Of the line, from 1; at the end of the file, of its last line.
  std::uint64_t number() const { return number_; }

  // Of everything that has been read, which at the end is all of the file: tells a changed file
  // from the one that was checked. Whoever changes it on purpose can change it before as well, so
  // no cryptographic digest is needed.
  std::uint64_t digest() const;

  // The words of the line. A number may be as large as 2^64 - 1. Fails: UsageError if the word is
  // no number or a larger one.
  std::vector<std::string_view> words() const;
  std::uint64_t integer(std::string_view word) const;

  // Throws a UsageError with file, number of the line and `reason`.
  [[noreturn]] void fail(const std::string& reason) const;
  [[noreturn]] void fail_changed() const { fail("the file has changed since it was checked"); }

  // A word as it may stand in a message: in quotes, cut short, printable.
  static std::string shown(std::string_view word);

 private:
  bool next_of_any_kind();
  bool read_block();

  const TextSource& text_;
  std::vector<char> buffer_;  // one byte longer than what may be read into it
  std::size_t line_begin_ = 0, end_ = 0;
  std::uint64_t offset_ = 0;  // of the text behind the buffer
  std::string_view line_;
  std::uint64_t number_ = 0;
  std::array<std::uint64_t, 4> digest_{};
};

class FileLinesFromEnd {
 public:
  explicit FileLinesFromEnd(const TextSource& text);

  // Goes to the line before that is not blank; false at the start of the file. Fails: UsageError.
  bool next();
  std::string_view line() const { return line_; }

 private:
  bool next_of_any_kind();

  const TextSource& text_;
  std::vector<char> buffer_;
  std::uint64_t offset_;  // of the buffer in the text
  std::size_t end_ = 0;   // of the line at hand
  bool done_;
  std::string_view line_;
};

}  // namespace tinyot::circuit
