#include "crypto/public_coins.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace tinyot::crypto {

namespace {

constexpr std::size_t kBins = 256;  // selected by a random byte

// Public random words, generated in batches.
class CoinStream {
 public:
  explicit CoinStream(Block key) : rng_(Seed{key}) {}

  // Uniform in [0, bound): the upper half of word . bound, rejecting the words whose lower half
  // would make some values likelier (Lemire 2019).
  std::uint32_t below(std::uint32_t bound) {
    std::uint64_t product = std::uint64_t{next()} * bound;
    if (static_cast<std::uint32_t>(product) < bound)
      for (const std::uint32_t rejected = -bound % bound;
           static_cast<std::uint32_t>(product) < rejected;)
        product = std::uint64_t{next()} * bound;
    return static_cast<std::uint32_t>(product >> 32);
  }
  void fill(std::span<std::uint8_t> bytes) { rng_.fill(std::as_writable_bytes(bytes)); }

 private:
  std::uint32_t next() {
    if (used_ == words_.size()) {
      rng_.fill(std::as_writable_bytes(std::span(words_)));
      used_ = 0;
    }
    return words_[used_++];
  }

  Rng rng_;
  std::array<std::uint32_t, 256> words_;
  std::size_t used_ = words_.size();
};

void shuffle(CoinStream& coins, std::span<std::uint32_t> elements) {
  for (auto left = static_cast<std::uint32_t>(elements.size()); left > 1; --left)
    std::swap(elements[left - 1], elements[coins.below(left)]);
}

}  // namespace

std::vector<std::uint32_t> permutation_from(const SessionId& session, const Domain& domain,
                                            const PublicSeed& seed, std::uint32_t n) {
  CoinStream coins(RandomOracle(session, domain).absorb_object(seed).block());
  std::vector<std::uint8_t> bin_of(n);
  coins.fill(bin_of);
  std::array<std::size_t, kBins + 1> begin{};
  for (const std::uint8_t bin : bin_of) ++begin[bin + 1u];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());

  std::vector<std::uint32_t> image(n);
  auto next = begin;
  for (std::uint32_t i = 0; i < n; ++i) image[next[bin_of[i]]++] = i;
  for (std::size_t bin = 0; bin < kBins; ++bin)
    shuffle(coins, std::span(image).subspan(begin[bin], begin[bin + 1] - begin[bin]));
  return image;
}

std::vector<Pair> pairing_from(const SessionId& session, const Domain& domain,
                               const PublicSeed& seed, std::uint32_t n) {
  const auto order = permutation_from(session, domain, seed, 2 * n);
  std::vector<Pair> pairs(n);
  for (std::uint32_t i = 0; i < n; ++i)
    pairs[i] = {std::min(order[2 * i], order[2 * i + 1]), std::max(order[2 * i], order[2 * i + 1])};
  std::sort(pairs.begin(), pairs.end(),
            [](const Pair& a, const Pair& b) { return a.kept < b.kept; });
  return pairs;
}

}  // namespace tinyot::crypto
