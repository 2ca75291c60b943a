// Tables as text: comma-separated values (RFC 4180), with names of columns in the first line.
// Fields may be in quotes, with "" for a quote, but have no line ends in them. Fields may be
// secret: no error contains one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.h"
#include "base/secret_text.h"

namespace tinyot::tools {

class CsvReader {
 public:
  // Reads the first line. Fails: UsageError naming the file.
  explicit CsvReader(const std::filesystem::path& path);

  const std::vector<std::string>& header() const { return header_; }
  // Goes to the next row; false at the end. Empty lines are not rows. Fails: UsageError naming file
  // and line if the row has another number of fields than the header.
  bool next();
  // Of the row, valid until next().
  const std::vector<SecretText>& fields() const { return fields_; }
  // "FILE, line N".
  std::string where() const;

 private:
  bool read_line();
  void split();

  std::filesystem::path path_;
  std::ifstream file_;
  std::uint64_t line_ = 0;
  std::string text_;  // of the line; wiped
  std::vector<SecretText> fields_;
  std::vector<std::string> header_;
};

// A new file of mode 0600. Fails: CommandError naming the file.
class CsvWriter {
 public:
  explicit CsvWriter(const std::filesystem::path& path);
  void write_row(const std::vector<std::string>& fields);
  // Hands all rows to the system.
  void flush();

 private:
  std::filesystem::path path_;
  Descriptor file_;
  std::string pending_;
};

}  // namespace tinyot::tools
