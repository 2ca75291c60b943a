// Base OTs (the paper's seed OTs): the random OTs of 128-bit strings that LaBit starts from (the
// box OT of NNOB12 section 4).
//
// The first LaBit run of a connection takes them from public-key cryptography: the endemic OT of
// Masny and Rindal (2019), from Diffie-Hellman in ristretto255 (group_ot.h) or from ML-KEM-768
// (kem_ot.h), as the session says (doc/protocol.md, section 4). Later runs take them from
// authenticated bits of the other direction, hashed (NNOB12 section 4.3, "Efficient OT Extension";
// doc/protocol.md, section 5.4).
//
// Both directions run at once, since a party is OT sender for its own bits and OT receiver for the
// peer's.
#pragma once

#include "base/auth_bits.h"
#include "base/block.h"
#include "base/secret.h"
#include "checks/session.h"
#include "crypto/ml_kem.h"
#include "tinyot/parameters.h"

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

// Of a job that does not say which: ml-kem, if the OpenSSL in use has it.
BaseOt usual_base_ot();
// Fails: UsageError for ml-kem with a shortage, the reason why it is not available.
void require_base_ot(std::optional<BaseOt> requested,
                     const std::string& shortage = crypto::ml_kem_shortage());
// Bytes per OT of each direction that each party sends, in two messages.
std::uint64_t base_ot_bytes(BaseOt kind);

// Role: both; sender in one direction and receiver in the other. `count` OTs each way.
// Wire: as group_base_ots or kem_base_ots.
// Secret: choices, private keys, all seeds.  Timing: constant in them.
// Fails: PeerCheated("base OT point" or "base OT vector") on what is no key.
BaseOts base_ots_by_public_key(checks::Session& session, std::size_t count);
// The same with given choices of this party as receiver.  Shapes: choices: count.
BaseOts base_ots_by_public_key(checks::Session& session, std::size_t count, BitVector choices);

// Turns authenticated bits into OTs: for each bit the key holder has H(K), H(K ^ Delta), the MAC
// holder H(M). Shapes: mine.size() == peers.size() == number of OTs. No traffic.
BaseOts base_ots_from_auth_bits(checks::Session& session, MacColumnView mine, KeyColumnView peers);

}  // namespace tinyot::offline
