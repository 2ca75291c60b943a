// The AES kernels of aes.h for x86 processors with VAES but without AVX-512, for which Highway has
// no target: two blocks per instruction. Internal to aes.cpp, whose AVX2 target first calls
// is_usable().
#pragma once

#include <cstddef>

#include "crypto/aes.h"

namespace tinyot::crypto::vaes {

bool is_usable();

void ctr_xor(const AesKey& key, Block counter, Block* data, std::size_t blocks);
void ctr_fill(const AesKey& key, Block counter, Block* data, std::size_t blocks);
void tweaked_hash(const AesKey& key, Block tweak, const Block* in, Block* out, std::size_t blocks);
// `count`: of the nodes, half of what `nodes` has room for.
void half_tree_level(const AesKey& key, Block* nodes, std::size_t count, const SecretPatch* patch,
                     LevelSums& sums);

}  // namespace tinyot::crypto::vaes
