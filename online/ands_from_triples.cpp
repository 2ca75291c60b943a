#include "online/ands_from_triples.h"

#include "base/error.h"
#include "checks/opening.h"

namespace tinyot {
namespace {

constexpr MessageTag kMasked{0x2003, "and.de"};

template <class Word>
void add(SecretVector<Word>& sum, const SecretVector<Word>& more) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] ^= more[i];
}

// MACs or keys of e.[a] ^ d.[b], the same linear map for both, added to those of [c].
template <class Word>
void add_products(SecretVector<Word>& c, const SecretVector<Word>& a, const BitVector& e, const SecretVector<Word>& b, const BitVector& d) {
  for (std::size_t i = 0; i < c.size(); ++i) c[i] ^= Word{times(a[i].value, e[i])} ^ Word{times(b[i].value, d[i])};
}

}  // namespace

Operand ands_from_triples(Session& session, MaterialSource& source, Operand x, Operand y) {
  const std::size_t n = x.size();
  MaterialBatch triples = source.draw(MaterialKind::Triples, n);
  AuthBitsMine &a = triples.mine[0], &b = triples.mine[1], &c = triples.mine[2];
  SecretVector<Key> &a_keys = triples.peers[0].keys, &b_keys = triples.peers[1].keys, &c_keys = triples.peers[2].keys;

  // My shares of d and e, then the peer's.
  BitVector& d = x.bits ^= a.bits;
  BitVector& e = y.bits ^= b.bits;
  BitVector message(2 * n);
  message.copy_from(d, 0, 0, n);
  message.copy_from(e, 0, n, n);
  reveal_bits(session, kMasked, message);
  add(x.macs, a.macs);
  add(y.macs, b.macs);
  absorb_my_macs(session, x.macs);
  absorb_my_macs(session, y.macs);

  const BitVector peers = receive_revealed_bits(session, kMasked, 2 * n);
  add(x.keys, a_keys);
  add(y.keys, b_keys);
  absorb_peers_keys(session, x.keys, peers, 0);
  absorb_peers_keys(session, y.keys, peers, n);
  BitVector peers_share(n);
  peers_share.copy_from(peers, 0, 0, n);
  d ^= peers_share;
  peers_share.copy_from(peers, n, 0, n);
  e ^= peers_share;

  const bool adds_constant = session.me() == Party::A;
  for (std::size_t w = 0; w < c.bits.words().size(); ++w) {
    const std::uint64_t product = d.words()[w] & e.words()[w];
    c.bits.words()[w] ^= (e.words()[w] & a.bits.words()[w]) ^ (d.words()[w] & b.bits.words()[w]) ^ (adds_constant ? product : 0);
  }
  add_products(c.macs, a.macs, e, b.macs, d);
  add_products(c_keys, a_keys, e, b_keys, d);
  if (!adds_constant)
    for (std::size_t i = 0; i < n; ++i) c_keys[i] = moved(c_keys[i], session.global_key(), d[i] & e[i]);
  Operand z(0);
  z.bits = std::move(c.bits);
  z.macs = std::move(c.macs);
  z.keys = std::move(c_keys);
  return z;
}

}  // namespace tinyot
