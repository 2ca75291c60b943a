// Words and blocks for tests from a seed, and comparison of blocks.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "base/block.h"
#include "tests/support/layers.h"

namespace tinyot::test {

inline std::vector<std::uint64_t> random_words(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::vector<std::uint64_t> words(count);
  for (auto& word : words) word = engine();
  return words;
}

inline std::vector<Block> random_blocks(std::size_t count, std::uint64_t seed = 1) {
  std::mt19937_64 engine(seed);
  std::vector<Block> blocks(count);
  for (Block& block : blocks) block = {engine(), engine()};
  return blocks;
}

inline bool same(Block a, Block b) { return a.lo == b.lo && a.hi == b.hi; }

}  // namespace tinyot::test
