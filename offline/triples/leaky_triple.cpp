#include "offline/triples/leaky_triple.h"

#include "base/error.h"

namespace tinyot::offline {
namespace {

constexpr net::MessageTag kG = net::message_tag("latriple.g");
constexpr net::MessageTag kLeakyTripleD = net::message_tag("latriple.d");

constexpr crypto::Phase kLeakyTripleKind = "LaTriple";
constexpr crypto::Phase kProductsSum = "LaTriple sum", kProductsCheck = "LaTriple EQ";

crypto::TweakHash hash_of(const checks::Session& session, Party owner, const ObjectChunk& chunk,
                          std::uint64_t layer) {
  return hash_of_chunk(session, kLeakyTripleKind, owner, chunk, layer);
}

SecretVector<Block> taken_from(std::queue<SecretVector<Block>>& waiting) {
  SecretVector<Block> strings = std::move(waiting.front());
  waiting.pop();
  return strings;
}

}  // namespace

LeakyTriples::LeakyTriples(checks::Session& session)
    : session_(session),
      sum_(session.id(), {kProductsSum, '*', 0}, crypto::HashUse::LeakyTripleCheck) {
  ENSURE(fits_triples(session));
}

void LeakyTriples::offer(std::uint64_t layer, const ObjectChunk& chunk, const SharedView& x,
                         const SharedView& y) {
  const ScopedSecret<Block> delta(session_.global_key().value);
  SecretVector<Block> g(chunk.count), s(chunk.count), hashed(chunk.count);
  for (std::size_t i = 0; i < chunk.count; ++i) g[i] = x.peers[i].value ^ delta;
  const crypto::TweakHash hash = hash_of(session_, session_.peer(), chunk, layer);
  hash(crypto::HashUse::LeakyTriple, 0, as_blocks(std::span<const Key>(x.peers)), s);
  hash(crypto::HashUse::LeakyTriple, 0, g, g);
  hash_of(session_, session_.me(), chunk, layer)(
      crypto::HashUse::LeakyTriple, 0, as_blocks(std::span<const Mac>(x.mine.macs)), hashed);
  for (std::size_t i = 0; i < chunk.count; ++i) {
    // Step 1: C_P = y_P.Delta^P ^ M[y_P] ^ K[y'].
    const Block c = times(delta, y.mine.bit(i)) ^ y.mine.macs[i].value ^ y.peers[i].value;
    // Step 2: G_P = H(K[x']) ^ H(K[x'] ^ Delta^P) ^ C_P.
    g[i] ^= s[i] ^ c;
    // Step 3, without G: H(M[x_P]) ^ H(K[x']) ^ x_P.C_P.
    s[i] ^= hashed[i] ^ times(c, x.mine.bit(i));
  }
  net::send_words(session_.channel(), kG, std::span<const Block>(g));
  offered_.push(std::move(s));
}

void LeakyTriples::announce(const SharedView& x, const SharedView& r) {
  SecretVector<Block> s = taken_from(offered_);
  SecretVector<Block> g(s.size());
  net::recv_words(session_.channel(), kG, std::span(g));
  for (std::size_t i = 0; i < s.size(); ++i) s[i] ^= times(g[i], x.mine.bit(i));
  BitVector d(s.size());
  for (std::size_t first = 0; first < s.size(); first += 64) {
    std::uint64_t z = 0;
    for (std::size_t i = first; i < std::min(first + 64, s.size()); ++i)
      z |= (s[i].lo & 1) << (i - first);
    d.words()[first / 64] = z ^ r.mine.bits[first / 64];
    r.mine.bits[first / 64] = z;
  }
  d.clear_padding();
  net::send_bits(session_.channel(), kLeakyTripleD, d);
  announced_.push(std::move(s));
}

void LeakyTriples::finish(const SharedView& z) {
  const ScopedSecret<Delta> delta(session_.global_key());
  SecretVector<Block> s = taken_from(announced_);
  const BitVector d = net::recv_bits(session_.channel(), kLeakyTripleD, s.size());
  for (std::size_t i = 0; i < s.size(); ++i) {
    z.peers[i] = xor_public_bit(z.peers[i], delta, d[i]);
    // L_P = S_P ^ z_P.Delta^P ^ M[z_P] ^ K[z'].
    s[i] ^= times(delta->value, z.mine.bit(i)) ^ z.mine.macs[i].value ^ z.peers[i].value;
  }
  sum_.absorb(s);
}

crypto::Digest LeakyTriples::check_digest() {
  return crypto::RandomOracle(session_.id(), {kProductsCheck, '*', 0})
      .absorb_object(sum_.take())
      .digest();
}

}  // namespace tinyot::offline
