#include "offline/nnob12/auth_and.h"

#include "offline/nnob12/combiner.h"

namespace tinyot::offline {
namespace {

constexpr net::MessageTag kAuthAndD = net::message_tag("aand.d");

// An AND during the fold: bits, MACs or keys.
template <class T>
struct FoldedAnd {
  T x, y, z;
};

// The fold of MACs or of keys: the same linear map.
template <class Word>
void fold_words(const Buckets& buckets, const BucketRange& range, const BitVector& d,
                std::span<const Word> x, std::span<const Word> y, std::span<const Word> z,
                std::span<Word> out_x, std::span<Word> out_y, std::span<Word> out_z) {
  fold(
      buckets, range,
      [&](std::uint32_t object, std::size_t position) {
        fetch(x[object]);
        if (position == 0) fetch(y[object]);
        fetch(z[object]);
      },
      [&](std::uint32_t object) {
        return FoldedAnd<Word>{x[object], y[object], z[object]};
      },
      [&](FoldedAnd<Word>& folded, std::uint32_t object, std::size_t combiner) {
        folded.x ^= x[object];
        folded.z ^= z[object] ^ Word { times(x[object].value, d[combiner]) };
      },
      [&](std::size_t out, const FoldedAnd<Word>& folded) {
        out_x[out] = folded.x;
        out_y[out] = folded.y;
        out_z[out] = folded.z;
      });
}

}  // namespace

void AuthAndMacHolder::reveal(checks::Session& session) {
  d_ =
      combiner_bits(buckets_, [&](std::size_t, std::uint32_t first, std::uint32_t,
                                  std::uint32_t object) { return y_.bit(first) ^ y_.bit(object); });
  checks::reveal_bits(session, kAuthAndD, d_);
  for_each_combiner_word<Mac>(
      buckets_, [&](std::uint32_t object) { fetch(y_.macs[object]); },
      [&](std::uint32_t first, std::uint32_t, std::uint32_t object) {
        return y_.macs[first] ^ y_.macs[object];
      },
      [&](std::span<Mac> macs, std::size_t) { checks::absorb_my_macs(session, macs); });
}

void AuthAndMacHolder::fold_into(const BucketRange& range, MacColumn& x, MacColumn& y,
                                 MacColumn& z) const {
  fold_words<Mac>(buckets_, range, d_, x_.macs, y_.macs, z_.macs, x.macs, y.macs, z.macs);
  fold(
      buckets_, range, [](std::uint32_t, std::size_t) {},
      [&](std::uint32_t object) {
        return FoldedAnd<bool>{x_.bit(object), y_.bit(object), z_.bit(object)};
      },
      [&](FoldedAnd<bool>& folded, std::uint32_t object, std::size_t combiner) {
        folded.x ^= x_.bit(object);
        folded.z ^= z_.bit(object) ^ (d_[combiner] & x_.bit(object));
      },
      [&](std::size_t out, const FoldedAnd<bool>& folded) {
        x.bits.put(out, folded.x);
        y.bits.put(out, folded.y);
        z.bits.put(out, folded.z);
      });
}

void AuthAndKeyHolder::receive(checks::Session& session) {
  d_ = checks::receive_revealed_bits(session, kAuthAndD, combiner_count(buckets_));
  for_each_combiner_word<Key>(
      buckets_, [&](std::uint32_t object) { fetch(y_[object]); },
      [&](std::uint32_t first, std::uint32_t, std::uint32_t object) {
        return y_[first] ^ y_[object];
      },
      [&](std::span<Key> keys, std::size_t first) {
        checks::absorb_peers_keys(session, keys, d_, first);
      });
}

void AuthAndKeyHolder::fold_into(const BucketRange& range, KeyColumn& x, KeyColumn& y,
                                 KeyColumn& z) const {
  fold_words<Key>(buckets_, range, d_, x_, y_, z_, x.keys, y.keys, z.keys);
}

}  // namespace tinyot::offline
