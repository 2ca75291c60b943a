#include "offline/leaky_triple.h"

#include "base/error.h"

namespace tinyot {
namespace {

constexpr MessageTag kG{0x1B01, "latriple.g"};
constexpr MessageTag kD{0x1B02, "latriple.d"};

constexpr std::string_view kKind = "LaTriple";

std::uint64_t low_bit_of(Party me) { return me == Party::B ? 1 : 0; }

}  // namespace

bool fits_triples(const Session& session) { return (session.global_key().value.lo & 1) == low_bit_of(session.me()); }

Delta fitted_to_triples(Delta key, Party me) {
  key.value.lo = (key.value.lo & ~std::uint64_t{1}) | low_bit_of(me);
  return key;
}

LeakyTriples::LeakyTriples(Session& session, std::uint64_t batch, SharedView x, SharedView y, SharedView r)
    : session_(session), batch_(batch), x_(x), y_(y), z_(r), digest_(session.id(), {"LaTriple EQ", '*', batch}) {
  ENSURE(fits_triples(session));
}

void LeakyTriples::offer(const ObjectChunk& chunk) {
  const SharedView x = x_.part(chunk.first, chunk.count), y = y_.part(chunk.first, chunk.count);
  const Delta delta = session_.global_key();
  SecretVector<Block> zero(chunk.count), one(chunk.count);
  for (std::size_t i = 0; i < chunk.count; ++i) {
    zero[i] = x.peers[i].value;
    one[i] = moved(x.peers[i], delta, true).value;
  }
  const TweakHash hash = hash_of_chunk(session_, kKind, session_.peer(), chunk, batch_);
  hash(HashUse::LeakyTriple, 0, zero, zero);
  hash(HashUse::LeakyTriple, 0, one, one);
  for (std::size_t i = 0; i < chunk.count; ++i) {
    // Step 1: C_P = y_P.Delta^P ^ M[y_P] ^ K[y'].
    const Block c = times(delta.value, y.mine.bit(i)) ^ y.mine.macs[i].value ^ y.peers[i].value;
    // Step 2.
    one[i] ^= zero[i] ^ c;
    zero[i] ^= times(c, x.mine.bit(i));
  }
  send_words(session_.channel(), kG, std::span<const Block>(one));
  offered_.push(std::move(zero));
}

void LeakyTriples::announce(const ObjectChunk& chunk) {
  const SharedView x = x_.part(chunk.first, chunk.count), r = z_.part(chunk.first, chunk.count);
  SecretVector<Block> g(chunk.count), s = std::move(offered_.front()), hashed(chunk.count);
  offered_.pop();
  recv_words(session_.channel(), kG, std::span(g));
  hash_of_chunk(session_, kKind, session_.me(), chunk, batch_)(HashUse::LeakyTriple, 0, as_blocks(std::span<const Mac>(x.mine.macs)), hashed);
  BitVector d(chunk.count);
  for (std::size_t first = 0; first < chunk.count; first += 64) {
    std::uint64_t z = 0;
    for (std::size_t i = first; i < std::min(first + 64, chunk.count); ++i) {
      // Step 3: S_P = H(M[x_P]) ^ x_P.G ^ H(K[x']) ^ x_P.C_P.
      s[i] ^= hashed[i] ^ times(g[i], x.mine.bit(i));
      z |= (s[i].lo & 1) << (i - first);
    }
    // Step 4: z_P = lsb(S_P).
    d.words()[first / 64] = z ^ r.mine.bits[first / 64];
    r.mine.bits[first / 64] = z;
  }
  d.clear_padding();
  send_bits(session_.channel(), kD, d);
  announced_.push(std::move(s));
}

void LeakyTriples::finish(const ObjectChunk& chunk) {
  const SharedView z = z_.part(chunk.first, chunk.count);
  const Delta delta = session_.global_key();
  const BitVector d = recv_bits(session_.channel(), kD, chunk.count);
  SecretVector<Block> l = std::move(announced_.front());
  announced_.pop();
  for (std::size_t i = 0; i < chunk.count; ++i) {
    z.peers[i] = moved(z.peers[i], delta, d[i]);
    // Step 5: L_P = S_P ^ z_P.Delta^P ^ M[z_P] ^ K[z'].
    l[i] ^= times(delta.value, z.mine.bit(i)) ^ z.mine.macs[i].value ^ z.peers[i].value;
  }
  digest_.absorb(std::as_bytes(std::span(l)));
}

}  // namespace tinyot
