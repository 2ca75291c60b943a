// Opening: the one place where an authenticated bit becomes public (NNOB12 Fig. 3, "reveals").
// The MAC of every opened bit is absorbed into the transcript of its direction, which is settled
// later (doc/protocol.md, section 8).
//
// The MACs may be passed in pieces, in the order of the bits, so that callers need not hold them
// all. A transcript does not settle while revealed bits have not been absorbed.
#pragma once

#include <span>

#include "base/bit_vector.h"
#include "base/block.h"
#include "checks/session.h"

namespace tinyot::checks {

// Role: MAC holder. Sends the bits, packed.
// Wire: 1 message of ceil(n / 8) bytes.
void reveal_bits(Session& session, const net::MessageTag& tag, const BitVector& bits);
// Absorbs the MACs of revealed bits, next in order.
void absorb_my_macs(Session& session, std::span<const Mac> macs);

// Role: key holder. Receives n bits that the peer reveals. They are unchecked until the transcript
// settles.
BitVector receive_revealed_bits(Session& session, const net::MessageTag& tag, std::size_t n);
// Absorbs K ^ x.Delta for the keys K of bits x that the peer revealed, next in order.
// `keys` is overwritten.
void absorb_peers_keys(Session& session, std::span<Key> keys, const BitVector& revealed,
                       std::size_t first);
// The same, with the revealed bits packed in words, from the first on.
void absorb_peers_keys(Session& session, std::span<Key> keys, const std::uint64_t* revealed);

// Role: both. Absorbs opened shared bits, next in order: m_P ^ x.Delta^P for each opened x.
void absorb_opened(Session& session, std::span<const MacShare> differences);
// Role: both. Absorbs shared bits that must be 0, next in order; nothing is sent for them.
void absorb_zeros(Session& session, std::span<const MacShare> shares);

// The same for n MACs, or a key for each revealed bit, where make(i) computes that of bit i.
template <class Make>
void absorb_my_macs_of(Session& session, std::size_t n, Make make) {
  SecretVector<Mac> macs(n);
  for (std::size_t i = 0; i < n; ++i) macs[i] = make(i);
  absorb_my_macs(session, macs);
}
template <class Make>
void absorb_peers_keys_of(Session& session, const BitVector& revealed, Make make) {
  SecretVector<Key> keys(revealed.size());
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = make(i);
  absorb_peers_keys(session, keys, revealed, 0);
}

}  // namespace tinyot::checks
