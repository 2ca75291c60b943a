#include "circuitgen/formats/file_lines.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <system_error>

#include "base/error.h"

namespace tinyot::circuit {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 18;
constexpr std::size_t kShownMax = 24;
constexpr std::size_t kNoteBytesMax = std::size_t{1} << 24;

bool is_comment(std::string_view line) { return line.starts_with('#'); }
bool has_content(std::string_view line) {
  return !is_comment(line) && !std::all_of(line.begin(), line.end(), is_blank);
}

// Four independent sums, to hide the latency of the multiplications. A block whose length is not a
// multiple of 32 bytes, which only the last one is, is padded with zeros.
void absorb(std::array<std::uint64_t, 4>& digest, const char* block, std::size_t bytes) {
  std::array<std::uint64_t, 4> words;
  while (bytes > 0) {
    const std::size_t part = std::min(bytes, sizeof words);
    if (part < sizeof words) words.fill(0);
    std::memcpy(words.data(), block, part);
    for (std::size_t i = 0; i < words.size(); ++i)
      digest[i] = std::rotl(digest[i] ^ words[i], 29) * 0x9e3779b97f4a7c15ULL;
    block += part;
    bytes -= part;
  }
}

}  // namespace

FileLines::FileLines(const TextSource& text) : text_(text), buffer_(1) {
  if (text.bytes_now() != text.bytes())
    throw UsageError(text.name() +
                     ": the file has changed since it was opened: its length is different");
}

bool FileLines::next() {
  while (next_of_any_kind()) {
    if (has_content(line_)) return true;
    if (line_.starts_with(kNote)) keep_note();
  }
  return false;
}

void FileLines::keep_note() {
  note_bytes_ += line_.size() + sizeof(Note);
  if (note_bytes_ > kNoteBytesMax) fail("the description is too long");
  notes_.push_back({number_, std::string(line_)});
}

bool FileLines::next_of_any_kind() {
  std::size_t searched = line_begin_;
  for (;;) {
    char* const from = buffer_.data() + searched;
    const void* newline = std::memchr(from, '\n', end_ - searched);
    std::size_t line_end =
        newline == nullptr
            ? end_
            : static_cast<std::size_t>(static_cast<const char*>(newline) - buffer_.data());
    if (newline == nullptr) {
      searched = end_ - line_begin_;
      if (read_block()) continue;
      if (line_begin_ == end_) return false;
      buffer_[end_] = '\n';
      line_end = end_;
    }
    line_ = {buffer_.data() + line_begin_, line_end - line_begin_};
    line_begin_ = std::min(line_end + 1, end_);
    ++number_;
    return true;
  }
}

// Moves the incomplete line to the front and reads the next block after it.
bool FileLines::read_block() {
  if (offset_ == text_.bytes()) return false;
  const std::size_t begun = end_ - line_begin_;
  const std::size_t bytes =
      static_cast<std::size_t>(std::min<std::uint64_t>(kBlock, text_.bytes() - offset_));
  std::memmove(buffer_.data(), buffer_.data() + line_begin_, begun);
  if (begun + bytes + 1 > buffer_.size())
    buffer_.resize(std::max(begun + bytes + 1, begun == 0 ? 0 : 2 * buffer_.size()));
  text_.read(offset_, {buffer_.data() + begun, bytes});
  absorb(digest_, buffer_.data() + begun, bytes);
  offset_ += bytes;
  line_begin_ = 0;
  end_ = begun + bytes;
  return true;
}

std::uint64_t FileLines::digest() const {
  std::uint64_t digest = offset_;
  for (const std::uint64_t sum : digest_)
    digest = std::rotl(digest ^ sum, 29) * 0x9e3779b97f4a7c15ULL;
  return digest;
}

std::vector<std::string_view> FileLines::split(std::string_view line) {
  std::vector<std::string_view> words;
  for (auto at = line.begin(); at != line.end();) {
    at = std::find_if_not(at, line.end(), is_blank);
    const auto end = std::find_if(at, line.end(), is_blank);
    if (at != end) words.emplace_back(at, end);
    at = end;
  }
  return words;
}

std::uint64_t FileLines::integer(std::string_view word) const {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error == std::errc::result_out_of_range && end == word.data() + word.size())
    fail("the number " + shown(word) + " is too large");
  if (error != std::errc() || end != word.data() + word.size())
    fail(shown(word) + " is not a number");
  return value;
}

void FileLines::fail_at(std::uint64_t line, const std::string& reason) const {
  throw UsageError(text_.name() + ", line " + std::to_string(line) + ": " + reason);
}

std::string FileLines::shown(std::string_view word) {
  std::string text = "'";
  for (const char c : word.substr(0, kShownMax)) text.push_back(c > ' ' && c <= '~' ? c : '?');
  return text + (word.size() > kShownMax ? "...'" : "'");
}

FileLinesFromEnd::FileLinesFromEnd(const TextSource& text)
    : text_(text), buffer_(1), offset_(text.bytes()), done_(text.bytes() == 0) {}

bool FileLinesFromEnd::next() {
  while (next_of_any_kind()) {
    if (has_content(line_)) return true;
  }
  return false;
}

// The buffer begins inside a line. If that is the current line, a block is put in front, at least
// as long as the line, so that the total cost of moving long lines is linear.
bool FileLinesFromEnd::next_of_any_kind() {
  if (done_) return false;
  for (;;) {
    const void* newline = ::memrchr(buffer_.data(), '\n', end_);
    if (newline == nullptr && offset_ > 0) {
      const auto bytes =
          static_cast<std::size_t>(std::min<std::uint64_t>(std::max(kBlock, end_), offset_));
      if (bytes + end_ + 1 > buffer_.size()) buffer_.resize(bytes + end_ + 1);
      std::memmove(buffer_.data() + bytes, buffer_.data(), end_);
      text_.read(offset_ - bytes, {buffer_.data(), bytes});
      offset_ -= bytes;
      end_ += bytes;
      buffer_[end_] = '\n';
      continue;
    }
    const std::size_t begin =
        newline == nullptr
            ? 0
            : static_cast<std::size_t>(static_cast<const char*>(newline) - buffer_.data()) + 1;
    buffer_[end_] = '\n';
    line_ = {buffer_.data() + begin, end_ - begin};
    done_ = newline == nullptr;
    if (!done_) end_ = begin - 1;
    return true;
  }
}

}  // namespace tinyot::circuit
