#include "circuitgen/file_lines.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/error.h"

namespace tinyot {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr std::size_t kShownMax = 24;

}  // namespace

bool FileLines::next() {
  while (std::getline(text_, line_)) {
    ++number_;
    split();
    if (!words_.empty()) return true;
  }
  if (!text_.eof()) fail("the file cannot be read any further");
  return false;
}

std::uint64_t FileLines::integer(std::size_t index) const {
  const std::string_view word = words_[index];
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error == std::errc::result_out_of_range) fail("the number " + shown(word) + " is too large");
  if (error != std::errc() || end != word.data() + word.size()) fail(shown(word) + " is not a number");
  return value;
}

void FileLines::fail(const std::string& reason) const {
  throw UsageError(file_ + ", line " + std::to_string(number_) + ": " + reason);
}

std::string FileLines::shown(std::string_view word) {
  std::string text = "'";
  for (const char c : word.substr(0, kShownMax)) text.push_back(c > ' ' && c <= '~' ? c : '?');
  return text + (word.size() > kShownMax ? "...'" : "'");
}

void FileLines::split() {
  words_.clear();
  const std::string_view line = line_;
  std::size_t first = line.find_first_not_of(kBlanks);
  while (first != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, first), line.size());
    words_.push_back(line.substr(first, end - first));
    first = line.find_first_not_of(kBlanks, end);
  }
}

}  // namespace tinyot
