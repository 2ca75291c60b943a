// AES-128 as a pseudorandom permutation: key expansion, counter mode and the fixed-key hash H
// (doc/protocol.md, section 2). The best instructions of the processor are chosen at run time
// (Highway). Every target gives the same bytes.
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

}  // namespace tinyot::crypto
