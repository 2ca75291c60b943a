// Packed bits written or read one field after the other; a field has 1 to 64 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tinyot {

class BitWriter {
 public:
  // `words` has room for all fields.
  explicit BitWriter(std::span<std::uint64_t> words) : words_(words) {}

  // Bits of `field` beyond `width` are ignored.
  void write(std::uint64_t field, std::size_t width) {
    if (width < 64) field &= (std::uint64_t{1} << width) - 1;
    word_ |= field << used_;
    used_ += width;
    if (used_ < 64) return;
    words_[at_++] = word_;
    used_ -= 64;
    word_ = used_ == 0 ? 0 : field >> (width - used_);
  }

  // Writes the last word; the bits beyond the last field are zero.
  void finish() {
    if (used_ > 0) words_[at_] = word_;
  }

 private:
  std::span<std::uint64_t> words_;
  std::size_t at_ = 0;
  std::uint64_t word_ = 0;
  std::size_t used_ = 0;  // bits of word_, less than 64
};

class BitReader {
 public:
  explicit BitReader(std::span<const std::uint64_t> words) : words_(words) {}

  // The bits beyond `width` are zero. Reads no word beyond the one that has the field's last bit.
  std::uint64_t read(std::size_t width) {
    const std::size_t shift = at_ % 64;
    std::uint64_t field = words_[at_ / 64] >> shift;
    if (shift + width > 64) field |= words_[at_ / 64 + 1] << (64 - shift);
    at_ += width;
    return width < 64 ? field & ((std::uint64_t{1} << width) - 1) : field;
  }

 private:
  std::span<const std::uint64_t> words_;
  std::size_t at_ = 0;  // in bits
};

}  // namespace tinyot
