#include "offline/auth_ot.h"

#include "offline/combiner.h"

namespace tinyot {
namespace {

constexpr MessageTag kD{0x1701, "aot.d"};

// x0 and x1: the same linear map for MACs and keys.
template <class Word>
void fold_messages(const Buckets& buckets, const BucketRange& range, std::span<const Word> x0, std::span<const Word> x1,
                   std::span<Word> out_x0, std::span<Word> out_x1) {
  const auto ahead = [&](std::uint32_t object) {
    fetch(x0[object]);
    fetch(x1[object]);
  };
  fold(
      buckets, range, ahead,
      [&](std::size_t out, std::uint32_t object) {
        out_x0[out] = x0[object];
        out_x1[out] = x1[object];
      },
      [&](std::size_t out, std::uint32_t object, std::size_t) {
        out_x1[out] = out_x0[out] ^ x1[object];
        out_x0[out] ^= x0[object];
      });
}

// c and z, likewise.
template <class Word>
void fold_choices(const Buckets& buckets, const BucketRange& range, const BitVector& d, std::span<const Word> c, std::span<const Word> z,
                  std::span<Word> out_c, std::span<Word> out_z) {
  const auto ahead = [&](std::uint32_t object) {
    fetch(c[object]);
    fetch(z[object]);
  };
  fold(
      buckets, range, ahead,
      [&](std::size_t out, std::uint32_t object) {
        out_c[out] = c[object];
        out_z[out] = z[object];
      },
      [&](std::size_t out, std::uint32_t object, std::size_t combiner) {
        out_z[out] ^= z[object] ^ Word{times(out_c[out].value, d[combiner])};
        out_c[out] ^= c[object];
      });
}

}  // namespace

void AuthOtSender::reveal(Session& session) {
  d_ = combiner_bits(buckets_, [&](std::size_t, std::uint32_t, std::uint32_t previous, std::uint32_t object) {
    return x0_.bit(previous) ^ x1_.bit(previous) ^ x0_.bit(object) ^ x1_.bit(object);
  });
  reveal_bits(session, kD, d_);
  for_each_combiner_word<Mac>(
      buckets_,
      [&](std::uint32_t object) {
        fetch(x0_.macs[object]);
        fetch(x1_.macs[object]);
      },
      [&](std::uint32_t, std::uint32_t previous, std::uint32_t object) {
        return x0_.macs[previous] ^ x1_.macs[previous] ^ x0_.macs[object] ^ x1_.macs[object];
      },
      [&](std::span<Mac> macs, std::size_t) { absorb_my_macs(session, macs); });
}

void AuthOtSender::fold_into(const BucketRange& range, AuthBitsMine& x0, AuthBitsMine& x1, AuthBitsPeers& c, AuthBitsPeers& z) const {
  fold_messages<Mac>(buckets_, range, x0_.macs, x1_.macs, x0.macs, x1.macs);
  fold_choices<Key>(buckets_, range, d_, c_, z_, c.keys, z.keys);
  fold(
      buckets_, range, [](std::uint32_t) {},
      [&](std::size_t out, std::uint32_t object) {
        x0.bits.put(out, x0_.bit(object));
        x1.bits.put(out, x1_.bit(object));
      },
      [&](std::size_t out, std::uint32_t object, std::size_t) {
        x1.bits.put(out, x0.bits[out] ^ x1_.bit(object));
        x0.bits.put(out, x0.bits[out] ^ x0_.bit(object));
      });
}

void AuthOtReceiver::receive(Session& session) {
  d_ = receive_revealed_bits(session, kD, combiner_count(buckets_));
  for_each_combiner_word<Key>(
      buckets_,
      [&](std::uint32_t object) {
        fetch(x0_[object]);
        fetch(x1_[object]);
      },
      [&](std::uint32_t, std::uint32_t previous, std::uint32_t object) {
        return x0_[previous] ^ x1_[previous] ^ x0_[object] ^ x1_[object];
      },
      [&](std::span<Key> keys, std::size_t first) { absorb_peers_keys(session, keys, d_, first); });
}

void AuthOtReceiver::fold_into(const BucketRange& range, AuthBitsPeers& x0, AuthBitsPeers& x1, AuthBitsMine& c, AuthBitsMine& z) const {
  fold_messages<Key>(buckets_, range, x0_, x1_, x0.keys, x1.keys);
  fold_choices<Mac>(buckets_, range, d_, c_.macs, z_.macs, c.macs, z.macs);
  fold(
      buckets_, range, [](std::uint32_t) {},
      [&](std::size_t out, std::uint32_t object) {
        c.bits.put(out, c_.bit(object));
        z.bits.put(out, z_.bit(object));
      },
      [&](std::size_t out, std::uint32_t object, std::size_t combiner) {
        z.bits.put(out, z.bits[out] ^ z_.bit(object) ^ (d_[combiner] & c.bits[out]));
        c.bits.put(out, c.bits[out] ^ c_.bit(object));
      });
}

}  // namespace tinyot
