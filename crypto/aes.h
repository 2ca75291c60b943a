// AES-128 as a pseudorandom permutation: key expansion, counter mode, the fixed-key hash H
// (doc/protocol.md, section 2) and the levels of half-trees (section 17). The best instructions of
// the processor are chosen at run time (Highway). Every target gives the same bytes.
//
// Timing: constant in keys, counters and data on targets with AES instructions and on the portable
// one (Highway's portable AES computes the S-box without tables).
#pragma once

#include <cstdint>
#include <span>

#include "base/block.h"

namespace tinyot::crypto {

struct AesKey {
  Block round_keys[11];
};

AesKey expand_key(Block key);

// inout[i] ^= AES(key, {counter.lo + i, counter.hi}).
void ctr_xor(const AesKey& key, Block counter, std::span<Block> inout);

// out[i] = AES(key, {counter.lo + i, counter.hi}).
void ctr_fill(const AesKey& key, Block counter, std::span<Block> out);

// out[i] = P(P(in[i]) ^ t_i) ^ P(in[i]) with P = AES(key, .) and t_i = {tweak.lo + i, tweak.hi}.
// `in` and `out` may be the same span. Source: Guo, Katz, Wang, Yu (IEEE S&P 2020), tweakable
// circular correlation-robust hash.
void tweaked_hash(const AesKey& key, Block tweak, std::span<const Block> in, std::span<Block> out);

// What is XORed into two nodes of a level at secret places.
struct SecretPatch {
  std::size_t places[2];
  Block differences[2];
};
// Of a level that is expanded: all its nodes, and the left child of each.
struct LevelSums {
  Block nodes;
  Block left;
};

// A level of half-trees: the nodes are the first half of `nodes`, of 2^i of them, i > 0. Node j,
// after the patch, is replaced by its left child H1(node), and its right child, node ^ H1(node), is
// put 2^i places behind. H1(x) = P(s(x)) ^ s(x) with P = AES(key, .) and s(hi || lo) = (hi ^ lo) ||
// hi. Source: the circular correlation-robust hash of Guo, Katz, Wang, Yu (IEEE S&P 2020).
//
// Timing: constant in the nodes and in the patch.
LevelSums half_tree_level(const AesKey& key, std::span<Block> nodes,
                          const SecretPatch* patch = nullptr);

// Patches nodes that are not expanded. The number of nodes is a power of two.
// Timing: constant in the nodes and in the patch.
void apply_patch(const SecretPatch& patch, std::span<Block> nodes);

}  // namespace tinyot::crypto
