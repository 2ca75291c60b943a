#include "offline/auth_and.h"

#include "offline/combiner.h"

namespace tinyot {
namespace {

constexpr MessageTag kD{0x1601, "aand.d"};

// The fold of MACs or of keys: the same linear map.
template <class Word>
void fold_words(const Buckets& buckets, const BucketRange& range, const BitVector& d, std::span<const Word> x, std::span<const Word> y,
                std::span<const Word> z, std::span<Word> out_x, std::span<Word> out_y, std::span<Word> out_z) {
  const auto ahead = [&](std::uint32_t object) {
    fetch(x[object]);
    fetch(y[object]);
    fetch(z[object]);
  };
  fold(
      buckets, range, ahead,
      [&](std::size_t out, std::uint32_t object) {
        out_x[out] = x[object];
        out_y[out] = y[object];
        out_z[out] = z[object];
      },
      [&](std::size_t out, std::uint32_t object, std::size_t combiner) {
        out_x[out] ^= x[object];
        out_z[out] ^= z[object] ^ Word{times(x[object].value, d[combiner])};
      });
}

}  // namespace

void AuthAndMacHolder::reveal(Session& session) {
  d_ = combiner_bits(buckets_, [&](std::size_t, std::uint32_t first, std::uint32_t, std::uint32_t object) {
    return y_.bit(first) ^ y_.bit(object);
  });
  reveal_bits(session, kD, d_);
  for_each_combiner_word<Mac>(
      buckets_, [&](std::uint32_t object) { fetch(y_.macs[object]); },
      [&](std::uint32_t first, std::uint32_t, std::uint32_t object) { return y_.macs[first] ^ y_.macs[object]; },
      [&](std::span<Mac> macs, std::size_t) { absorb_my_macs(session, macs); });
}

void AuthAndMacHolder::fold_into(const BucketRange& range, AuthBitsMine& x, AuthBitsMine& y, AuthBitsMine& z) const {
  fold_words<Mac>(buckets_, range, d_, x_.macs, y_.macs, z_.macs, x.macs, y.macs, z.macs);
  fold(
      buckets_, range, [](std::uint32_t) {},
      [&](std::size_t out, std::uint32_t object) {
        x.bits.put(out, x_.bit(object));
        y.bits.put(out, y_.bit(object));
        z.bits.put(out, z_.bit(object));
      },
      [&](std::size_t out, std::uint32_t object, std::size_t combiner) {
        x.bits.put(out, x.bits[out] ^ x_.bit(object));
        z.bits.put(out, z.bits[out] ^ z_.bit(object) ^ (d_[combiner] & x_.bit(object)));
      });
}

void AuthAndKeyHolder::receive(Session& session) {
  d_ = receive_revealed_bits(session, kD, combiner_count(buckets_));
  for_each_combiner_word<Key>(
      buckets_, [&](std::uint32_t object) { fetch(y_[object]); },
      [&](std::uint32_t first, std::uint32_t, std::uint32_t object) { return y_[first] ^ y_[object]; },
      [&](std::span<Key> keys, std::size_t first) { absorb_peers_keys(session, keys, d_, first); });
}

void AuthAndKeyHolder::fold_into(const BucketRange& range, AuthBitsPeers& x, AuthBitsPeers& y, AuthBitsPeers& z) const {
  fold_words<Key>(buckets_, range, d_, x_, y_, z_, x.keys, y.keys, z.keys);
}

}  // namespace tinyot
