// Base OTs from a key encapsulation, ML-KEM-768: endemic OT (Masny, Rindal 2019) with the sums of
// module vectors in place of those of a group (doc/protocol.md, section 4.2).
//
// Secure against quantum computers, also those of a peer that has recorded the session: the
// receiver's choice under module LWE with regular secrets, as ML-KEM's keys; the sender's other
// string as ML-KEM's secrets.
//
// Differs: H is not FIPS 203's sampling of vectors, whose time would show the choice
// (crypto/ml_kem.h).
#pragma once

#include <array>
#include <vector>

#include "crypto/ml_kem.h"
#include "offline/base_ot/base_ot.h"
#include "offline/base_ot/endemic_ot.h"

namespace tinyot::offline {

// What the receiver sends for one OT, and the sender.
struct KemOffer {
  std::array<std::uint8_t, 32> rho;
  OtPair<crypto::KemVector> r;
};
using KemAnswer = OtPair<crypto::KemCiphertext>;

// Role: OT receiver. Secret: choices, keys, seeds. Timing: constant in choices.
class KemOtReceiver {
 public:
  KemOtReceiver(const OtDirection& direction, BitVector choices);

  // Step 1: (t, rho) and its decapsulation key; r_{1-c} random, r_c = t - H(i, c, rho, r_{1-c}).
  // Fails: as crypto::KemKeyPair.
  std::vector<KemOffer> choose(crypto::Rng& rng);
  // Step 3: k_c from the secret in ciphertext c. Once, after choose(). Shapes: one per choice.
  BaseOtReceived finish(std::span<const KemAnswer> answers);

 private:
  OtDirection direction_;
  BitVector choices_;
  std::vector<crypto::KemKeyPair> keys_;
  std::vector<KemOffer> offers_;
};

// Role: OT sender.
class KemOtSender {
 public:
  explicit KemOtSender(const OtDirection& direction) : direction_(direction) {}

  // Step 2: encapsulates to (r_b + H(i, b, rho, r_{1-b}), rho) for b = 0, 1; k_b from the secrets.
  // Fails: PeerCheated("base OT vector") if a coefficient is not below q, before anything else.
  std::vector<KemAnswer> answer(crypto::Rng& rng, std::span<const KemOffer> offers,
                                BaseOtSent& ots) const;

 private:
  OtDirection direction_;
};

// Role: both. Wire: 2,336 bytes per OT each way, then 2,176 bytes per OT each way; 2 rounds.
BaseOts kem_base_ots(checks::Session& session, BitVector choices);

}  // namespace tinyot::offline
