#include "tools/rows/csv.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "tools/failure.h"

namespace tinyot::tools {
namespace {

constexpr std::size_t kLineBytesMax = std::size_t{1} << 20, kBlock = std::size_t{1} << 16;
constexpr std::string_view kQuoted = ",\"\r\n";

}  // namespace

CsvReader::CsvReader(const std::filesystem::path& path) : path_(path), file_(path) {
  if (!file_) throw UsageError("cannot read " + path.string() + ": " + std::strerror(errno));
  if (!next()) throw UsageError(path.string() + " has no line with the names of its columns");
  for (const SecretText& field : fields_) header_.emplace_back(view_of(field));
}

std::string CsvReader::where() const { return path_.string() + ", line " + std::to_string(line_); }

bool CsvReader::read_line() {
  wipe(text_.data(), text_.size());
  text_.clear();
  if (!std::getline(file_, text_)) {
    if (!file_.eof()) throw UsageError("cannot read " + path_.string());
    return false;
  }
  ++line_;
  if (text_.size() > kLineBytesMax) throw UsageError(where() + ": the line is too long");
  if (text_.ends_with('\r')) text_.pop_back();
  return true;
}

bool CsvReader::next() {
  do {
    if (!read_line()) return false;
  } while (text_.empty());
  split();
  if (!header_.empty() && fields_.size() != header_.size())
    throw UsageError(where() + ": the row has " + std::to_string(fields_.size()) +
                     " fields, but there are " + std::to_string(header_.size()) + " columns");
  return true;
}

void CsvReader::split() {
  fields_.clear();
  std::size_t at = 0;
  for (;;) {
    SecretText& field = fields_.emplace_back();
    if (at < text_.size() && text_[at] == '"') {
      for (++at;; ++at) {
        if (at >= text_.size()) throw UsageError(where() + ": a quote is not closed");
        if (text_[at] == '"' && (at + 1 == text_.size() || text_[at + 1] != '"')) break;
        if (text_[at] == '"') ++at;
        field.push_back(text_[at]);
      }
      ++at;
      if (at < text_.size() && text_[at] != ',')
        throw UsageError(where() + ": there is text after a closing quote");
    } else {
      const std::size_t end = std::min(text_.find(',', at), text_.size());
      field.assign(text_.begin() + static_cast<std::ptrdiff_t>(at),
                   text_.begin() + static_cast<std::ptrdiff_t>(end));
      at = end;
    }
    if (at >= text_.size()) return;
    ++at;
  }
}

CsvWriter::CsvWriter(const std::filesystem::path& path)
    : path_(path),
      file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR)) {
  if (!file_.is_open())
    throw CommandError("cannot make " + path.string() + ": " + std::strerror(errno));
}

void CsvWriter::write_row(const std::vector<std::string>& fields) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) pending_ += ',';
    if (fields[i].find_first_of(kQuoted) == std::string::npos) {
      pending_ += fields[i];
      continue;
    }
    pending_ += '"';
    for (const char c : fields[i]) pending_.append(c == '"' ? 2 : 1, c);
    pending_ += '"';
  }
  pending_ += '\n';
  if (pending_.size() > kBlock) flush();
}

void CsvWriter::flush() {
  if (!write_all(file_.get(), pending_))
    throw CommandError("cannot write " + path_.string() + ": " + std::strerror(errno));
  wipe(pending_.data(), pending_.size());
  pending_.clear();
}

}  // namespace tinyot::tools
