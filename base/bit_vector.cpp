#include "base/bit_vector.h"

#include <algorithm>

#include "base/error.h"

namespace tinyot {

bool BitVector::clear_padding() {
  if (size_ % 64 == 0) return true;
  const std::uint64_t padding = ~std::uint64_t{0} << (size_ % 64);
  const bool was_clear = (words_.back() & padding) == 0;
  words_.back() &= ~padding;
  return was_clear;
}

BitVector& BitVector::operator^=(const BitVector& other) {
  ENSURE(size_ == other.size_);
  for (std::size_t w = 0; w < words_.size(); ++w) words_[w] ^= other.words_[w];
  return *this;
}

void BitVector::copy_from(const BitVector& source, std::size_t from, std::size_t to,
                          std::size_t count) {
  ENSURE(from + count <= source.size_ && to + count <= size_);
  copy_bits(source.words_, from, words_, to, count);
}

void copy_bits(std::span<const std::uint64_t> source, std::size_t from,
               std::span<std::uint64_t> target, std::size_t to, std::size_t count) {
  while (count > 0) {
    const std::size_t in_source = from % 64, in_target = to % 64;
    const std::size_t step = std::min({count, 64 - in_source, 64 - in_target});
    const std::uint64_t mask = step == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << step) - 1;
    const std::uint64_t bits = (source[from / 64] >> in_source) & mask;
    std::uint64_t& word = target[to / 64];
    word = (word & ~(mask << in_target)) | (bits << in_target);
    from += step, to += step, count -= step;
  }
}

}  // namespace tinyot
