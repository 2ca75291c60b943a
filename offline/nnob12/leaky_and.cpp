#include "offline/nnob12/leaky_and.h"

#include "base/error.h"
#include "crypto/tweak_hash.h"

namespace tinyot::offline {
namespace {

constexpr net::MessageTag kLeakyAndD = net::message_tag("laand.d");
constexpr net::MessageTag kU = net::message_tag("laand.u");

constexpr crypto::Phase kLeakyAndKind = "LaAND";

}  // namespace

LeakyAndMacHolder::LeakyAndMacHolder(checks::Session& session, MacColumnView x, MacColumnView y,
                                     MacColumnView r)
    : session_(session), x_(x), y_(y), z_(r),
      digest_(session.id(), {"LaAND EQ", letter(session.me()), 0}) {}

void LeakyAndMacHolder::announce(const ObjectChunk& chunk) {
  const MacColumnView x = x_.part(chunk.first, chunk.count), y = y_.part(chunk.first, chunk.count),
                      z = z_.part(chunk.first, chunk.count);
  BitVector d(chunk.count);
  for (std::size_t w = 0; w < d.words().size(); ++w) {
    const std::uint64_t product = x.bits[w] & y.bits[w];
    d.words()[w] = product ^ z.bits[w];
    z.bits[w] = product;
  }
  d.clear_padding();
  net::send_bits(session_.channel(), kLeakyAndD, d);
}

void LeakyAndMacHolder::receive_u(const ObjectChunk& chunk) {
  const MacColumnView x = x_.part(chunk.first, chunk.count), y = y_.part(chunk.first, chunk.count),
                      z = z_.part(chunk.first, chunk.count);
  SecretVector<Block> u(chunk.count), v(chunk.count);
  net::recv_words(session_.channel(), kU, std::span(u));
  for (std::size_t i = 0; i < chunk.count; ++i)
    v[i] = crypto::collapsed(x.macs[i].value, z.macs[i].value ^ times(y.macs[i].value, x.bit(i)));
  hash_of_chunk(session_, kLeakyAndKind, session_.me(), chunk)(crypto::HashUse::LeakyAnd, 0, v, v);
  for (std::size_t i = 0; i < chunk.count; ++i) v[i] ^= times(u[i], x.bit(i));
  digest_.absorb(std::as_bytes(std::span(v)));
}

LeakyAndKeyHolder::LeakyAndKeyHolder(checks::Session& session, KeyColumnView x, KeyColumnView y,
                                     KeyColumnView r)
    : session_(session), x_(x), y_(y), z_(r),
      digest_(session.id(), {"LaAND EQ", letter(session.peer()), 0}) {}

void LeakyAndKeyHolder::answer(const ObjectChunk& chunk) {
  const KeyColumnView x = x_.subspan(chunk.first, chunk.count),
                      y = y_.subspan(chunk.first, chunk.count),
                      z = z_.subspan(chunk.first, chunk.count);
  const ScopedSecret<Delta> delta(session_.global_key());
  const BitVector d = net::recv_bits(session_.channel(), kLeakyAndD, chunk.count);
  SecretVector<Block> zero(chunk.count), one(chunk.count);
  for (std::size_t i = 0; i < chunk.count; ++i) {
    z[i] = xor_public_bit(z[i], delta, d[i]);
    zero[i] = crypto::collapsed(x[i].value, z[i].value);
    one[i] = crypto::collapsed(x[i].value ^ delta->value, y[i].value ^ z[i].value);
  }
  const crypto::TweakHash hash = hash_of_chunk(session_, kLeakyAndKind, session_.peer(), chunk);
  hash(crypto::HashUse::LeakyAnd, 0, zero, zero);
  hash(crypto::HashUse::LeakyAnd, 0, one, one);
  digest_.absorb(std::as_bytes(std::span(zero)));
  for (std::size_t i = 0; i < chunk.count; ++i) one[i] ^= zero[i];
  net::send_words(session_.channel(), kU, std::span<const Block>(one));
}

}  // namespace tinyot::offline
