#include "crypto/gf128.h"

#define HWY_BROKEN_EMU128 0  // see crypto/aes.cpp
#define HWY_WANT_AVX3_DL 1

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "crypto/gf128.cpp"
#include "base/error.h"
#include "crypto/gf128_vpclmul.h"
#include "hwy/foreach_target.h"  // recompiles this file once for each target
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tinyot::crypto {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Karatsuba: three carry-less products per block; the middle one is of the sums of the halves.
template <class D>
HWY_INLINE void add_whole_vectors(D d, const Block*& a, const Block*& b, std::size_t& blocks,
                                  WideBlock& sum) {
  using Vec = hn::Vec<D>;
  const std::size_t step = hn::Lanes(d) / 2;
  Vec low = hn::Zero(d), middle = hn::Zero(d), high = hn::Zero(d);
  for (; blocks >= step; a += step, b += step, blocks -= step) {
    const Vec x = hn::LoadU(d, reinterpret_cast<const std::uint64_t*>(a)),
              y = hn::LoadU(d, reinterpret_cast<const std::uint64_t*>(b));
    low = hn::Xor(low, hn::CLMulLower(x, y));
    high = hn::Xor(high, hn::CLMulUpper(x, y));
    middle =
        hn::Xor(middle, hn::CLMulLower(hn::Xor(x, hn::Shuffle01(x)), hn::Xor(y, hn::Shuffle01(y))));
  }
  const auto sum_of_blocks = [&](Vec vector) HWY_ATTR {
    alignas(64) std::uint64_t words[8];
    hn::Store(vector, d, words);
    Block total{0, 0};
    for (std::size_t i = 0; i < 2 * step; i += 2) total ^= Block{words[i], words[i + 1]};
    return total;
  };
  const Block lowest = sum_of_blocks(low), highest = sum_of_blocks(high),
              cross = sum_of_blocks(middle) ^ lowest ^ highest;
  sum.low ^= lowest ^ Block { 0, cross.lo };
  sum.high ^= highest ^ Block { cross.hi, 0 };
}

void add_products(const Block* a, const Block* b, std::size_t blocks, WideBlock& sum) {
#if HWY_TARGET <= HWY_AVX3_DL
  // Carry-less multiplication of whole vectors.
  add_whole_vectors(hn::CappedTag<std::uint64_t, 8>(), a, b, blocks, sum);
#elif HWY_TARGET == HWY_AVX2
  static const bool kPairs = vpclmul::is_usable();
  if (kPairs) {
    const std::size_t done = vpclmul::add_products(a, b, blocks, sum);
    a += done, b += done, blocks -= done;
  }
#endif
  add_whole_vectors(hn::CappedTag<std::uint64_t, 2>(), a, b, blocks, sum);
}

}  // namespace HWY_NAMESPACE
}  // namespace tinyot::crypto
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tinyot::crypto {

HWY_EXPORT(add_products);

void add_products(std::span<const Block> a, std::span<const Block> b, WideBlock& sum) {
  ENSURE(a.size() == b.size());
  HWY_DYNAMIC_DISPATCH(add_products)(a.data(), b.data(), a.size(), sum);
}

Block reduced(const WideBlock& sum) {
  // X^128 = X^7 + X^2 + X + 1: the upper half is multiplied by that, in two steps, since up to 7
  // bits of the first product lie above X^127.
  const Block h = sum.high;
  const std::uint64_t carry = (h.hi >> 63) ^ (h.hi >> 62) ^ (h.hi >> 57);
  Block folded = sum.low ^ h;
  for (const unsigned shift : {1u, 2u, 7u})
    folded ^= Block{h.lo << shift, (h.hi << shift) | (h.lo >> (64 - shift))};
  folded.lo ^= carry ^ (carry << 1) ^ (carry << 2) ^ (carry << 7);
  return folded;
}

}  // namespace tinyot::crypto
#endif  // HWY_ONCE
