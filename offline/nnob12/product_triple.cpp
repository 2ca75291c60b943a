#include "offline/nnob12/product_triple.h"

#include <utility>

#include "base/error.h"
#include "checks/opening.h"
#include "offline/unit/unit_maker.h"

namespace tinyot::offline {
namespace {

constexpr net::MessageTag kFirst = net::message_tag("product.dh");
constexpr net::MessageTag kSecond = net::message_tag("product.e");

// The figure's names of the columns of a chunk.
struct Mine {
  explicit Mine(ProductMaterial& m)
      : u(m.my_and.mine[0]), v(m.my_and.mine[1]), w(m.my_and.mine[2]), u0(m.sent.mine[0]),
        u1(m.sent.mine[1]), c(m.chosen.mine[0]), s(m.chosen.mine[1]), r(m.my_bit.mine[0]) {}
  MacColumn &u, &v, &w, &u0, &u1, &c, &s, &r;
};
struct Peers {
  explicit Peers(ProductMaterial& m)
      : u(m.peers_and.peers[0].keys), v(m.peers_and.peers[1].keys), w(m.peers_and.peers[2].keys),
        u0(m.chosen.peers[0].keys), u1(m.chosen.peers[1].keys), c(m.sent.peers[0].keys),
        s(m.sent.peers[1].keys), r(m.peers_bit.peers[0].keys) {}
  SecretVector<Key>&u, &v, &w, &u0, &u1, &c, &s, &r;
};

BitVector part(const BitVector& bits, std::size_t first, std::size_t count) {
  BitVector result(count);
  result.copy_from(bits, first, 0, count);
  return result;
}

template <class Queue>
auto pop(Queue& queue) {
  auto front = std::move(queue.front());
  queue.pop();
  return front;
}

}  // namespace

void ProductTriples::reveal_first(ProductMaterial material) {
  Chunk chunk{std::move(material), {}, {}, {}, {}, {}};
  const Mine mine(chunk.material);
  const std::size_t n = mine.u.size();
  chunk.d = part(mine.c.bits, 0, n);
  chunk.d ^= mine.v.bits;
  chunk.h = part(mine.u0.bits, 0, n);
  chunk.h ^= mine.u1.bits;
  chunk.h ^= mine.u.bits;
  BitVector message(2 * n);
  message.copy_from(chunk.d, 0, 0, n);
  message.copy_from(chunk.h, 0, n, n);
  checks::reveal_bits(session_, kFirst, message);
  checks::absorb_my_macs_of(session_, n,
                            [&](std::size_t i) { return mine.c.macs[i] ^ mine.v.macs[i]; });
  checks::absorb_my_macs_of(session_, n, [&](std::size_t i) {
    return mine.u0.macs[i] ^ mine.u1.macs[i] ^ mine.u.macs[i];
  });
  first_.push(std::move(chunk));
}

void ProductTriples::reveal_second() {
  Chunk chunk = pop(first_);
  const Mine mine(chunk.material);
  const Peers peers(chunk.material);
  const std::size_t n = mine.u.size();
  const BitVector received = checks::receive_revealed_bits(session_, kFirst, 2 * n);
  chunk.peers_d = part(received, 0, n);
  chunk.peers_h = part(received, n, n);
  checks::absorb_peers_keys_of(session_, chunk.peers_d,
                               [&](std::size_t i) { return peers.c[i] ^ peers.v[i]; });
  checks::absorb_peers_keys_of(session_, chunk.peers_h, [&](std::size_t i) {
    return peers.u0[i] ^ peers.u1[i] ^ peers.u[i];
  });
  chunk.e = part(mine.r.bits, 0, n);
  chunk.e ^= mine.u0.bits;
  for (std::size_t w = 0; w < chunk.e.words().size(); ++w)
    chunk.e.words()[w] ^= chunk.peers_d.words()[w] & mine.u.bits.words()[w];
  checks::reveal_bits(session_, kSecond, chunk.e);
  checks::absorb_my_macs_of(session_, n, [&](std::size_t i) {
    return mine.r.macs[i] ^ mine.u0.macs[i] ^ Mac { times(mine.u.macs[i].value, chunk.peers_d[i]) };
  });
  second_.push(std::move(chunk));
}

material::Batch ProductTriples::finish() {
  Chunk chunk = pop(second_);
  const Mine mine(chunk.material);
  const Peers peers(chunk.material);
  const std::size_t n = mine.u.size();
  const ScopedSecret<Delta> delta(session_.global_key());
  const BitVector peers_e = checks::receive_revealed_bits(session_, kSecond, n);
  checks::absorb_peers_keys_of(session_, peers_e, [&](std::size_t i) {
    return peers.r[i] ^ peers.u0[i] ^ Key { times(peers.u[i].value, chunk.d[i]) };
  });

  MacColumn c(n);
  KeyColumn peers_c(n);
  for (std::size_t w = 0; w < c.bits.words().size(); ++w) {
    const auto word = [w](const BitVector& bits) { return bits.words()[w]; };
    c.bits.words()[w] = word(mine.r.bits) ^ word(mine.w.bits) ^ word(mine.s.bits) ^
                        (word(chunk.peers_h) & word(mine.c.bits)) ^ word(peers_e);
  }
  for (std::size_t i = 0; i < n; ++i) {
    c.macs[i] = mine.r.macs[i] ^ mine.w.macs[i] ^ mine.s.macs[i] ^
                Mac { times(mine.c.macs[i].value, chunk.peers_h[i]) };
    peers_c.keys[i] = peers.r[i] ^ peers.w[i] ^ peers.s[i] ^
                      xor_public_bit(Key{times(peers.c[i].value, chunk.h[i])}, delta, chunk.e[i]);
  }
  if (form_ == AndMaterial::Garbling) {
    material::Batch triples(MaterialKind::FullTriples, session_.me(), n);
    for (const std::size_t column : {0, 1}) {
      triples.mine[column] = std::move(chunk.material.my_and.mine[column]);
      triples.peers[column] = std::move(chunk.material.peers_and.peers[column]);
    }
    triples.mine[2] = std::move(c);
    triples.peers[2] = std::move(peers_c);
    return triples;
  }
  material::Batch triples(MaterialKind::Triples, session_.me(), n);
  for (const std::size_t column : {0, 1})
    share_part(chunk.material.my_and.mine[column], chunk.material.peers_and.peers[column], 0, delta,
               triples.shares[column]);
  share_part(c, peers_c, 0, delta, triples.shares[2]);
  return triples;
}

}  // namespace tinyot::offline
