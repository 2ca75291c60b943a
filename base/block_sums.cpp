#include "base/block_sums.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "base/block_sums.cpp"
#include "hwy/foreach_target.h"  // recompiles this file once for each target
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tinyot {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Calls use(d, word) for the vectors of n blocks, d being their tag and `word` the index of their
// first 64-bit word: kBlocks blocks at a time, and then one by one.
template <std::size_t kBlocks, class Use>
HWY_INLINE void for_each_vector(std::size_t n, Use use) {
  const hn::CappedTag<std::uint64_t, 2 * kBlocks> wide;
  const hn::CappedTag<std::uint64_t, 2> one;
  const std::size_t in_wide = n / kBlocks * 2 * kBlocks;
  std::size_t word = 0;
  for (; word < in_wide; word += hn::Lanes(wide)) use(wide, word);
  for (; word < 2 * n; word += hn::Lanes(one)) use(one, word);
}

void xor_blocks(const Block* x, const Block* y, std::size_t n, Block* out) {
  const std::uint64_t *a = &x->lo, *b = &y->lo;
  std::uint64_t* to = &out->lo;
  for_each_vector<4>(n, [&](auto d, std::size_t at) HWY_ATTR {
    hn::StoreU(hn::Xor(hn::LoadU(d, a + at), hn::LoadU(d, b + at)), d, to + at);
  });
}

void xor_block_to_each(const Block* x, std::size_t n, const Block& y, Block* out) {
  const std::uint64_t* a = &x->lo;
  std::uint64_t* to = &out->lo;
  const std::uint64_t twice[4] = {y.lo, y.hi, y.lo, y.hi};
  for_each_vector<2>(n, [&](auto d, std::size_t at) HWY_ATTR {
    // A vector of one word uses the half of y at its position.
    hn::StoreU(hn::Xor(hn::LoadU(d, a + at), hn::LoadU(d, twice + at % 2)), d, to + at);
  });
}

// Masks of two neighbouring entries by their two bits.
alignas(32) constexpr std::uint64_t kMasks[4][4] = {
    {0, 0, 0, 0}, {~0ull, ~0ull, 0, 0}, {0, 0, ~0ull, ~0ull}, {~0ull, ~0ull, ~0ull, ~0ull}};

// The masks of the entries in the vector that begins at word `at`. Bits of other entries, which may
// be beyond the last one, have no part in the address.
template <class D>
HWY_INLINE hn::Vec<D> masks(D d, const std::uint64_t* bits, std::size_t at) {
  const std::size_t entry = at / 2, of_vector = hn::Lanes(d) > 2 ? 3 : 1;
  return hn::LoadU(d, kMasks[(bits[entry / 64] >> (entry % 64)) & of_vector] + at % 2);
}

void combine_triples(const TripleBlocks& blocks, std::size_t n, const Block& delta) {
  const std::uint64_t twice[4] = {delta.lo, delta.hi, delta.lo, delta.hi};
  for_each_vector<2>(n, [&](auto tag, std::size_t at) HWY_ATTR {
    const auto load = [&](const Block* from) HWY_ATTR { return hn::LoadU(tag, &from->lo + at); };
    const auto d = masks(tag, blocks.d, at), e = masks(tag, blocks.e, at),
               key = hn::LoadU(tag, twice + at % 2);
    // All operands are loaded before the first result is stored, which may overwrite any of them.
    const auto x = load(blocks.x), y = load(blocks.y), a = load(blocks.a), b = load(blocks.b),
               c = load(blocks.c);
    hn::StoreU(hn::Xor(hn::Xor(x, a), hn::And(d, key)), tag, &blocks.of_d->lo + at);
    hn::StoreU(hn::Xor(hn::Xor(y, b), hn::And(e, key)), tag, &blocks.of_e->lo + at);
    const auto products = hn::Xor(hn::And(e, a), hn::And(d, hn::Xor(b, hn::And(e, key))));
    hn::StoreU(hn::Xor(c, products), tag, &blocks.z->lo + at);
  });
}

void multiply_by_triples(const ProductBlocks& blocks, std::size_t n, const Block& delta) {
  const std::uint64_t twice[4] = {delta.lo, delta.hi, delta.lo, delta.hi};
  for_each_vector<2>(n, [&](auto tag, std::size_t at) HWY_ATTR {
    const auto load = [&](const Block* from) HWY_ATTR { return hn::LoadU(tag, &from->lo + at); };
    const auto d = masks(tag, blocks.d, at), e = masks(tag, blocks.e, at),
               key = hn::LoadU(tag, twice + at % 2);
    const auto products =
        hn::Xor(hn::And(e, load(blocks.a)), hn::And(d, hn::Xor(load(blocks.b), hn::And(e, key))));
    hn::StoreU(hn::Xor(load(blocks.c), products), tag, &blocks.z->lo + at);
  });
}

void combine_pairs(const PairBlocks& blocks, std::size_t n, const Block& delta) {
  const std::uint64_t twice[4] = {delta.lo, delta.hi, delta.lo, delta.hi};
  for_each_vector<2>(n, [&](auto tag, std::size_t at) HWY_ATTR {
    const auto load = [&](const Block* from) HWY_ATTR { return hn::LoadU(tag, &from->lo + at); };
    const auto store = [&](auto vector, Block* to)
                           HWY_ATTR { hn::StoreU(vector, tag, &to->lo + at); };
    const auto times = [&](auto vector, const std::uint64_t* bits)
                           HWY_ATTR { return hn::And(vector, masks(tag, bits, at)); };
    const auto key = hn::LoadU(tag, twice + at % 2);
    // As above.
    const auto x = load(blocks.x), y = load(blocks.y), u = load(blocks.u), v = load(blocks.v),
               w = load(blocks.w), u0 = load(blocks.u0), u1 = load(blocks.u1), c = load(blocks.c),
               s = load(blocks.s), r = load(blocks.r);
    store(hn::Xor(u, x), blocks.of_f);
    store(hn::Xor(v, y), blocks.of_g);
    store(hn::Xor(c, y), blocks.of_d);
    store(hn::Xor(hn::Xor(u0, u1), x), blocks.of_h);
    store(hn::Xor(hn::Xor(r, u0), times(x, blocks.d)), blocks.of_e);
    const auto product = hn::Xor(hn::Xor(times(y, blocks.f), times(x, blocks.g)), w);
    const auto cross = hn::Xor(hn::Xor(r, s), times(c, blocks.h));
    store(hn::Xor(hn::Xor(cross, product), times(key, blocks.delta_mask)), blocks.z);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace tinyot
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tinyot {

HWY_EXPORT(xor_blocks);
HWY_EXPORT(xor_block_to_each);
HWY_EXPORT(combine_triples);
HWY_EXPORT(multiply_by_triples);
HWY_EXPORT(combine_pairs);

void xor_blocks(std::span<const Block> x, const Block* y, Block* out) {
  HWY_DYNAMIC_DISPATCH(xor_blocks)(x.data(), y, x.size(), out);
}

void xor_block_to_each(std::span<const Block> x, Block y, Block* out) {
  HWY_DYNAMIC_DISPATCH(xor_block_to_each)(x.data(), x.size(), y, out);
}

void combine_triples(const TripleBlocks& blocks, std::size_t n, Block delta) {
  HWY_DYNAMIC_DISPATCH(combine_triples)(blocks, n, delta);
}

void multiply_by_triples(const ProductBlocks& blocks, std::size_t n, Block delta) {
  HWY_DYNAMIC_DISPATCH(multiply_by_triples)(blocks, n, delta);
}

void combine_pairs(const PairBlocks& blocks, std::size_t n, Block delta) {
  HWY_DYNAMIC_DISPATCH(combine_pairs)(blocks, n, delta);
}

}  // namespace tinyot
#endif  // HWY_ONCE
