// A fast scanner of the numbers and words of a line. It reports no reasons: a second, slower pass
// diagnoses a bad line.
#pragma once

#include <cstdint>
#include <string_view>

#include "circuitgen/formats/file_lines.h"

namespace tinyot::circuit {

class LineScanner {
 public:
  static constexpr int kDigitsMax = 10;

  // A newline must follow the line.
  explicit LineScanner(std::string_view line) : at_(line.data()) {}

  // The next word as a number; false if it is not a number, is at least 2^32 - 1, or has more than
  // ten digits.
  bool number(std::uint32_t& value) {
    skip_blanks();
    const char* const begin = at_;
    std::uint64_t sum = digit();
    if (sum > 9) return false;
    for (++at_; digit() <= 9; ++at_) sum = 10 * sum + digit();
    value = static_cast<std::uint32_t>(sum);
    return at_ - begin <= kDigitsMax && sum < kTooLarge && (is_blank(*at_) || *at_ == '\n');
  }

  // The next word; empty at the end of the line.
  std::string_view word() {
    skip_blanks();
    const char* const begin = at_;
    while (!is_blank(*at_) && *at_ != '\n') ++at_;
    return {begin, at_};
  }

  bool at_end() {
    skip_blanks();
    return *at_ == '\n';
  }

 private:
  static constexpr std::uint64_t kTooLarge = 0xffffffff;

  std::uint64_t digit() const { return static_cast<std::uint64_t>(*at_) - '0'; }
  void skip_blanks() {
    while (is_blank(*at_)) ++at_;
  }

  const char* at_;
};

}  // namespace tinyot::circuit
