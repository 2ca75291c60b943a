#include "tests/support/ideal_dealer.h"

namespace tinyot::test {
namespace {

// One object's bits, in the order of the kind's columns, and whose they are.
struct Column {
  Party owner;
  bool bit;
};

std::vector<Column> deal_object(MaterialKind kind, Rng& rng) {
  const auto coin = [&] { return rng.below(2) == 1; };
  const auto product = [&](Party owner) {
    const bool x = coin(), y = coin();
    return std::vector<Column>{{owner, x}, {owner, y}, {owner, x && y}};
  };
  const auto transfer = [&](Party sender) {
    const bool x0 = coin(), x1 = coin(), c = coin();
    const Party receiver = peer_of(sender);
    return std::vector<Column>{{sender, x0}, {sender, x1}, {receiver, c}, {receiver, c ? x1 : x0}};
  };
  switch (kind) {
    case MaterialKind::AuthBitsA: return {{Party::A, coin()}};
    case MaterialKind::AuthBitsB: return {{Party::B, coin()}};
    case MaterialKind::AuthAndsA: return product(Party::A);
    case MaterialKind::AuthAndsB: return product(Party::B);
    case MaterialKind::AuthOtsAB: return transfer(Party::A);
    case MaterialKind::AuthOtsBA: return transfer(Party::B);
    case MaterialKind::Triples: {
      const bool a = coin(), b = coin(), a_a = coin(), b_a = coin(), c_a = coin();
      return {{Party::A, a_a}, {Party::A, b_a}, {Party::A, c_a}, {Party::B, a != a_a}, {Party::B, b != b_a}, {Party::B, (a && b) != c_a}};
    }
  }
  return {};
}

}  // namespace

IdealDealer::IdealDealer(Party me, std::uint64_t seed, Delta held_by_a, Delta held_by_b) : me_(me), held_by_a_(held_by_a), held_by_b_(held_by_b) {
  for (const MaterialKind kind : kAllMaterialKinds) streams_.emplace(kind, Rng(Seed{{seed, 77u + static_cast<std::uint64_t>(kind)}}));
}

MaterialBatch IdealDealer::draw(MaterialKind kind, std::size_t count) {
  Rng& rng = streams_.at(kind);
  MaterialBatch batch(kind, me_, count);
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t mine = 0, peers = 0;
    for (const Column& column : deal_object(kind, rng)) {
      const Key key{rng.block()};
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
