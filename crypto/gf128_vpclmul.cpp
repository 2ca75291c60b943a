#include "crypto/gf128_vpclmul.h"

#include "base/error.h"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define TINYOT_VPCLMUL_COMPILED 1
#include <immintrin.h>
#endif

namespace tinyot::crypto::vpclmul {

#ifdef TINYOT_VPCLMUL_COMPILED

#define TINYOT_VPCLMUL_TARGET __attribute__((target("avx2,pclmul,vpclmulqdq")))
#define TINYOT_VPCLMUL_INLINE TINYOT_VPCLMUL_TARGET __attribute__((always_inline)) inline

namespace {

TINYOT_VPCLMUL_INLINE __m256i load(const Block* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

TINYOT_VPCLMUL_INLINE Block sum_of_halves(__m256i value) {
  const __m128i sum =
      _mm_xor_si128(_mm256_castsi256_si128(value), _mm256_extracti128_si256(value, 1));
  Block block;
  _mm_store_si128(reinterpret_cast<__m128i*>(&block), sum);
  return block;
}

}  // namespace

bool is_usable() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("vpclmulqdq"); }

TINYOT_VPCLMUL_TARGET std::size_t add_products(const Block* a, const Block* b, std::size_t blocks,
                                               WideBlock& sum) {
  __m256i low = _mm256_setzero_si256(), middle = low, high = low;
  std::size_t i = 0;
  for (; i + 2 <= blocks; i += 2) {
    const __m256i x = load(a + i), y = load(b + i);
    low = _mm256_xor_si256(low, _mm256_clmulepi64_epi128(x, y, 0x00));
    high = _mm256_xor_si256(high, _mm256_clmulepi64_epi128(x, y, 0x11));
    // Karatsuba: the product of the sums of the halves.
    const __m256i x_sum = _mm256_xor_si256(x, _mm256_shuffle_epi32(x, 0x4E)),
                  y_sum = _mm256_xor_si256(y, _mm256_shuffle_epi32(y, 0x4E));
    middle = _mm256_xor_si256(middle, _mm256_clmulepi64_epi128(x_sum, y_sum, 0x00));
  }
  const Block lowest = sum_of_halves(low), highest = sum_of_halves(high),
              cross = sum_of_halves(middle) ^ lowest ^ highest;
  sum.low ^= lowest ^ Block { 0, cross.lo };
  sum.high ^= highest ^ Block { cross.hi, 0 };
  return i;
}

#else

bool is_usable() { return false; }
std::size_t add_products(const Block*, const Block*, std::size_t, WideBlock&) {
  ENSURE(false && "VPCLMULQDQ is not compiled in");
}

#endif

}  // namespace tinyot::crypto::vpclmul
