#include "tests/support/ideal_dealer.h"

#include <array>
#include <span>
#include <vector>

#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

// Randomness of several objects, drawn at once: a word for each coin, two for each key.
class Drawn {
 public:
  Drawn(Rng& rng, std::size_t words) : words_(words) {
    rng.fill(std::as_writable_bytes(std::span(words_)));
  }
  bool coin() { return words_[at_++] & 1; }
  Block block() {
    at_ += 2;
    return {words_[at_ - 2], words_[at_ - 1]};
  }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t at_ = 0;
};

// One object's bits and their owners, in the order of the kind's columns.
struct Column {
  Party owner;
  bool bit;
};
struct Columns {
  std::size_t count;
  std::array<Column, 6> of;
};

std::size_t words_of(MaterialKind kind) {
  switch (kind) {
    case MaterialKind::AuthBitsA:
    case MaterialKind::AuthBitsB:
      return 1 + 2;
    case MaterialKind::AuthAndsA:
    case MaterialKind::AuthAndsB:
      return 2 + 3 * 2;
    case MaterialKind::AuthOtsAB:
    case MaterialKind::AuthOtsBA:
      return 3 + 4 * 2;
    case MaterialKind::FullTriples:
      return 5 + 6 * 2;
    case MaterialKind::Triples:
      break;
  }
  return 2 + 3 * (1 + 2);
}

Columns deal_object(MaterialKind kind, Drawn& drawn) {
  const auto product = [&](Party owner) {
    const bool x = drawn.coin(), y = drawn.coin();
    return Columns{3, {{{owner, x}, {owner, y}, {owner, x && y}}}};
  };
  const auto transfer = [&](Party sender) {
    const bool x0 = drawn.coin(), x1 = drawn.coin(), c = drawn.coin();
    const Party receiver = peer_of(sender);
    return Columns{4, {{{sender, x0}, {sender, x1}, {receiver, c}, {receiver, c ? x1 : x0}}}};
  };
  switch (kind) {
    case MaterialKind::AuthBitsA:
      return {1, {{{Party::A, drawn.coin()}}}};
    case MaterialKind::AuthBitsB:
      return {1, {{{Party::B, drawn.coin()}}}};
    case MaterialKind::AuthAndsA:
      return product(Party::A);
    case MaterialKind::AuthAndsB:
      return product(Party::B);
    case MaterialKind::AuthOtsAB:
      return transfer(Party::A);
    case MaterialKind::AuthOtsBA:
      return transfer(Party::B);
    case MaterialKind::FullTriples: {
      const bool a1 = drawn.coin(), a2 = drawn.coin(), b1 = drawn.coin(), b2 = drawn.coin(),
                 c1 = drawn.coin(), c2 = ((a1 != a2) && (b1 != b2)) != c1;
      return {6,
              {{{Party::A, a1},
                {Party::A, b1},
                {Party::A, c1},
                {Party::B, a2},
                {Party::B, b2},
                {Party::B, c2}}}};
    }
    case MaterialKind::Triples:
      break;
  }
  return {};
}

// A's shares are random; B's complete them.
void deal_triple(Drawn& drawn, Party me, Delta sum, material::Batch& batch, std::size_t i) {
  const bool a = drawn.coin(), b = drawn.coin();
  const bool opened[] = {a, b, a && b};
  for (std::size_t column = 0; column < 3; ++column) {
    AuthShares& shares = batch.shares[column];
    const bool of_a = drawn.coin();
    const MacShare mac_of_a{drawn.block()};
    shares.bits.put(i, me == Party::A ? of_a : of_a != opened[column]);
    shares.macs[i] = me == Party::A ? mac_of_a : xor_public_bit(mac_of_a, sum, opened[column]);
  }
}

}  // namespace

IdealDealer::IdealDealer(Party me, std::uint64_t seed, Delta held_by_a, Delta held_by_b)
    : me_(me), held_by_a_(held_by_a), held_by_b_(held_by_b) {
  for (const MaterialKind kind : kAllMaterialKinds)
    streams_.emplace(kind, Rng(Seed{{seed, 77u + static_cast<std::uint64_t>(kind)}}));
}

material::Batch IdealDealer::draw(MaterialKind kind, std::size_t count) {
  Drawn drawn(streams_.at(kind), count * words_of(kind));
  material::Batch batch(kind, me_, count);
  for (std::size_t i = 0; i < count; ++i) {
    if (kind == MaterialKind::Triples) {
      deal_triple(drawn, me_, {held_by_a_.value ^ held_by_b_.value}, batch, i);
      continue;
    }
    std::size_t mine = 0, peers = 0;
    const Columns columns = deal_object(kind, drawn);
    for (const Column& column : std::span(columns.of).first(columns.count)) {
      const Key key{drawn.block()};
      if (column.owner == me_) {
        batch.mine[mine].bits.put(i, column.bit);
        batch.mine[mine++].macs[i] = key ^ (me_ == Party::A ? held_by_b_ : held_by_a_) * column.bit;
      } else {
        batch.peers[peers++].keys[i] = key;
      }
    }
  }
  dealt[kind] += count;
  return batch;
}

}  // namespace tinyot::test
