#include "base/subset_sums.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "base/subset_sums.cpp"
#include "base/error.h"
#include "hwy/foreach_target.h"  // recompiles this file once for each target
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tinyot {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// From the highest bit down: row b is the sum of the upper half, which is then added to the lower
// half. 2^(k+1) additions in total.
template <std::uint32_t kBits, class V>
HWY_INLINE void fold_halves(V (&r)[1 << kBits], V (&rows)[kBits]) {
  for (std::uint32_t b = kBits; b-- > 0;) {
    const std::size_t half = std::size_t{1} << b;
    V sum = r[half];
    for (std::size_t x = 1; x < half; ++x) sum = hn::Xor(sum, r[half + x]);
    rows[b] = sum;
    for (std::size_t x = 0; x < half; ++x) r[x] = hn::Xor(r[x], r[half + x]);
  }
}

// Calls use(d, at, rows, total) for the sums at each position, a vector of 64-bit words with tag d.
template <std::uint32_t kBits, class Use>
HWY_INLINE void for_each_sum(const Block* leaves, std::size_t blocks, bool has_first, Use use) {
  const std::uint64_t* HWY_RESTRICT words = &leaves->lo;
  const auto walk = [&](auto d, std::size_t first, std::size_t end) HWY_ATTR {
    using V = hn::Vec<decltype(d)>;
    for (std::size_t at = first; at < end; at += hn::Lanes(d)) {
      V r[1 << kBits], rows[kBits];
      r[0] = has_first ? hn::LoadU(d, words + at) : hn::Zero(d);
      for (std::size_t x = 1; x < (1 << kBits); ++x)
        r[x] = hn::LoadU(d, words + x * 2 * blocks + at);
      fold_halves<kBits>(r, rows);
      use(d, at, rows, r[0]);
    }
  };
  const std::size_t pairs = blocks / 2 * 4;
  walk(hn::CappedTag<std::uint64_t, 4>(), 0, pairs);
  walk(hn::CappedTag<std::uint64_t, 2>(), pairs, 2 * blocks);
}

template <std::uint32_t kBits>
HWY_INLINE void all_sums(const Block* leaves, std::size_t blocks, const Block* addend, Block* total,
                         Block* const* rows) {
  for_each_sum<kBits>(
      leaves, blocks, true, [&](auto d, std::size_t at, const auto& sums, auto sum) HWY_ATTR {
        hn::StoreU(addend == nullptr ? sum : hn::Xor(sum, hn::LoadU(d, &addend->lo + at)), d,
                   &total->lo + at);
        for (std::uint32_t b = 0; b < kBits; ++b) hn::StoreU(sums[b], d, &rows[b]->lo + at);
      });
}

template <std::uint32_t kBits>
HWY_INLINE void sums_with(const Block* leaves, std::size_t blocks, const Block* addend,
                          std::uint32_t selected, Block* const* rows) {
  for_each_sum<kBits>(leaves, blocks, false,
                      [&](auto d, std::size_t at, const auto& sums, auto) HWY_ATTR {
                        const auto more = hn::LoadU(d, &addend->lo + at);
                        for (std::uint32_t b = 0; b < kBits; ++b) {
                          const auto mask = hn::Set(d, mask_of((selected >> b) & 1));
                          hn::StoreU(hn::Xor(sums[b], hn::And(more, mask)), d, &rows[b]->lo + at);
                        }
                      });
}

void subset_sums(std::uint32_t k, const Block* leaves, std::size_t blocks, const Block* addend,
                 Block* total, Block* const* rows) {
  if (k == 1) all_sums<1>(leaves, blocks, addend, total, rows);
  if (k == 2) all_sums<2>(leaves, blocks, addend, total, rows);
  if (k == 4) all_sums<4>(leaves, blocks, addend, total, rows);
}

void subset_sums_with(std::uint32_t k, const Block* leaves, std::size_t blocks, const Block* addend,
                      std::uint32_t selected, Block* const* rows) {
  if (k == 1) sums_with<1>(leaves, blocks, addend, selected, rows);
  if (k == 2) sums_with<2>(leaves, blocks, addend, selected, rows);
  if (k == 4) sums_with<4>(leaves, blocks, addend, selected, rows);
}

}  // namespace HWY_NAMESPACE
}  // namespace tinyot
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tinyot {

HWY_EXPORT(subset_sums);
HWY_EXPORT(subset_sums_with);

void subset_sums(std::uint32_t k, std::span<const Block> leaves, std::span<const Block> addend,
                 std::span<Block> total, std::span<Block* const> rows) {
  ENSURE((k == 1 || k == 2 || k == 4) && rows.size() == k && leaves.size() == total.size() << k &&
         (addend.empty() || addend.size() == total.size()));
  HWY_DYNAMIC_DISPATCH(subset_sums)
  (k, leaves.data(), total.size(), addend.empty() ? nullptr : addend.data(), total.data(),
   rows.data());
}

void subset_sums_with(std::uint32_t k, std::span<const Block> leaves, std::span<const Block> addend,
                      std::uint32_t selected, std::span<Block* const> rows) {
  ENSURE((k == 1 || k == 2 || k == 4) && rows.size() == k && leaves.size() == addend.size() << k);
  HWY_DYNAMIC_DISPATCH(subset_sums_with)
  (k, leaves.data(), addend.size(), addend.data(), selected, rows.data());
}

}  // namespace tinyot
#endif  // HWY_ONCE
