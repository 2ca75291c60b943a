// Sums over arrays of blocks, for the MACs and keys of wires. Inputs and outputs may be the same
// arrays.
#pragma once

#include <span>

#include "base/block.h"

namespace tinyot {

// out[i] = x[i] ^ y[i].
void xor_blocks(std::span<const Block> x, const Block* y, Block* out);

// out[i] = x[i] ^ y.
void xor_block_to_each(std::span<const Block> x, Block y, Block* out);

// The blocks of a product of shared bits by a triple (online/interactive/ands_from_triples.h), for
// n entries whose opened d and e are the first n bits of their words:
//   of_d[i] = x[i] ^ a[i] ^ d_i.delta
//   of_e[i] = y[i] ^ b[i] ^ e_i.delta
//   z[i] = c[i] ^ e_i.a[i] ^ d_i.b[i] ^ d_i.e_i.delta
//
// Timing: constant in the blocks; d and e are public.
struct TripleBlocks {
  const Block *x, *y;
  const Block *a, *b, *c;
  const std::uint64_t *d, *e;
  Block *of_d, *of_e, *z;
};
void combine_triples(const TripleBlocks& blocks, std::size_t n, Block delta);

// The products alone, when d and e have been opened before.
struct ProductBlocks {
  const Block *a, *b, *c;
  const std::uint64_t *d, *e;
  Block* z;
};
void multiply_by_triples(const ProductBlocks& blocks, std::size_t n, Block delta);

// One direction of an AND by aANDs and aOTs (online/interactive/ands_from_aand_aot.h): the MACs of
// a party's shares or the keys of its peer's, for n entries whose opened bits are the first n of
// their words:
//   of_f[i] = u[i] ^ x[i]                     of_g[i] = v[i] ^ y[i]
//   of_d[i] = c[i] ^ y[i]                     of_h[i] = u0[i] ^ u1[i] ^ x[i]
//   of_e[i] = r[i] ^ u0[i] ^ d_i.x[i]
//   z[i] = r[i] ^ s[i] ^ h_i.c[i] ^ f_i.y[i] ^ g_i.x[i] ^ w[i] ^ moved_i.delta
//
// Timing: constant in the blocks; the bits are public.
struct PairBlocks {
  const Block *x, *y;
  const Block *u, *v, *w;
  const Block *u0, *u1, *c, *s, *r;
  const std::uint64_t *f, *g, *d, *h, *delta_mask;
  Block *of_f, *of_g, *of_d, *of_h, *of_e, *z;
};
void combine_pairs(const PairBlocks& blocks, std::size_t n, Block delta);

}  // namespace tinyot
