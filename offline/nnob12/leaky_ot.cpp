#include "offline/nnob12/leaky_ot.h"

#include "base/declassify.h"
#include "base/error.h"
#include "crypto/tweak_hash.h"

namespace tinyot::offline {
namespace {

constexpr net::MessageTag kXBits = net::message_tag("laot.x.bits");
constexpr net::MessageTag kXMacs = net::message_tag("laot.x.macs");
constexpr net::MessageTag kXT = net::message_tag("laot.x.t");
constexpr net::MessageTag kLeakyOtD = net::message_tag("laot.d");
constexpr net::MessageTag kI = net::message_tag("laot.i");

constexpr crypto::Phase kLeakyOtKind = "LaOT";

constexpr Block select(Block if_zero, Block if_one, bool bit) {
  return if_zero ^ times(if_zero ^ if_one, bit);
}

// X_b without its pads, in the order on the wire: the bit, the MAC, T.
struct Padded {
  explicit Padded(std::size_t count) : bits(count), macs(count), t(count) {}
  BitVector bits;
  SecretVector<Block> macs, t;
};

// Adds or removes the pads H(k): `k` is K_c for X_0, K_c ^ Delta for X_1, M_c for the X that the
// receiver opens.
void pad(const crypto::TweakHash& hash, std::span<const Block> k, Padded& x) {
  SecretVector<Block> mask(k.size());
  hash(crypto::HashUse::LeakyOtBit, 0, k, mask);
  for (std::size_t i = 0; i < k.size(); ++i) x.bits.put(i, x.bits[i] ^ (mask[i].lo & 1));
  hash(crypto::HashUse::LeakyOtMac, 0, k, mask);
  for (std::size_t i = 0; i < k.size(); ++i) x.macs[i] ^= mask[i];
  hash(crypto::HashUse::LeakyOtT, 0, k, mask);
  for (std::size_t i = 0; i < k.size(); ++i) x.t[i] ^= mask[i];
}

void send_padded(net::Channel& channel, const Padded& x) {
  net::send_bits(channel, kXBits, x.bits);
  net::send_words(channel, kXMacs, std::span<const Block>(x.macs));
  net::send_words(channel, kXT, std::span<const Block>(x.t));
}

Padded recv_padded(net::Channel& channel, std::size_t count) {
  Padded x(count);
  x.bits = net::recv_bits(channel, kXBits, count);
  net::recv_words(channel, kXMacs, std::span(x.macs));
  net::recv_words(channel, kXT, std::span(x.t));
  return x;
}

}  // namespace

LeakyOtSender::LeakyOtSender(checks::Session& session, MacColumnView x0, MacColumnView x1,
                             KeyColumnView c, KeyColumnView r)
    : session_(session), x0_(x0), x1_(x1), c_(c), z_(r),
      digest_(session.id(), {"LaOT EQ", letter(session.me()), 0}) {}

void LeakyOtSender::send_x(const ObjectChunk& chunk) {
  const crypto::TweakHash hash = hash_of_chunk(session_, kLeakyOtKind, session_.me(), chunk);
  // Step 3.
  Transferred t{SecretVector<Block>(chunk.count), SecretVector<Block>(chunk.count)};
  session_.rng().fill_blocks(std::span(t.t0));
  session_.rng().fill_blocks(std::span(t.t1));
  // Step 4: X_b = H(K_c ^ b.Delta) ^ (x_b || M_{x_b} || T_{x_b}); T is indexed by the value of the
  // bit.
  SecretVector<Block> key(chunk.count);
  for (const bool b : {false, true}) {
    const MacColumnView x = (b ? x1_ : x0_).part(chunk.first, chunk.count);
    Padded message(chunk.count);
    for (std::size_t i = 0; i < chunk.count; ++i) {
      key[i] = xor_public_bit(c_[chunk.first + i], session_.global_key(), b).value;
      message.bits.put(i, x.bit(i));
      message.macs[i] = x.macs[i].value;
      message.t[i] = select(t.t0[i], t.t1[i], x.bit(i));
    }
    pad(hash, key, message);
    send_padded(session_.channel(), message);
  }
  under_way_.push(std::move(t));
}

void LeakyOtSender::answer_d(const ObjectChunk& chunk) {
  const crypto::TweakHash hash = hash_of_chunk(session_, kLeakyOtKind, session_.me(), chunk);
  const KeyColumnView z = z_.subspan(chunk.first, chunk.count);
  const ScopedSecret<Delta> delta(session_.global_key());
  const BitVector d = net::recv_bits(session_.channel(), kLeakyOtD, chunk.count);
  const Transferred t = std::move(under_way_.front());
  under_way_.pop();
  // Step 7: I_0 = H(K_z) ^ T_1, I_1 = H(K_z ^ Delta) ^ T_0.
  SecretVector<Block> i0(chunk.count), i1(chunk.count);
  for (std::size_t i = 0; i < chunk.count; ++i) {
    z[i] = xor_public_bit(z[i], delta, d[i]);
    i0[i] = z[i].value;
    i1[i] = xor_public_bit(z[i], delta, true).value;
  }
  hash(crypto::HashUse::LeakyOtTransfer, 0, i0, i0);
  hash(crypto::HashUse::LeakyOtTransfer, 0, i1, i1);
  for (std::size_t i = 0; i < chunk.count; ++i) {
    i0[i] ^= t.t1[i];
    i1[i] ^= t.t0[i];
  }
  net::send_words(session_.channel(), kI, std::span<const Block>(i0));
  net::send_words(session_.channel(), kI, std::span<const Block>(i1));
  digest_.absorb(std::as_bytes(std::span(t.t0))).absorb(std::as_bytes(std::span(t.t1)));
}

LeakyOtReceiver::LeakyOtReceiver(checks::Session& session, KeyColumnView x0, KeyColumnView x1,
                                 MacColumnView c, MacColumnView r)
    : session_(session), x0_(x0), x1_(x1), c_(c), z_(r),
      digest_(session.id(), {"LaOT EQ", letter(session.peer()), 0}) {}

void LeakyOtReceiver::open_x(const ObjectChunk& chunk) {
  const crypto::TweakHash hash = hash_of_chunk(session_, kLeakyOtKind, session_.peer(), chunk);
  const MacColumnView c = c_.part(chunk.first, chunk.count), z = z_.part(chunk.first, chunk.count);
  // Step 5: (x_c || M || T) = X_c ^ H(M_c).
  const Padded x0 = recv_padded(session_.channel(), chunk.count),
               x1 = recv_padded(session_.channel(), chunk.count);
  Padded opened(chunk.count);
  for (std::size_t w = 0; w < opened.bits.words().size(); ++w)
    opened.bits.words()[w] =
        x0.bits.words()[w] ^ ((x0.bits.words()[w] ^ x1.bits.words()[w]) & c.bits[w]);
  for (std::size_t i = 0; i < chunk.count; ++i) {
    opened.macs[i] = select(x0.macs[i], x1.macs[i], c.bit(i));
    opened.t[i] = select(x0.t[i], x1.t[i], c.bit(i));
  }
  pad(hash, as_blocks(std::span<const Mac>(c.macs)), opened);
  // The MAC of x_c must be K_{x_c} ^ x_c.Delta. The whole chunk is compared before anything is
  // sent.
  Block difference{0, 0};
  for (std::size_t i = 0; i < chunk.count; ++i) {
    const Key key{select(x0_[chunk.first + i].value, x1_[chunk.first + i].value, c.bit(i))};
    const Block wrong = (key ^ session_.global_key() * opened.bits[i]).value ^ opened.macs[i];
    difference = {difference.lo | wrong.lo, difference.hi | wrong.hi};
  }
  if (declassified(difference.lo | difference.hi) != 0) throw PeerCheated("LaOT MAC");
  // Step 6: d = x_c ^ r, z = r ^ d = x_c.
  BitVector d(chunk.count);
  for (std::size_t w = 0; w < d.words().size(); ++w) {
    d.words()[w] = opened.bits.words()[w] ^ z.bits[w];
    z.bits[w] = opened.bits.words()[w];
  }
  d.clear_padding();
  net::send_bits(session_.channel(), kLeakyOtD, d);
  opened_.push(std::move(opened.t));
}

void LeakyOtReceiver::receive_i(const ObjectChunk& chunk) {
  const crypto::TweakHash hash = hash_of_chunk(session_, kLeakyOtKind, session_.peer(), chunk);
  const MacColumnView z = z_.part(chunk.first, chunk.count);
  SecretVector<Block> i0(chunk.count), i1(chunk.count), other(chunk.count);
  net::recv_words(session_.channel(), kI, std::span(i0));
  net::recv_words(session_.channel(), kI, std::span(i1));
  hash(crypto::HashUse::LeakyOtTransfer, 0, as_blocks(std::span<const Mac>(z.macs)), other);
  const SecretVector<Block> t = std::move(opened_.front());
  opened_.pop();
  // Step 8: T_{1-z} = I_z ^ H(M_z), beside T_z from step 5; then T_0 and T_1 in their places.
  for (std::size_t i = 0; i < chunk.count; ++i) {
    other[i] ^= select(i0[i], i1[i], z.bit(i));
    i0[i] = select(t[i], other[i], z.bit(i));
    i1[i] = select(other[i], t[i], z.bit(i));
  }
  digest_.absorb(std::as_bytes(std::span(i0))).absorb(std::as_bytes(std::span(i1)));
}

}  // namespace tinyot::offline
