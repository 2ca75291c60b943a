#include "offline/nnob12/auth_ot.h"

#include "offline/nnob12/combiner.h"

namespace tinyot::offline {
namespace {

constexpr net::MessageTag kAuthOtD = net::message_tag("aot.d");

// x0 and x1, or c and z, during the fold: bits, MACs or keys.
template <class T>
struct FoldedOt {
  T first, second;
};

template <class Word, class Next>
void fold_words(const Buckets& buckets, const BucketRange& range, std::span<const Word> first,
                std::span<const Word> second, std::span<Word> out_first, std::span<Word> out_second,
                Next next) {
  fold(
      buckets, range,
      [&](std::uint32_t object, std::size_t) {
        fetch(first[object]);
        fetch(second[object]);
      },
      [&](std::uint32_t object) {
        return FoldedOt<Word>{first[object], second[object]};
      },
      next,
      [&](std::size_t out, const FoldedOt<Word>& folded) {
        out_first[out] = folded.first;
        out_second[out] = folded.second;
      });
}

template <class Next>
void fold_bits(const Buckets& buckets, const BucketRange& range, const MacColumnView& first,
               const MacColumnView& second, BitVector& out_first, BitVector& out_second,
               Next next) {
  fold(
      buckets, range, [](std::uint32_t, std::size_t) {},
      [&](std::uint32_t object) {
        return FoldedOt<bool>{first.bit(object), second.bit(object)};
      },
      next,
      [&](std::size_t out, const FoldedOt<bool>& folded) {
        out_first.put(out, folded.first);
        out_second.put(out, folded.second);
      });
}

// x0 and x1: the same linear map for MACs and keys.
template <class Word>
void fold_messages(const Buckets& buckets, const BucketRange& range, std::span<const Word> x0,
                   std::span<const Word> x1, std::span<Word> out_x0, std::span<Word> out_x1) {
  fold_words(buckets, range, x0, x1, out_x0, out_x1,
             [&](FoldedOt<Word>& folded, std::uint32_t object, std::size_t) {
               folded.second = folded.first ^ x1[object];
               folded.first ^= x0[object];
             });
}

// c and z, likewise.
template <class Word>
void fold_choices(const Buckets& buckets, const BucketRange& range, const BitVector& d,
                  std::span<const Word> c, std::span<const Word> z, std::span<Word> out_c,
                  std::span<Word> out_z) {
  fold_words(buckets, range, c, z, out_c, out_z,
             [&](FoldedOt<Word>& folded, std::uint32_t object, std::size_t combiner) {
               folded.second ^= z[object] ^ Word { times(folded.first.value, d[combiner]) };
               folded.first ^= c[object];
             });
}

}  // namespace

void AuthOtSender::reveal(checks::Session& session) {
  d_ = combiner_bits(
      buckets_, [&](std::size_t, std::uint32_t, std::uint32_t previous, std::uint32_t object) {
        return x0_.bit(previous) ^ x1_.bit(previous) ^ x0_.bit(object) ^ x1_.bit(object);
      });
  checks::reveal_bits(session, kAuthOtD, d_);
  for_each_combiner_word<Mac>(
      buckets_,
      [&](std::uint32_t object) {
        fetch(x0_.macs[object]);
        fetch(x1_.macs[object]);
      },
      [&](std::uint32_t, std::uint32_t previous, std::uint32_t object) {
        return x0_.macs[previous] ^ x1_.macs[previous] ^ x0_.macs[object] ^ x1_.macs[object];
      },
      [&](std::span<Mac> macs, std::size_t) { checks::absorb_my_macs(session, macs); });
}

void AuthOtSender::fold_into(const BucketRange& range, MacColumn& x0, MacColumn& x1, KeyColumn& c,
                             KeyColumn& z) const {
  fold_messages<Mac>(buckets_, range, x0_.macs, x1_.macs, x0.macs, x1.macs);
  fold_choices<Key>(buckets_, range, d_, c_, z_, c.keys, z.keys);
  fold_bits(buckets_, range, x0_, x1_, x0.bits, x1.bits,
            [&](FoldedOt<bool>& folded, std::uint32_t object, std::size_t) {
              folded.second = folded.first ^ x1_.bit(object);
              folded.first ^= x0_.bit(object);
            });
}

void AuthOtReceiver::receive(checks::Session& session) {
  d_ = checks::receive_revealed_bits(session, kAuthOtD, combiner_count(buckets_));
  for_each_combiner_word<Key>(
      buckets_,
      [&](std::uint32_t object) {
        fetch(x0_[object]);
        fetch(x1_[object]);
      },
      [&](std::uint32_t, std::uint32_t previous, std::uint32_t object) {
        return x0_[previous] ^ x1_[previous] ^ x0_[object] ^ x1_[object];
      },
      [&](std::span<Key> keys, std::size_t first) {
        checks::absorb_peers_keys(session, keys, d_, first);
      });
}

void AuthOtReceiver::fold_into(const BucketRange& range, KeyColumn& x0, KeyColumn& x1, MacColumn& c,
                               MacColumn& z) const {
  fold_messages<Key>(buckets_, range, x0_, x1_, x0.keys, x1.keys);
  fold_choices<Mac>(buckets_, range, d_, c_.macs, z_.macs, c.macs, z.macs);
  fold_bits(buckets_, range, c_, z_, c.bits, z.bits,
            [&](FoldedOt<bool>& folded, std::uint32_t object, std::size_t combiner) {
              folded.second ^= z_.bit(object) ^ (d_[combiner] & folded.first);
              folded.first ^= c_.bit(object);
            });
}

}  // namespace tinyot::offline
