#include "offline/wan/sacrifice.h"

#include "base/declassify.h"
#include "base/error.h"
#include "checks/opening.h"
#include "offline/nnob12/buckets.h"

namespace tinyot::offline {
namespace {

constexpr net::MessageTag kOpenedTriple = net::message_tag("bit_triple.opened");
constexpr net::MessageTag kSacrifice = net::message_tag("bit_triple.sacrifice");

}  // namespace

SetOrders set_orders_from(const checks::Session& session, const crypto::PublicSeed& coins,
                          std::size_t sets, std::size_t size) {
  SetOrders orders;
  for (std::size_t set = 1; set < sets; ++set)
    orders.push_back(crypto::permutation_from(session.id(), {"sacrifice order", '*', set}, coins,
                                              static_cast<std::uint32_t>(size)));
  return orders;
}

Sacrifice::Sacrifice(checks::Session& session, std::span<const TripleSet> sets, SetOrders orders)
    : session_(session), sets_(sets), orders_(std::move(orders)) {
  ENSURE(fits_triples(session));
  ENSURE(sets.size() >= 2 && orders_.size() + 1 == sets.size());
  ENSURE(sets[1].size() > sets[0].size());  // all triples could be wrong if none were opened
  size_ = sets[0].size();
  opened_ = sets[1].size() - size_;
  for (std::size_t set = 1; set < sets.size(); ++set)
    ENSURE(sets[set].size() == size_ + opened_ && orders_[set - 1].size() == size_ + opened_);
}

TripleShares Sacrifice::opened_triple(std::size_t set, std::size_t i) const {
  return sets_[set][orders_[set - 1][size_ + i]];
}

void Sacrifice::open() {
  std::vector<BitVector> mine;
  for (std::size_t set = 1; set < sets_.size(); ++set) {
    BitVector& bits = mine.emplace_back(3 * opened_);
    for (std::size_t i = 0; i < opened_; ++i) {
      const TripleShares triple = opened_triple(set, i);
      bits.put(i, share_of_bit(triple.x));
      bits.put(opened_ + i, share_of_bit(triple.y));
      bits.put(2 * opened_ + i, share_of_bit(triple.z));
    }
    checks::reveal_bits(session_, kOpenedTriple, bits);
  }
  const ScopedSecret<Delta> delta(session_.global_key());
  for (std::size_t set = 1; set < sets_.size(); ++set) {
    BitVector bits = checks::receive_revealed_bits(session_, kOpenedTriple, 3 * opened_);
    bits ^= mine[set - 1];
    SecretVector<MacShare> shares(3 * opened_);
    bool wrong = false;
    for (std::size_t i = 0; i < opened_; ++i) {
      const TripleShares triple = opened_triple(set, i);
      const bool x = bits[i], y = bits[opened_ + i], z = bits[2 * opened_ + i];
      wrong |= (x & y) != z;
      shares[i] = xor_public_bit(triple.x, delta, x);
      shares[opened_ + i] = xor_public_bit(triple.y, delta, y);
      shares[2 * opened_ + i] = xor_public_bit(triple.z, delta, z);
    }
    if (declassified(wrong)) throw PeerCheated("opened triple");
    checks::absorb_opened(session_, shares);
  }
}

// Of object i of set 0 and its partner, which is at a random address: the differences of the
// objects ahead are fetched.
TripleShares Sacrifice::difference(std::size_t set, std::size_t i) const {
  const std::vector<std::uint32_t>& order = orders_[set - 1];
  if (i + kFetchAhead < size_) {
    const TripleShares& later = sets_[set][order[i + kFetchAhead]];
    fetch(later.x);
    fetch(later.z);
  }
  return sets_[0][i] ^ sets_[set][order[i]];
}

void Sacrifice::reveal(const ObjectChunk& chunk) {
  BitVector mine(2 * orders_.size() * chunk.count);
  for (std::size_t set = 1; set < sets_.size(); ++set) {
    const std::size_t of_d = 2 * (set - 1) * chunk.count, of_e = of_d + chunk.count;
    for (std::size_t i = 0; i < chunk.count; ++i) {
      const TripleShares shares = difference(set, chunk.first + i);
      mine.put(of_d + i, share_of_bit(shares.x));
      mine.put(of_e + i, share_of_bit(shares.y));
    }
  }
  checks::reveal_bits(session_, kSacrifice, mine);
  revealed_.push(std::move(mine));
}

// Differences are computed again, since chunks whose answers are on their way would take more
// memory than the sets.
void Sacrifice::check(const ObjectChunk& chunk) {
  const BitVector mine = std::move(revealed_.front());
  revealed_.pop();
  BitVector bits = checks::receive_revealed_bits(session_, kSacrifice, mine.size());
  bits ^= mine;
  const ScopedSecret<Delta> delta(session_.global_key());
  SecretVector<MacShare> of_d(chunk.count), of_e(chunk.count), of_tau(chunk.count);
  for (std::size_t set = 1; set < sets_.size(); ++set) {
    for (std::size_t i = 0; i < chunk.count; ++i) {
      const std::size_t first = 2 * (set - 1) * chunk.count + i;
      const bool d = bits[first], e = bits[first + chunk.count];
      const TripleShares& own = sets_[0][chunk.first + i];
      const TripleShares shares = difference(set, chunk.first + i);
      of_d[i] = xor_public_bit(shares.x, delta, d);
      of_e[i] = xor_public_bit(shares.y, delta, e);
      of_tau[i] = shares.z ^ MacShare { times(own.x.value, e) } ^
                  MacShare { times((own.y ^ shares.y).value, d) };
    }
    checks::absorb_opened(session_, of_d);
    checks::absorb_opened(session_, of_e);
    checks::absorb_zeros(session_, of_tau);
  }
}

}  // namespace tinyot::offline
