// Seed OTs: the random OTs of 128-bit strings that LaBit starts from (the box OT of NNOB12 section
// 4).
//
// The first LaBit run of a connection takes them from public-key cryptography: the endemic OT of
// Masny and Rindal (2019, section 5.1: uniform key agreement, here Diffie-Hellman) over
// ristretto255; PROTOCOL section 4. Later runs take them from authenticated bits of the other
// direction, hashed (NNOB12 section 4.3, "Efficient OT Extension"; PROTOCOL section 5).
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

// What the OT sender holds.
struct SentSeeds {
  SecretVector<SeedPair> pairs;
};

// What the OT receiver holds: seed i is the one that choice i names.
struct ReceivedSeeds {
  BitVector choices;
  SecretVector<Seed> seeds;
};

// `sent` is for the LaBit that makes my bits, `received` for the one that makes the peer's.
// Move-only in spirit: a set of seeds feeds one LaBit run, since the pairing may be drawn only once
// for it.
struct SeedOts {
  SentSeeds sent;
  ReceivedSeeds received;
};

// Role: both are sender and receiver. `count` OTs each way.
// Wire: 64 count bytes each way, then 32 count bytes each way; 2 rounds.
// Secret: choices, scalars, all seeds.  Timing: constant in them.
// Fails: PeerCheated("seed OT point") on anything that is not a canonical group element.
SeedOts seed_ots_by_public_key(checks::Session& session, std::size_t count);
// The same with this party's choices as a receiver given.  Shapes: choices: count.
SeedOts seed_ots_by_public_key(checks::Session& session, std::size_t count, BitVector choices);

// Turns authenticated bits into OTs: for a bit of the peer the key holder has H(K), H(K ^ Delta),
// the MAC holder H(M). Shapes: mine.size() == peers.size() == number of OTs. No traffic.
SeedOts seed_ots_from_auth_bits(checks::Session& session, MineView mine, PeersView peers);

}  // namespace tinyot::offline
