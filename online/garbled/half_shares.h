// A party's half shares of a shared bit x = a ^ b, of which A has (a, M[a], K[b]) and B has (b,
// M[b], K[a]) (doc/protocol.md, section 16.1):
//
//   g: share of x.Delta^B      g_A = M[a]                   g_B = b.Delta^B ^ K[a]
//   h: share of x.Delta^A      h_A = a.Delta^A ^ K[b]       h_B = M[b]
//
// g ^ h is the share of x.(Delta^A ^ Delta^B). All are linear.
#pragma once

#include "base/block.h"
#include "tinyot/party.h"

namespace tinyot::online {

struct HalfShares {
  Block folded() const { return g ^ h; }

  Block g, h;
};

constexpr HalfShares half_shares(Party me, bool my_bit, Mac mac, Key peers_key, Delta delta) {
  const Block mixed = times(delta.value, my_bit) ^ peers_key.value;
  return me == Party::A ? HalfShares{mac.value, mixed} : HalfShares{mixed, mac.value};
}

// The MAC of my bit, and the key of the peer's.
constexpr Mac mac_of(Party me, HalfShares x) { return {me == Party::A ? x.g : x.h}; }
constexpr Key key_of(Party me, HalfShares x, bool my_bit, Delta delta) {
  return {(me == Party::A ? x.h : x.g) ^ times(delta.value, my_bit)};
}

}  // namespace tinyot::online
