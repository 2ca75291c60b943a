#include "base/bit_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace tinyot {
namespace {

// Some 64-bit pattern for each number.
std::uint64_t pattern(std::uint64_t i) { return (i + 1) * 0x9e3779b97f4a7c15; }

// Fields of the widths in turn, written one after the other, have the same bits as a bit by bit
// copy, and are read back.
void expect_fields_kept(const std::vector<std::size_t>& widths, std::size_t fields) {
  std::vector<bool> bits;
  std::vector<std::uint64_t> words(fields + 1, 0);
  BitWriter writer(words);
  for (std::size_t i = 0; i < fields; ++i) {
    const std::size_t width = widths[i % widths.size()];
    writer.write(pattern(i), width);
    for (std::size_t j = 0; j < width; ++j) bits.push_back((pattern(i) >> j & 1) != 0);
  }
  writer.finish();
  for (std::size_t j = 0; j < 64 * words.size(); ++j)
    ASSERT_EQ((words[j / 64] >> (j % 64) & 1) != 0, j < bits.size() && bits[j]) << "bit " << j;

  words.resize((bits.size() + 63) / 64);
  BitReader reader(words);
  for (std::size_t i = 0; i < fields; ++i) {
    const std::size_t width = widths[i % widths.size()];
    const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
    ASSERT_EQ(reader.read(width), pattern(i) & mask) << "field " << i;
  }
}

TEST(BitStream, KeepsFieldsOfEachWidth) {
  for (std::size_t width = 1; width <= 64; ++width)
    for (const std::size_t fields : {0, 1, 2, 63, 64, 65}) expect_fields_kept({width}, fields);
}

TEST(BitStream, KeepsFieldsOfDifferentWidths) {
  expect_fields_kept({64, 64, 17}, 100);
  expect_fields_kept({63, 1, 64, 2, 31}, 100);
  expect_fields_kept({1, 64}, 100);
}

}  // namespace
}  // namespace tinyot
