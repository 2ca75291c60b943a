#include "offline/silent/half_tree.h"

#include <bit>

#include "base/error.h"
#include "base/secret.h"

namespace tinyot::offline {
namespace {

std::size_t depth_of(std::span<const Block> leaves) {
  ENSURE(leaves.size() >= 2 && std::has_single_bit(leaves.size()));
  return static_cast<std::size_t>(std::countr_zero(leaves.size()));
}

}  // namespace

HalfTreeKey::HalfTreeKey(Block key) : aes(crypto::expand_key(key)) {
  Block nodes[4] = {};
  crypto::half_tree_level(aes, nodes);
  of_zero = nodes[0];
}

void expand_half_tree(const HalfTreeKey& key, const Block& root, const Delta& delta,
                      std::span<Block> leaves, std::span<Block> left_sums) {
  const std::size_t depth = depth_of(leaves);
  ENSURE(left_sums.size() == depth);
  leaves[0] = left_sums[0] = root;
  leaves[1] = root ^ delta.value;
  for (std::size_t level = 1; level < depth; ++level)
    left_sums[level] = crypto::half_tree_level(key.aes, leaves.first(std::size_t{2} << level)).left;
}

void expand_punctured(const HalfTreeKey& key, std::size_t place, std::span<const Block> sides,
                      std::span<Block> leaves) {
  const std::size_t depth = depth_of(leaves);
  ENSURE(sides.size() == depth);
  const auto goes_right = [&](std::size_t level) { return ((place >> level) & 1) != 0; };
  leaves[0] = times(sides[0], goes_right(0));
  leaves[1] = times(sides[0], !goes_right(0));
  // Of the level that was made last: takes H1(0) from the children of the node on the path, which
  // was taken to be 0, and adds the one off the path.
  crypto::SecretPatch patch{{0, 1}, {{0, 0}, {0, 0}}};
  Block total = sides[0];
  for (std::size_t level = 1; level < depth; ++level) {
    const std::size_t half = std::size_t{1} << level, parent = place & (half - 1);
    const crypto::LevelSums sums = crypto::half_tree_level(key.aes, leaves.first(2 * half), &patch);
    const bool right = goes_right(level);
    const Block left_side = sums.left ^ key.of_zero, right_side = left_side ^ sums.nodes;
    const Block sibling = sides[level] ^ times(right_side, !right) ^ times(left_side, right);
    patch = {{parent, parent + half},
             {key.of_zero ^ times(sibling, right), key.of_zero ^ times(sibling, !right)}};
    total = sums.nodes ^ sibling;
  }
  // The node on the path is 0; `total` is the sum of all other leaves.
  const bool right = goes_right(depth - 1);
  patch.differences[0] ^= times(total, !right);
  patch.differences[1] ^= times(total, right);

  crypto::apply_patch(patch, leaves);
  wipe_object(patch), wipe_object(total);
}

}  // namespace tinyot::offline
