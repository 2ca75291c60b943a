// The order of revealed bits, common to both combiners. Bucket j has B - 1 of them; the one that
// folds in the object at position k has index (k - 1) l + j, on the wire, in the transcript and in
// the fold.
#pragma once

#include <span>

#include "base/bit_vector.h"
#include "base/secret.h"
#include "offline/nnob12/buckets.h"

namespace tinyot::offline {

inline std::size_t combiner_count(const Buckets& buckets) {
  return (buckets.bucket() - 1) * buckets.count();
}

// bit(index, first, previous, object): the combiner bit from the bucket's objects at positions 0, k
// - 1 and k.
template <class Bit>
BitVector combiner_bits(const Buckets& buckets, Bit bit) {
  BitVector d(combiner_count(buckets));
  std::size_t index = 0;
  for (std::size_t k = 1; k < buckets.bucket(); ++k)
    for (std::size_t j = 0; j < buckets.count(); ++j, ++index)
      d.put(index,
            bit(index, buckets.object(j, 0), buckets.object(j, k - 1), buckets.object(j, k)));
  return d;
}

// make(first, previous, object): the MAC or key of the same bit. `sink(words, first_index)`
// receives them in order, up to 4096 at a time; `ahead(object)` prefetches an object.
template <class Word, class Ahead, class Make, class Sink>
void for_each_combiner_word(const Buckets& buckets, Ahead ahead, Make make, Sink sink) {
  constexpr std::size_t kStep = 4096;
  SecretVector<Word> words(kStep);
  std::size_t filled = 0, first = 0;
  const auto flush = [&] {
    sink(std::span(words).first(filled), first);
    first += filled;
    filled = 0;
  };
  for (std::size_t k = 1; k < buckets.bucket(); ++k)
    for (std::size_t j = 0; j < buckets.count(); ++j) {
      if (j + kFetchAhead < buckets.count()) {
        ahead(buckets.object(j + kFetchAhead, 0));
        ahead(buckets.object(j + kFetchAhead, k - 1));
        ahead(buckets.object(j + kFetchAhead, k));
      }
      words[filled++] = make(buckets.object(j, 0), buckets.object(j, k - 1), buckets.object(j, k));
      if (filled == kStep) flush();
    }
  flush();
}

}  // namespace tinyot::offline
