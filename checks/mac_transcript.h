// The amortised MAC check (NNOB12 section 3, "Amortized MAC checks"; PROTOCOL section 8).
//
// Each direction has one transcript over the MACs of all revealed bits in the order of revealing.
// The MAC holder absorbs M_x, the key holder K_x ^ x.Delta for the x it was told. The MAC holder
// then sends a digest and the key holder compares: nothing that depends on a key ever leaves the
// key holder.
//
// Differs: between two settlements the paper's chain N := G(N, H(M)) is the sum of H(i, M_i), G
// being applied where it is settled. Whoever revealed a wrong bit holds M_i where the key holder
// has M_i ^ Delta, and must foretell H(i, M_i ^ Delta): crypto/hash_sum.h.
//
// A shared bit x = x_A ^ x_B of which both hold shares of the MAC, m_A ^ m_B = x.(Delta^A ^
// Delta^B), is opened by both sending their bits, and both absorb m_P ^ x.Delta^P for the x that
// came out: the same block, if both told the truth. That sum enters both digests. A party that told
// a wrong bit knows, of the first such bit, its own side's block, V, where the other party Q has V
// ^ Delta^Q, and must predict H(i, V ^ Delta^Q), as above.
//
// A constant bit, as the peer's share of an input, has M = 0, and the key holder absorbs 0 for the
// honest value; its digest stays with it, so that the key of a constant bit is never sent nor
// revealed.
#pragma once

#include <cstdint>
#include <span>

#include "base/block.h"
#include "base/party.h"
#include "base/session_id.h"
#include "crypto/hash_sum.h"
#include "crypto/random_oracle.h"

namespace tinyot::checks {

class Session;

// One direction.
class MacTranscript {
 public:
  MacTranscript(const SessionId& session, Party mac_holder);

  // Appends MACs in order. `count` of all calls together is the same on both sides when a check is
  // due.
  void absorb(std::span<const Block> macs);

  // Appends a sum of H over further blocks.
  void absorb_sum(Block sum) { chain_.absorb_object(sum); }

  // Appends all of another transcript of the same direction, which then begins anew.
  void absorb_part(MacTranscript& part);

  // The digest of everything so far. Both parties call it at the same points.
  crypto::Digest settle();

 private:
  SessionId session_;
  char direction_;
  std::uint64_t settled_ = 0;
  crypto::HashSum sum_;
  crypto::RandomOracle chain_;
};

// Proof that all bits opened so far have been checked. Only settle() makes one; outputs and stored
// material ask for it.
class SettledCheck {
 public:
  SettledCheck(SettledCheck&&) = default;
  SettledCheck& operator=(SettledCheck&&) = default;

 private:
  SettledCheck() = default;
  friend SettledCheck settle_transcripts(Session& session);
  friend SettledCheck settle_part(Session& whole, Session& part);
};

struct MacTranscripts {
  MacTranscripts(const SessionId& session, Party me)
      : mine(session, me), peers(session, peer_of(me)),
        shared(session, {"shared MAC transcript", '*', 0}, crypto::HashUse::MacTranscript) {}

  // Before the transcripts settle: puts what has been opened of shared bits on those of both
  // directions. Every bit that was revealed is to be on them by then.
  void close();

  MacTranscript mine;      // of my bits: I am the MAC holder
  MacTranscript peers;     // of the peer's bits: I am the key holder
  crypto::HashSum shared;  // of shared bits, since they last joined
  // Bits that were revealed and have not been absorbed.
  std::int64_t mine_due = 0, peers_due = 0;
};

// Role: both; each is MAC holder in one direction and key holder in the other.
// Wire: 1 message of 32 bytes each way, 1 round.
// Fails: PeerCheated("MAC transcript") if a bit that the peer revealed does not have the MAC it
// should have.
SettledCheck settle_transcripts(Session& session);

// The same for a session that is worked at in parts: takes the part's transcripts into those of the
// whole, and settles these on the part's channel. Both parties take the parts in the same order,
// one at a time.
SettledCheck settle_part(Session& whole, Session& part);

}  // namespace tinyot::checks
