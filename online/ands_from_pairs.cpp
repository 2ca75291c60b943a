#include "online/ands_from_pairs.h"

#include "base/error.h"
#include "checks/opening.h"

namespace tinyot {
namespace {

constexpr MessageTag kFirst{0x2001, "and.fgdh"};
constexpr MessageTag kSecond{0x2002, "and.e"};

// The material of a layer, by what it is to me.
struct LayerMaterial {
  LayerMaterial(MaterialSource& source, Party me, std::size_t n)
      : my_and(source.draw(first_of(auth_ands_of, me), n)), peers_and(source.draw(second_of(auth_ands_of, me), n)),
        sent(source.draw(first_of(auth_ots_from, me), n)), chosen(source.draw(second_of(auth_ots_from, me), n)),
        my_bit(source.draw(first_of(auth_bits_of, me), n)), peers_bit(source.draw(second_of(auth_bits_of, me), n)) {}

  MaterialBatch my_and, peers_and, sent, chosen, my_bit, peers_bit;

 private:
  static MaterialKind first_of(MaterialKind (*kind)(Party), Party me) { return kind(me); }
  static MaterialKind second_of(MaterialKind (*kind)(Party), Party me) { return kind(peer_of(me)); }
};

// Names for the columns of LayerMaterial, in the figure's letters.
struct Mine {
  explicit Mine(LayerMaterial& m)
      : u(m.my_and.mine[0]), v(m.my_and.mine[1]), w(m.my_and.mine[2]), u0(m.sent.mine[0]), u1(m.sent.mine[1]), c(m.chosen.mine[0]),
        s(m.chosen.mine[1]), r(m.my_bit.mine[0]) {}
  AuthBitsMine &u, &v, &w;   // my aAND
  AuthBitsMine &u0, &u1;     // of the aOT that I send
  AuthBitsMine &c, &s;       // of the aOT that I choose in
  AuthBitsMine& r;
};
struct Peers {
  explicit Peers(LayerMaterial& m)
      : u(m.peers_and.peers[0].keys), v(m.peers_and.peers[1].keys), w(m.peers_and.peers[2].keys), u0(m.chosen.peers[0].keys),
        u1(m.chosen.peers[1].keys), c(m.sent.peers[0].keys), s(m.sent.peers[1].keys), r(m.peers_bit.peers[0].keys) {}
  SecretVector<Key> &u, &v, &w, &u0, &u1, &c, &s, &r;
};

class PairLayer {
 public:
  PairLayer(Session& session, MaterialSource& source, Operand x_, Operand y_)
      : x(std::move(x_)), y(std::move(y_)), session_(session), n_(x.size()), material_(source, session.me(), n_), mine_(material_), peers_(material_) {}

  Operand evaluate() {
    exchange_first();
    exchange_second();
    return combine();
  }

 private:
  // Puts n bits in segment `segment` of a message.
  void place(BitVector& message, std::size_t segment, const BitVector& bits) const { message.copy_from(bits, 0, segment * n_, n_); }
  BitVector segment(const BitVector& message, std::size_t segment) const {
    BitVector bits(n_);
    bits.copy_from(message, segment * n_, 0, n_);
    return bits;
  }

  void exchange_first();
  void exchange_second();
  Operand combine();

  static BitVector sum(const BitVector& a, const BitVector& b) {
    BitVector out(a.size());
    for (std::size_t w = 0; w < out.words().size(); ++w) out.words()[w] = a.words()[w] ^ b.words()[w];
    return out;
  }

  Operand x, y;
  Session& session_;
  std::size_t n_;
  LayerMaterial material_;
  Mine mine_;
  Peers peers_;
  BitVector f_, g_, d_, h_, e_;                // mine, revealed
  BitVector peer_f_, peer_g_, peer_d_, peer_h_, peer_e_;  // the peer's
};

void PairLayer::exchange_first() {
  f_ = sum(mine_.u.bits, x.bits);
  g_ = sum(mine_.v.bits, y.bits);
  d_ = sum(mine_.c.bits, y.bits);
  h_ = sum(sum(mine_.u0.bits, mine_.u1.bits), x.bits);
  BitVector message(4 * n_);
  place(message, 0, f_);
  place(message, 1, g_);
  place(message, 2, d_);
  place(message, 3, h_);
  reveal_bits(session_, kFirst, message);
  absorb_my_macs_of(session_, n_, [&](std::size_t i) { return mine_.u.macs[i] ^ x.macs[i]; });
  absorb_my_macs_of(session_, n_, [&](std::size_t i) { return mine_.v.macs[i] ^ y.macs[i]; });
  absorb_my_macs_of(session_, n_, [&](std::size_t i) { return mine_.c.macs[i] ^ y.macs[i]; });
  absorb_my_macs_of(session_, n_, [&](std::size_t i) { return mine_.u0.macs[i] ^ mine_.u1.macs[i] ^ x.macs[i]; });

  const BitVector received = receive_revealed_bits(session_, kFirst, 4 * n_);
  peer_f_ = segment(received, 0);
  peer_g_ = segment(received, 1);
  peer_d_ = segment(received, 2);
  peer_h_ = segment(received, 3);
  absorb_peers_keys_of(session_, peer_f_, [&](std::size_t i) { return peers_.u[i] ^ x.keys[i]; });
  absorb_peers_keys_of(session_, peer_g_, [&](std::size_t i) { return peers_.v[i] ^ y.keys[i]; });
  absorb_peers_keys_of(session_, peer_d_, [&](std::size_t i) { return peers_.c[i] ^ y.keys[i]; });
  absorb_peers_keys_of(session_, peer_h_, [&](std::size_t i) { return peers_.u0[i] ^ peers_.u1[i] ^ x.keys[i]; });
}

void PairLayer::exchange_second() {
  e_ = sum(mine_.r.bits, mine_.u0.bits);
  for (std::size_t w = 0; w < e_.words().size(); ++w) e_.words()[w] ^= peer_d_.words()[w] & x.bits.words()[w];
  reveal_bits(session_, kSecond, e_);
  absorb_my_macs_of(session_, n_, [&](std::size_t i) { return mine_.r.macs[i] ^ mine_.u0.macs[i] ^ Mac{times(x.macs[i].value, peer_d_[i])}; });

  peer_e_ = receive_revealed_bits(session_, kSecond, n_);
  absorb_peers_keys_of(session_, peer_e_, [&](std::size_t i) { return peers_.r[i] ^ peers_.u0[i] ^ Key{times(x.keys[i].value, d_[i])}; });
}

Operand PairLayer::combine() {
  Operand z(n_);
  const Delta delta = session_.global_key();
  for (std::size_t w = 0; w < z.bits.words().size(); ++w) {
    const auto word = [w](const BitVector& bits) { return bits.words()[w]; };
    const std::uint64_t product = (word(f_) & word(y.bits)) ^ (word(g_) & word(x.bits)) ^ word(mine_.w.bits) ^ (word(f_) & word(g_));
    const std::uint64_t cross = word(mine_.s.bits) ^ (word(peer_h_) & word(mine_.c.bits)) ^ word(peer_e_);
    z.bits.words()[w] = word(mine_.r.bits) ^ cross ^ product;
  }
  z.bits.clear_padding();
  for (std::size_t i = 0; i < n_; ++i) {
    const bool f = f_[i], g = g_[i];
    const Mac product = Mac{times(y.macs[i].value, f)} ^ Mac{times(x.macs[i].value, g)} ^ mine_.w.macs[i];
    const Mac cross = mine_.s.macs[i] ^ Mac{times(mine_.c.macs[i].value, peer_h_[i])};
    z.macs[i] = mine_.r.macs[i] ^ cross ^ product;
  }
  for (std::size_t i = 0; i < n_; ++i) {
    const bool f = peer_f_[i], g = peer_g_[i];
    const Key product = Key{times(y.keys[i].value, f)} ^ Key{times(x.keys[i].value, g)} ^ moved(peers_.w[i], delta, f & g);
    const Key cross = peers_.s[i] ^ moved(Key{times(peers_.c[i].value, h_[i])}, delta, e_[i]);
    z.keys[i] = peers_.r[i] ^ cross ^ product;
  }
  return z;
}

}  // namespace

Operand ands_from_pairs(Session& session, MaterialSource& source, Operand x, Operand y) {
  return PairLayer(session, source, std::move(x), std::move(y)).evaluate();
}

}  // namespace tinyot
