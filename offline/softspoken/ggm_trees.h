// GGM trees: the set-up of SoftSpokenOT (Roy, CRYPTO 2022; doc/protocol.md, section 10). For each
// of N = 128 / k trees the MAC holder has all 2^k leaves, and the key holder has all but the one at
// Delta_i, the i-th group of k bits of its global key.
//
// Level j of a tree (1 to k) decides bit k - j of a leaf's number x. Bit b of Delta_i is bit i k +
// b of Delta.
//
// The trees are made once per session, from 128 base OTs per direction, and yield any number of
// authenticated bits.
#pragma once

#include "checks/session.h"

namespace tinyot::offline {

constexpr bool is_tree_depth(std::uint64_t k) { return k == 1 || k == 2 || k == 4; }
// Fails: UsageError if it is not.
void require_softspoken_k(std::uint64_t k);

// k: bits of Delta per tree. 1, 2 or 4.
struct TreeShape {
  std::uint32_t k;

  std::size_t trees() const { return kKappa / k; }
  std::size_t leaves() const { return std::size_t{1} << k; }  // of one tree
};

// Held by the MAC holder. Leaf x of tree i is leaves[i 2^k + x].
struct FullTrees {
  TreeShape shape;
  SecretVector<Seed> leaves;
};

// Held by the key holder, in the order of y = x ^ Delta_i. It does not have the leaf y = 0, whose
// entry is zero.
struct PuncturedTrees {
  TreeShape shape;
  SecretVector<Seed> leaves;
  // Whether the tree check has passed. A failure is reported only by the first check of bits made
  // from the trees, so that the peer cannot distinguish the two checks.
  bool consistent;
};

struct Trees {
  FullTrees mine;        // for my bits
  PuncturedTrees peers;  // for the peer's
};

// Role: both; each is MAC holder of its own trees and key holder of the peer's.
// Wire: 128 base OTs each way; then 32 bytes for each tree and each of its levels 2 to k, and 64
// bytes per tree for the check; 3 rounds.
// Secret: everything. Timing: constant in Delta and the seeds.
// Fails: as base_ots_by_public_key.
Trees make_trees(checks::Session& session, std::uint32_t k);

}  // namespace tinyot::offline
