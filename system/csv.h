// Tables as text: comma-separated values (RFC 4180), with names of columns in the first line.
// Fields may be in quotes, with "" for a quote, but have no line ends in them. Fields may be
// secret: no error contains one, and what was read is wiped.
//
// An empty line is a row with an empty value if there is one column, and an error if there are
// several. At the end of the file it is an error too, since a writer may or may not mean a row. A
// byte order mark at the beginning is skipped.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/secret_text.h"
#include "system/descriptor.h"
#include "system/input_file.h"

namespace tinyot::system {

class CsvReader {
 public:
  // Reads the first line. What is no regular file, such as a pipe, is kept in memory. Fails:
  // UsageError naming the file.
  explicit CsvReader(const std::filesystem::path& path);
  // Goes back to the first row.
  void restart();

  const std::vector<std::string>& header() const { return header_; }
  // Goes to the next row; false at the end. Fails: UsageError naming file and line if the row has
  // another number of fields than the header, or if an empty line is not a row.
  bool next();
  // Of the row, valid until next().
  const std::vector<SecretText>& fields() const { return fields_; }
  // "FILE, line N".
  std::string where() const;

 private:
  std::string at_line(std::uint64_t number) const;
  bool fill_block();
  bool read_line();
  bool read_ahead();
  void split();

  void read_header();

  std::filesystem::path path_;
  std::optional<InputFile> file_;
  SecretText block_;  // of the file, or all of a pipe; [at_, end_) are to be read
  std::size_t at_ = 0, end_ = 0;
  SecretText text_;  // of the last line
  std::uint64_t line_ = 0;
  // Rows of the lines that have been read: empty ones, then that of text_.
  std::uint64_t empty_rows_ = 0;
  bool is_ahead_ = false;
  std::vector<SecretText> fields_;
  std::vector<std::string> header_;
};

// A file of mode 0600. Fails: Error naming the file, UsageError if a new one exists.
class CsvWriter {
 public:
  explicit CsvWriter(const std::filesystem::path& path);
  // Goes on after the first lines of a file. The others are dropped with the first row that is
  // written: nothing is lost if there is none.
  CsvWriter(const std::filesystem::path& path, std::uint64_t lines);
  void write_row(const std::vector<SecretText>& fields);
  // Hands all rows to the system.
  void flush();

 private:
  [[noreturn]] void fail(const char* what) const;

  std::filesystem::path path_;
  Descriptor file_;
  std::optional<std::uint64_t> kept_bytes_;  // then the rest of the file is dropped
  SecretText pending_;
};

}  // namespace tinyot::system
