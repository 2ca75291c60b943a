// Buckets: l groups of B leaky objects each, chosen by a uniform permutation (NNOB12 Fig. 16, step
// 2; doc/protocol.md, section 7).
//
// The victim of the leak draws the permutation, after the EQ of the leaky objects has passed, and
// sends a 256-bit seed that both expand; no index is ever taken from the wire.
#pragma once

#include <cstdint>
#include <vector>

#include "checks/session.h"
#include "crypto/phases.h"
#include "crypto/public_coins.h"

namespace tinyot::offline {

class Buckets {
 public:
  Buckets(std::vector<std::uint32_t> order, std::size_t bucket)
      : order_(std::move(order)), bucket_(bucket) {}

  std::size_t count() const { return order_.size() / bucket_; }  // l
  std::size_t bucket() const { return bucket_; }                 // B
  // The leaky object at position k of bucket j.
  std::uint32_t object(std::size_t j, std::size_t k) const { return order_[j * bucket_ + k]; }

 private:
  std::vector<std::uint32_t> order_;
  std::size_t bucket_;
};

// What is permuted: the phase of its permutation and the victim of its leak. A session permutes
// each once.
struct BucketDomain {
  crypto::Phase phase;
  Party victim;
};

// Role: victim. Wire: sends 32 bytes.
Buckets draw_buckets(checks::Session& session, const BucketDomain& domain, std::size_t count,
                     std::size_t bucket);
// Role: the other party. Wire: receives 32 bytes.
Buckets receive_buckets(checks::Session& session, const BucketDomain& domain, std::size_t count,
                        std::size_t bucket);

// A range of buckets, folded together.
struct BucketRange {
  std::size_t first;
  std::size_t count;
};

// Objects are at random addresses, mostly outside the caches, so those of the bucket that many
// positions ahead are prefetched.
inline constexpr std::size_t kFetchAhead = 8;

template <class Word>
void fetch(const Word& word) {
  __builtin_prefetch(&word);
}

// Folds the objects of each bucket of the range from left to right: first(object) starts with the
// object at position 0, next(folded, object, d) folds in the next one, `d` being the index of its
// combiner bit, and last(out, folded) takes the result. ahead(object, position) prefetches an
// object kFetchAhead buckets earlier.
template <class Ahead, class First, class Next, class Last>
void fold(const Buckets& buckets, const BucketRange& range, Ahead ahead, First first, Next next,
          Last last) {
  for (std::size_t out = 0; out < range.count; ++out) {
    const std::size_t j = range.first + out;
    if (j + kFetchAhead < buckets.count())
      for (std::size_t k = 0; k < buckets.bucket(); ++k)
        ahead(buckets.object(j + kFetchAhead, k), k);
    auto folded = first(buckets.object(j, 0));
    for (std::size_t k = 1; k < buckets.bucket(); ++k)
      next(folded, buckets.object(j, k), (k - 1) * buckets.count() + j);
    last(out, folded);
  }
}

}  // namespace tinyot::offline
