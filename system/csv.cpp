#include "system/csv.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "system/errno_text.h"

namespace tinyot::system {
namespace {

constexpr std::size_t kLineBytesMax = std::size_t{1} << 20, kBlock = std::size_t{1} << 16;
constexpr std::string_view kQuoted = ",\"\r\n";

}  // namespace

CsvReader::CsvReader(const std::filesystem::path& path) : path_(path) {
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error) || error) {
    block_.resize(kBlock);
    file_.emplace(path, InputFile::Kind::Regular);
  } else {
    block_ = read_secret(InputFile(path));
    end_ = block_.size();
  }
  read_header();
}

void CsvReader::restart() {
  if (file_) file_.emplace(path_, InputFile::Kind::Regular);
  at_ = 0;
  end_ = file_ ? 0 : block_.size();
  line_ = empty_rows_ = 0;
  is_ahead_ = false;
  read_header();
}

void CsvReader::read_header() {
  if (!read_line()) throw UsageError(path_.string() + " has no line with the names of its columns");
  if (view_of(text_).starts_with(kByteOrderMark))
    text_.erase(text_.begin(), text_.begin() + kByteOrderMark.size());
  if (text_.empty()) throw UsageError(where() + ": the line is empty, without names of columns");
  split();
  header_.clear();
  for (const SecretText& field : fields_) header_.emplace_back(view_of(field));
}

std::string CsvReader::at_line(std::uint64_t number) const {
  return path_.string() + ", line " + std::to_string(number);
}

std::string CsvReader::where() const { return at_line(line_ - empty_rows_ - (is_ahead_ ? 1 : 0)); }

bool CsvReader::fill_block() {
  if (!file_) return false;
  at_ = 0;
  end_ = file_->read(block_);
  return end_ > 0;
}

bool CsvReader::read_line() {
  text_.clear();
  if (at_ == end_ && !fill_block()) return false;
  ++line_;
  do {
    const auto first = block_.begin() + static_cast<std::ptrdiff_t>(at_),
               last = block_.begin() + static_cast<std::ptrdiff_t>(end_),
               end_of_line = std::find(first, last, '\n');
    text_.insert(text_.end(), first, end_of_line);
    if (text_.size() > kLineBytesMax) throw UsageError(at_line(line_) + ": the line is too long");
    at_ += static_cast<std::size_t>(end_of_line - first);
    if (end_of_line == last) continue;
    ++at_;
    break;
  } while (fill_block());
  if (!text_.empty() && text_.back() == '\r') text_.pop_back();
  return true;
}

// Reads empty lines up to one that is not. False at the end of the file.
bool CsvReader::read_ahead() {
  while (read_line()) {
    if (!text_.empty()) return true;
    if (header_.size() > 1)
      throw UsageError(at_line(line_) + ": the line is empty, but a row has " +
                       std::to_string(header_.size()) + " columns; remove the line");
    ++empty_rows_;
  }
  if (empty_rows_ == 0) return false;
  throw UsageError(at_line(line_ + 1 - empty_rows_) +
                   ": the file ends with an empty line; remove it, or write \"\" if it is a row "
                   "with an empty value");
}

bool CsvReader::next() {
  if (!is_ahead_) is_ahead_ = read_ahead();
  if (!is_ahead_) return false;
  if (empty_rows_ > 0) {
    --empty_rows_;
    fields_.assign(1, {});
    return true;
  }
  is_ahead_ = false;
  split();
  if (fields_.size() != header_.size())
    throw UsageError(where() + ": the row has " + std::to_string(fields_.size()) +
                     " fields, but there are " + std::to_string(header_.size()) + " columns");
  return true;
}

void CsvReader::split() {
  fields_.clear();
  const std::string_view text = view_of(text_);
  std::size_t at = 0;
  for (;;) {
    SecretText& field = fields_.emplace_back();
    if (at < text.size() && text[at] == '"') {
      for (++at;; ++at) {
        if (at >= text.size()) throw UsageError(where() + ": a quote is not closed");
        if (text[at] == '"' && (at + 1 == text.size() || text[at + 1] != '"')) break;
        if (text[at] == '"') ++at;
        field.push_back(text[at]);
      }
      ++at;
      if (at < text.size() && text[at] != ',')
        throw UsageError(where() + ": there is text after a closing quote");
    } else {
      const std::size_t end = std::min(text.find(',', at), text.size());
      field.assign(text.begin() + at, text.begin() + end);
      at = end;
    }
    if (at >= text.size()) return;
    ++at;
  }
}

CsvWriter::CsvWriter(const std::filesystem::path& path)
    : path_(path),
      file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR)) {
  if (!file_.is_open() && errno == EEXIST)
    throw UsageError(path.string() + " already exists; it is not overwritten, choose another");
  if (!file_.is_open())
    throw Error(ErrorClass::Other, "cannot make " + path.string() + ": " + errno_text());
}

CsvWriter::CsvWriter(const std::filesystem::path& path, std::uint64_t lines)
    : path_(path), file_(::open(path.c_str(), O_RDWR | O_CLOEXEC)), kept_bytes_(0) {
  if (!file_.is_open()) fail("go on in");
  SecretText block(kBlock);
  for (std::uint64_t left = lines; left > 0;) {
    const ssize_t count =
        ::pread(file_.get(), block.data(), block.size(), static_cast<off_t>(*kept_bytes_));
    if (count < 0) fail("read");
    if (count == 0)
      throw UsageError(path.string() + " has " + std::to_string(lines - left) +
                       " whole lines, fewer than the " + std::to_string(lines) + " to go on after");
    for (ssize_t i = 0; i < count && left > 0; ++i, ++*kept_bytes_)
      if (block[static_cast<std::size_t>(i)] == '\n') --left;
  }
}

void CsvWriter::fail(const char* what) const {
  throw Error(ErrorClass::Other,
              std::string("cannot ") + what + " " + path_.string() + ": " + errno_text());
}

void CsvWriter::write_row(const std::vector<SecretText>& fields) {
  const auto add = [&](std::string_view text) {
    pending_.insert(pending_.end(), text.begin(), text.end());
  };
  // Many readers drop an empty line.
  if (fields.size() == 1 && fields[0].empty()) add("\"\"");
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string_view field = view_of(fields[i]);
    if (i > 0) add(",");
    if (field.find_first_of(kQuoted) == std::string_view::npos) {
      add(field);
      continue;
    }
    add("\"");
    for (const char c : field) pending_.insert(pending_.end(), c == '"' ? 2 : 1, c);
    add("\"");
  }
  add("\n");
  if (pending_.size() > kBlock) flush();
}

void CsvWriter::flush() {
  if (kept_bytes_ && !pending_.empty()) {
    if (::ftruncate(file_.get(), static_cast<off_t>(*kept_bytes_)) != 0 ||
        ::lseek(file_.get(), 0, SEEK_END) < 0)
      fail("go on in");
    kept_bytes_.reset();
  }
  if (!write_all(file_.get(), view_of(pending_))) fail("write");
  pending_ = {};
}

}  // namespace tinyot::system
