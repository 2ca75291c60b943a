// The lines of a circuit file, from the start or from the end, for the readers of all formats.
//
// Blank lines and comments, which begin with '#', are skipped. LF and CRLF both end a line. In
// memory a newline follows every line, so that a scan of the line needs no bounds check. Memory: a
// block of the file, or the longest line.
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
  // `text` outlives this object. Fails: UsageError if its length has changed since it was opened.
  explicit FileLines(const TextSource& text);

  // Goes to the next line that is neither blank nor a comment; false at the end. Fails: UsageError
  // if the file cannot be read, or if the notes in it are too long.
  bool next();

  // Comments that begin with "#tinyot", so far: file_description.h.
  static constexpr std::string_view kNote = "#tinyot";
  struct Note {
    std::uint64_t line;  // its number
    std::string text;
  };
  const std::vector<Note>& notes() const { return notes_; }

  // Without its end, valid until next().
  std::string_view line() const { return line_; }

  // Of the line, from 1; at the end of the file, of its last line.
  std::uint64_t number() const { return number_; }

  // Digest of everything read so far, at the end that of the whole file: detects a file that has
  // changed since it was checked. The digest need not be cryptographic: a deliberate change could
  // as well be made before the check.
  std::uint64_t digest() const;

  // The words of the line. Numbers are below 2^64. Fails: UsageError if the word is not a number,
  // or is a larger one.
  std::vector<std::string_view> words() const { return split(line_); }
  static std::vector<std::string_view> split(std::string_view line);
  std::uint64_t integer(std::string_view word) const;

  // Throws a UsageError with file, number of the line and `reason`.
  [[noreturn]] void fail(const std::string& reason) const { fail_at(number_, reason); }
  [[noreturn]] void fail_at(std::uint64_t line, const std::string& reason) const;
  [[noreturn]] void fail_changed() const { fail("the file has changed since it was checked"); }

  // A word for a message: in quotes, truncated, printable.
  static std::string shown(std::string_view word);

 private:
  bool next_of_any_kind();
  bool read_block();
  void keep_note();

  const TextSource& text_;
  std::vector<char> buffer_;  // one byte longer than its contents
  std::size_t line_begin_ = 0, end_ = 0;
  std::uint64_t offset_ = 0;  // in the text, of the end of the buffer
  std::string_view line_;
  std::uint64_t number_ = 0;
  std::array<std::uint64_t, 4> digest_{};
  std::vector<Note> notes_;
  std::size_t note_bytes_ = 0;
};

class FileLinesFromEnd {
 public:
  explicit FileLinesFromEnd(const TextSource& text);

  // Goes to the previous line that is neither blank nor a comment; false at the start of the file.
  // Fails: UsageError.
  bool next();
  std::string_view line() const { return line_; }

 private:
  bool next_of_any_kind();

  const TextSource& text_;
  std::vector<char> buffer_;
  std::uint64_t offset_;  // of the buffer in the text
  std::size_t end_ = 0;   // of the current line
  bool done_;
  std::string_view line_;
};

}  // namespace tinyot::circuit
