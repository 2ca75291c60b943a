#include "online/interactive/ands_from_aand_aot.h"

#include "base/block_sums.h"
#include "base/declassify.h"
#include "base/error.h"
#include "base/secret.h"
#include "checks/opening.h"
#include "online/windowed_exchange.h"

namespace tinyot::online {
namespace {

constexpr net::MessageTag kFirst = net::message_tag("and.fgdh");
constexpr net::MessageTag kSecond = net::message_tag("and.e");
// Entries whose MACs and keys are computed at a time.
constexpr std::size_t kPairStep = 256;

// The material of a layer in this party's view.
struct LayerMaterial {
  LayerMaterial(MaterialReader& reader, Party me, std::size_t n)
      : my_and(reader.take(material::auth_ands_of(me), n)),
        peers_and(reader.take(material::auth_ands_of(peer_of(me)), n)),
        sent(reader.take(material::auth_ots_from(me), n)),
        chosen(reader.take(material::auth_ots_from(peer_of(me)), n)),
        my_bit(reader.take(material::auth_bits_of(me), n)),
        peers_bit(reader.take(material::auth_bits_of(peer_of(me)), n)) {}

  material::Slices my_and, peers_and, sent, chosen, my_bit, peers_bit;
};

// My bits of the material, named as in the figure.
struct MyBits {
  explicit MyBits(const LayerMaterial& m)
      : u(bits_of(m.my_and, mine_bits, 0)), v(bits_of(m.my_and, mine_bits, 1)),
        w(bits_of(m.my_and, mine_bits, 2)), u0(bits_of(m.sent, mine_bits, 0)),
        u1(bits_of(m.sent, mine_bits, 1)), c(bits_of(m.chosen, mine_bits, 0)),
        s(bits_of(m.chosen, mine_bits, 1)), r(bits_of(m.my_bit, mine_bits, 0)) {}
  BitVector u, v, w;  // my aAND
  BitVector u0, u1;   // of the aOT that I send
  BitVector c, s;     // of the aOT that I choose in
  BitVector r;
};

// The bits that one party reveals in a layer.
struct Revealed {
  explicit Revealed(std::size_t n) : f(n), g(n), d(n), h(n), e(n) {}
  BitVector f, g, d, h, e;
};

// The same for kPairStep entries.
struct RevealedStep {
  std::uint64_t f[kPairStep / 64], g[kPairStep / 64], d[kPairStep / 64], h[kPairStep / 64],
      e[kPairStep / 64];

  void load(const Revealed& all, std::size_t first, std::size_t count) {
    copy_bits(all.f.words(), first, f, 0, count);
    copy_bits(all.g.words(), first, g, 0, count);
    copy_bits(all.d.words(), first, d, 0, count);
    copy_bits(all.h.words(), first, h, 0, count);
    copy_bits(all.e.words(), first, e, 0, count);
  }
};

BitVector sum(const BitVector& a, const BitVector& b) {
  BitVector out = a;
  return out ^= b;
}

// Cursors over the material's blocks.
struct Cursors {
  explicit Cursors(const LayerMaterial& m)
      : my_and(m.my_and), peers_and(m.peers_and), sent(m.sent), chosen(m.chosen), my_bit(m.my_bit),
        peers_bit(m.peers_bit) {}

  std::size_t left() const {
    return std::min({my_and.left(), peers_and.left(), sent.left(), chosen.left(), my_bit.left(),
                     peers_bit.left()});
  }
  void advance(std::size_t count) {
    for (SliceCursor* cursor : {&my_and, &peers_and, &sent, &chosen, &my_bit, &peers_bit})
      cursor->advance(count);
  }

  SliceCursor my_and, peers_and, sent, chosen, my_bit, peers_bit;
};

// The blocks that are absorbed into the transcripts, named as in the figure.
template <class Word>
struct TranscriptStep {
  explicit TranscriptStep(std::size_t n) : f(n), g(n), d(n), h(n), e(n) {}
  SecretVector<Word> f, g, d, h, e;
};

class PairLayer final : public AndLayer {
 public:
  PairLayer(checks::Session& session, MaterialReader& reader, const BitVector& x,
            const BitVector& y)
      : session_(session), n_(x.size()), x_(x), y_(y), material_(reader, session.me(), n_),
        bits_(material_), cursors_(material_), mine_(n_), peers_(n_) {
    mine_.f = sum(bits_.u, x_);
    mine_.g = sum(bits_.v, y_);
    mine_.d = sum(bits_.c, y_);
    mine_.h = sum(sum(bits_.u0, bits_.u1), x_);
    exchange_.fill_window([&](std::size_t first, std::size_t count) { send_first(first, count); });
  }

  BitVector open() override {
    const auto receive = [&](std::size_t first, std::size_t count) {
      const BitVector message = checks::receive_revealed_bits(session_, kFirst, 4 * count);
      std::size_t segment = 0;
      for (BitVector* part : {&peers_.f, &peers_.g, &peers_.d, &peers_.h})
        part->copy_from(message, segment++ * count, first, count);
    };
    exchange_.run([&](std::size_t first, std::size_t count) { send_first(first, count); }, receive);
    reveal_second();
    for (BitVector* revealed : {&mine_.f, &mine_.g, &mine_.d, &mine_.h, &mine_.e})
      declassify(revealed->words());
    return product_bits();
  }

  void combine(std::size_t count, const ShareBlocks& x, const ShareBlocks& y,
               const ShareBlocks& z) override;

 private:
  void send_first(std::size_t first, std::size_t count) {
    BitVector message(4 * count);
    std::size_t segment = 0;
    for (const BitVector* part : {&mine_.f, &mine_.g, &mine_.d, &mine_.h})
      message.copy_from(*part, first, segment++ * count, count);
    checks::reveal_bits(session_, kFirst, message);
  }
  void reveal_second();
  BitVector product_bits() const;
  // The next entries: a plane of their wires, and where the step's transcript has them.
  struct Entries {
    std::size_t count;
    const Block *x, *y;
    Block* z;
    std::size_t at;
  };
  // What one party's shares are combined with: its aANDs, the aOTs that it sends and those that it
  // chooses in, its aBits.
  struct OwnersMaterial {
    const SliceCursor &ands, &sent, &chosen, &bits;
  };
  template <class Column, class Word>
  static void combine_shares(Column column, const OwnersMaterial& material,
                             const RevealedStep& owners, const RevealedStep& others,
                             const std::uint64_t* delta_mask, Block delta, TranscriptStep<Word>& of,
                             const Entries& entries);
  void combine_mine(const Entries& entries);
  void combine_peers(const Entries& entries);

  checks::Session& session_;
  std::size_t n_;
  WindowedExchange exchange_{n_, 4};  // f, g, d, h
  BitVector x_, y_;
  LayerMaterial material_;
  MyBits bits_;
  Cursors cursors_;
  Revealed mine_, peers_;
  RevealedStep my_step_{}, peers_step_{};
  TranscriptStep<Mac> of_macs_{std::min(n_, kPairStep)};
  TranscriptStep<Key> of_keys_{std::min(n_, kPairStep)};
  std::size_t combined_ = 0;
};

void PairLayer::reveal_second() {
  mine_.e = sum(bits_.r, bits_.u0);
  for (std::size_t w = 0; w < mine_.e.words().size(); ++w)
    mine_.e.words()[w] ^= peers_.d.words()[w] & x_.words()[w];
  const auto send = [&](std::size_t first, std::size_t count) {
    BitVector message(count);
    message.copy_from(mine_.e, first, 0, count);
    checks::reveal_bits(session_, kSecond, message);
  };
  exchange_.fill_window(send);
  exchange_.run(send, [&](std::size_t first, std::size_t count) {
    peers_.e.copy_from(checks::receive_revealed_bits(session_, kSecond, count), 0, first, count);
  });
}

BitVector PairLayer::product_bits() const {
  BitVector z(n_);
  for (std::size_t i = 0; i < z.words().size(); ++i) {
    const auto word = [i](const BitVector& bits) { return bits.words()[i]; };
    const std::uint64_t product = (word(mine_.f) & word(y_)) ^ (word(mine_.g) & word(x_)) ^
                                  word(bits_.w) ^ (word(mine_.f) & word(mine_.g));
    const std::uint64_t cross = word(bits_.s) ^ (word(peers_.h) & word(bits_.c)) ^ word(peers_.e);
    z.words()[i] = word(bits_.r) ^ cross ^ product;
  }
  return z;
}

void PairLayer::combine(std::size_t count, const ShareBlocks& x, const ShareBlocks& y,
                        const ShareBlocks& z) {
  for (std::size_t done = 0; done < count; done += kPairStep) {
    const std::size_t step = std::min(count - done, kPairStep);
    RevealedStep peers_all;
    peers_all.load(peers_, combined_, step);
    for (std::size_t i = 0; i < step;) {
      const std::size_t some = std::min(step - i, cursors_.left()), at = done + i;
      my_step_.load(mine_, combined_, some);
      peers_step_.load(peers_, combined_, some);
      combine_mine({some, x.plane[0] + at, y.plane[0] + at, z.plane[0] + at, i});
      combine_peers({some, x.plane[1] + at, y.plane[1] + at, z.plane[1] + at, i});
      cursors_.advance(some);
      combined_ += some;
      i += some;
    }
    for (const auto* of : {&of_macs_.f, &of_macs_.g, &of_macs_.d, &of_macs_.h, &of_macs_.e})
      checks::absorb_my_macs(session_, std::span(*of).first(step));
    const auto absorb = [&](SecretVector<Key>& of, const std::uint64_t* revealed) {
      checks::absorb_peers_keys(session_, std::span(of).first(step), revealed);
    };
    absorb(of_keys_.f, peers_all.f);
    absorb(of_keys_.g, peers_all.g);
    absorb(of_keys_.d, peers_all.d);
    absorb(of_keys_.h, peers_all.h);
    absorb(of_keys_.e, peers_all.e);
  }
}

// The shares of one party, the owner. `column` selects their blocks, the owner's MACs or the other
// party's keys: delta is added to a key where its bit of `delta_mask` is set.
template <class Column, class Word>
void PairLayer::combine_shares(Column column, const OwnersMaterial& material,
                               const RevealedStep& owners, const RevealedStep& others,
                               const std::uint64_t* delta_mask, Block delta,
                               TranscriptStep<Word>& of, const Entries& entries) {
  combine_pairs({.x = entries.x,
                 .y = entries.y,
                 .u = column(material.ands, 0),
                 .v = column(material.ands, 1),
                 .w = column(material.ands, 2),
                 .u0 = column(material.sent, 0),
                 .u1 = column(material.sent, 1),
                 .c = column(material.chosen, 0),
                 .s = column(material.chosen, 1),
                 .r = column(material.bits, 0),
                 .f = owners.f,
                 .g = owners.g,
                 .d = others.d,
                 .h = others.h,
                 .delta_mask = delta_mask,
                 .of_f = &of.f[entries.at].value,
                 .of_g = &of.g[entries.at].value,
                 .of_d = &of.d[entries.at].value,
                 .of_h = &of.h[entries.at].value,
                 .of_e = &of.e[entries.at].value,
                 .z = entries.z},
                entries.count, delta);
}

void PairLayer::combine_mine(const Entries& entries) {
  const auto macs = [](const SliceCursor& cursor, std::size_t index) {
    return &cursor.batch().mine[index].macs[cursor.at()].value;
  };
  const std::uint64_t none[kPairStep / 64] = {};
  combine_shares(macs, {cursors_.my_and, cursors_.sent, cursors_.chosen, cursors_.my_bit}, my_step_,
                 peers_step_, none, Block{0, 0}, of_macs_, entries);
}

void PairLayer::combine_peers(const Entries& entries) {
  const auto keys = [](const SliceCursor& cursor, std::size_t index) {
    return &cursor.batch().peers[index].keys[cursor.at()].value;
  };
  // Where f.g of the peer and my e differ, the key moves with the bit.
  std::uint64_t delta_mask[kPairStep / 64];
  for (std::size_t word = 0; word < kPairStep / 64; ++word)
    delta_mask[word] = (peers_step_.f[word] & peers_step_.g[word]) ^ my_step_.e[word];
  combine_shares(keys, {cursors_.peers_and, cursors_.chosen, cursors_.sent, cursors_.peers_bit},
                 peers_step_, my_step_, delta_mask, session_.global_key().value, of_keys_, entries);
}

}  // namespace

std::unique_ptr<AndLayer> begin_pair_layer(checks::Session& session, MaterialReader& material,
                                           const BitVector& x, const BitVector& y) {
  return std::make_unique<PairLayer>(session, material, x, y);
}

}  // namespace tinyot::online
