// The amortised MAC check (NNOB12 section 3, "Amortized MAC checks"; doc/protocol.md, section 8).
//
// Each direction has one transcript over the MACs of all revealed bits in the order of revealing,
// and settles on its own. The MAC holder absorbs M_x, the key holder K_x ^ x.Delta for the x that
// it received. The MAC holder then sends a digest and the key holder compares: the key holder sends
// nothing that depends on a key.
//
// Differs: between two settlements the paper's chain N := G(N, H(M)) is the sum of H(i, M_i); G is
// applied at a settlement. A party that revealed a wrong bit holds M_i where the key holder has
// M_i ^ Delta, and must predict H(i, M_i ^ Delta): crypto/hash_sum.h.
//
// A shared bit x = x_A ^ x_B of which both hold shares of the MAC, m_A ^ m_B = x.(Delta^A ^
// Delta^B), is opened by both sending their bits. Both absorb m_P ^ x.Delta^P for the opened x: the
// same block if both are honest. The sum over these blocks enters the next digest of each
// direction. A party that sent a wrong bit knows, for the first such bit, its own block V where the
// other party Q has V ^ Delta^Q, and must predict H(i, V ^ Delta^Q), as above.
//
// A constant bit, such as the peer's share of an input, has M = 0, and the key holder absorbs 0 for
// the honest value. The key holder does not send its digest, so the key of a constant bit is never
// revealed.
#pragma once

#include <cstdint>
#include <span>

#include "base/block.h"
#include "base/session_id.h"
#include "crypto/hash_sum.h"
#include "crypto/random_oracle.h"
#include "tinyot/party.h"

namespace tinyot::checks {

class Session;

// One direction.
class MacTranscript {
 public:
  MacTranscript(const SessionId& session, Party mac_holder);

  // Appends MACs in order. When the transcript settles, both sides have appended the same number.
  void absorb(std::span<const Block> macs);

  // Appends a sum of H over further blocks.
  void absorb_sum(Block sum) { chain_.absorb_object(sum); }

  // Appends the digest of a part's transcript of the same direction, which settles with this one.
  void absorb_part(const crypto::Digest& part) { chain_.absorb_object(part); }

  // The digest of everything absorbed so far. Both parties call it at the same points.
  crypto::Digest settle();

 private:
  SessionId session_;
  char direction_;
  std::uint64_t settled_ = 0;
  crypto::HashSum sum_;
  crypto::RandomOracle chain_;
};

// A token: all bits that the peer has opened so far have been checked. Only receive_digest makes
// one; outputs and stored material require it.
class SettledCheck {
 public:
  SettledCheck(SettledCheck&&) = default;
  SettledCheck& operator=(SettledCheck&&) = default;

 private:
  SettledCheck() = default;
  friend SettledCheck receive_digest(Session& session);
  friend SettledCheck receive_digest(Session& whole, Session& part);
};

struct MacTranscripts {
  MacTranscripts(const SessionId& session, Party me)
      : mine(session, me), peers(session, peer_of(me)),
        shared(session, {"shared MAC transcript", '*', 0}, crypto::HashUse::MacTranscript),
        gates(session, {"garbled gates", '*', 0}, crypto::HashUse::GarbledGate) {}

  // Settle one direction, with the shared bits and gates absorbed since it last settled. Every bit
  // revealed in it must have been absorbed.
  crypto::Digest settle_mine();
  crypto::Digest settle_peers();

  MacTranscript mine;      // of my bits: I am the MAC holder
  MacTranscript peers;     // of the peer's bits: I am the key holder
  crypto::HashSum shared;  // of shared bits
  crypto::HashSum gates;   // of garbled gates (online/garbled/gate_check.h)
  // Bits that have been revealed but not yet absorbed.
  std::int64_t mine_due = 0, peers_due = 0;

 private:
  // What is in both directions.
  struct Sums {
    Block shared{0, 0}, gates{0, 0};
  };
  void take_sums();
  static void settle_sums(Sums& sums, MacTranscript& direction);
  // Those that the direction has not settled.
  Sums sums_of_mine_, sums_of_peers_;
};

// Role: MAC holder. Settles the direction of my bits.  Wire: sends 1 message of 32 bytes.
void send_digest(Session& session);
// Role: key holder. Settles the direction of the peer's bits, after the peer has sent its digest.
// Wire: receives 1 message of 32 bytes.
// Fails: PeerCheated("MAC transcript") if a bit that the peer revealed has a wrong MAC; StoreError
// if the session has been revoked meanwhile, on another connection.
SettledCheck receive_digest(Session& session);

// The same for a part of a session: appends the part's transcript to that of the whole, and settles
// this on the part's channel. Both parties settle the parts in the same order, one at a time.
void send_digest(Session& whole, Session& part);
SettledCheck receive_digest(Session& whole, Session& part);

// Role: both; each is MAC holder in one direction and key holder in the other. Sends, then
// receives.  Wire: 1 message of 32 bytes each way, 1 round.
SettledCheck settle_transcripts(Session& session);
SettledCheck settle_part(Session& whole, Session& part);

}  // namespace tinyot::checks
