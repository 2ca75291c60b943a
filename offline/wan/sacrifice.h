// The check that leaky triples are right: those of set 0 are compared with partners in further sets
// (doc/protocol.md, section 18.2).
//
// Each further set has o more objects than set 0, and an order that is tossed when all sets are
// fixed. The last o objects of the order are opened. Object i of set 0 and object i of the order
// are compared: d = x ^ x', e = y ^ y' are opened, and tau = z ^ z' ^ e.x ^ d.y' must be 0. Nothing
// is sent for tau: it is absorbed as the opened bit 0.
//
// Wrong triples pass only where they meet in all sets, none of them opened: w of each set with
// C(n + o, w)^(1-B). Cyclic shifts in place of permutations would let a regular pattern pass, and
// without opened triples all of them could be wrong.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "crypto/public_coins.h"
#include "offline/wan/triple_shares.h"

namespace tinyot::offline {

// Opened triples of each set but the first.
inline constexpr std::size_t kOpenedTriples = 128;

// A uniform permutation of `size` objects for each set 1, 2, ..., sets - 1.
using SetOrders = std::vector<std::vector<std::uint32_t>>;
SetOrders set_orders_from(const checks::Session& session, const crypto::PublicSeed& coins,
                          std::size_t sets, std::size_t size);

// Role: both, symmetric. open() comes first; then each step is called for all chunks of set 0 in
// order. What is opened is on the MAC transcripts; settle these before the triples are used.
class Sacrifice {
 public:
  // Shapes: sets 1, 2, ...: of equal size, at least that of set 0; orders: one for each of them.
  Sacrifice(checks::Session& session, std::span<const TripleSet> sets, SetOrders orders);

  // Wire: 3 o / 8 bytes each way for each set but the first.  Fails: PeerCheated("opened triple").
  void open();
  // Wire: sends 2 (sets - 1) chunk.count / 8 bytes.
  void reveal(const ObjectChunk& chunk);
  // Wire: receives the same number of bytes.
  void check(const ObjectChunk& chunk);

 private:
  TripleShares opened_triple(std::size_t set, std::size_t i) const;
  TripleShares difference(std::size_t set, std::size_t i) const;

  checks::Session& session_;
  std::span<const TripleSet> sets_;
  SetOrders orders_;
  std::size_t size_, opened_;       // n, o
  std::queue<BitVector> revealed_;  // of chunks whose peer's shares have not arrived
};

}  // namespace tinyot::offline
