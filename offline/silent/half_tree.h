// Half-trees: GGM trees in which the nodes of each level add up to Delta, so that a key holder
// sends one block for each level (Guo, Yang, Wang, Zhang, Xie, Liu, Zhao, EUROCRYPT 2023;
// doc/protocol.md, section 17.2).
//
// Node j of a level of 2^i nodes has the children j (left) and j + 2^i (right), so leaf j lies on
// the path whose i-th side is bit i - 1 of j. left = H1(node), right = node ^ left; the two nodes
// of level 1 are the root's s and s ^ Delta.
#pragma once

#include <span>

#include "base/block.h"
#include "crypto/aes.h"

namespace tinyot::offline {

// The key of H1 for some trees, with the hash of zero: what both children of a node that is not
// known are taken to be.
struct HalfTreeKey {
  explicit HalfTreeKey(Block key);

  crypto::AesKey aes;
  Block of_zero;
};

// Role: key holder. Makes all leaves.  Shapes: leaves: 2^d; left_sums: d, the sums of the left
// nodes of each level.  Timing: constant.
void expand_half_tree(const HalfTreeKey& key, const Block& root, const Delta& delta,
                      std::span<Block> leaves, std::span<Block> left_sums);

// Role: MAC holder. Makes all leaves but the one at `place`, which becomes the sum of the others:
// with the key holder's leaves v, w_j = v_j ^ [j = place].Delta.  Shapes: leaves: 2^d; sides: for
// each level the sum of its nodes on the side that the path to `place` does not take.
// Secret: place, sides, leaves. Timing: constant.
void expand_punctured(const HalfTreeKey& key, std::size_t place, std::span<const Block> sides,
                      std::span<Block> leaves);

}  // namespace tinyot::offline
