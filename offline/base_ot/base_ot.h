// Base OTs (the paper's seed OTs): the random OTs of 128-bit strings that LaBit starts from (the
// box OT of NNOB12 section 4).
//
// The first LaBit run of a connection takes them from public-key cryptography: the endemic OT of
// Masny and Rindal (2019, section 5.1: uniform key agreement, here Diffie-Hellman) over
// ristretto255 (doc/protocol.md, section 4). Later runs take them from authenticated bits of the
// other direction, hashed (NNOB12 section 4.3, "Efficient OT Extension"; doc/protocol.md, section
// 5.4).
//
// Both directions run at once, since a party is OT sender for its own bits and OT receiver for the
// peer's.
#pragma once

#include "base/auth_bits.h"
#include "base/block.h"
#include "base/secret.h"
#include "checks/session.h"

namespace tinyot::offline {

struct SeedPair {
  Seed zero;
  Seed one;
};

// Held by the OT sender.
struct BaseOtSent {
  SecretVector<SeedPair> pairs;
};

// Held by the OT receiver: seed i is the one that choice i selects.
struct BaseOtReceived {
  BitVector choices;
  SecretVector<Seed> seeds;
};

// `sent` is for the LaBit run that makes my bits, `received` for the one that makes the peer's. A
// set serves one LaBit run only, since its pairing may be drawn only once.
struct BaseOts {
  BaseOtSent sent;
  BaseOtReceived received;
};

// Role: both; sender in one direction and receiver in the other. `count` OTs each way.
// Wire: 64 count bytes each way, then 32 count bytes each way; 2 rounds.
// Secret: choices, scalars, all seeds.  Timing: constant in them.
// Fails: PeerCheated("base OT point") on a non-canonical group element.
BaseOts base_ots_by_public_key(checks::Session& session, std::size_t count);
// The same with given choices of this party as receiver.  Shapes: choices: count.
BaseOts base_ots_by_public_key(checks::Session& session, std::size_t count, BitVector choices);

// Turns authenticated bits into OTs: for each bit the key holder has H(K), H(K ^ Delta), the MAC
// holder H(M). Shapes: mine.size() == peers.size() == number of OTs. No traffic.
BaseOts base_ots_from_auth_bits(checks::Session& session, MacColumnView mine, KeyColumnView peers);

}  // namespace tinyot::offline
