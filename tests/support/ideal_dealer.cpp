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
    case MaterialKind::Triples: break;
  }
  return {};
}

// B's part is what A's lacks.
void deal_triple(Rng& rng, Party me, Delta sum, MaterialBatch& batch, std::size_t i) {
  const bool a = rng.below(2) == 1, b = rng.below(2) == 1;
  const bool opened[] = {a, b, a && b};
  for (std::size_t column = 0; column < 3; ++column) {
    AuthShares& shares = batch.shares[column];
    const bool of_a = rng.below(2) == 1;
    const MacShare mac_of_a{rng.block()};
    shares.bits.put(i, me == Party::A ? of_a : of_a != opened[column]);
    shares.macs[i] = me == Party::A ? mac_of_a : moved(mac_of_a, sum, opened[column]);
  }
}

}  // namespace

IdealDealer::IdealDealer(Party me, std::uint64_t seed, Delta held_by_a, Delta held_by_b) : me_(me), held_by_a_(held_by_a), held_by_b_(held_by_b) {
  for (const MaterialKind kind : kAllMaterialKinds) streams_.emplace(kind, Rng(Seed{{seed, 77u + static_cast<std::uint64_t>(kind)}}));
}

MaterialBatch IdealDealer::draw(MaterialKind kind, std::size_t count) {
  Rng& rng = streams_.at(kind);
  MaterialBatch batch(kind, me_, count);
  for (std::size_t i = 0; i < count; ++i) {
    if (kind == MaterialKind::Triples) {
      deal_triple(rng, me_, {held_by_a_.value ^ held_by_b_.value}, batch, i);
      continue;
    }
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
