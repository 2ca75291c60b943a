// The amortised MAC check (NNOB12 section 3, "Amortized MAC checks"; doc/protocol.md, section 8).
//
// Each direction has one transcript over the MACs of all revealed bits in the order of revealing.
// The MAC holder absorbs M_x, the key holder K_x ^ x.Delta for the x that it received. The MAC
// holder then sends a digest and the key holder compares: the key holder sends nothing that depends
// on a key.
//
// Differs: between two settlements the paper's chain N := G(N, H(M)) is the sum of H(i, M_i); G is
// applied at a settlement. A party that revealed a wrong bit holds M_i where the key holder has
// M_i ^ Delta, and must predict H(i, M_i ^ Delta): crypto/hash_sum.h.
//
// A shared bit x = x_A ^ x_B of which both hold shares of the MAC, m_A ^ m_B = x.(Delta^A ^
// Delta^B), is opened by both sending their bits. Both absorb m_P ^ x.Delta^P for the opened x: the
// same block if both are honest. The sum over these blocks enters both digests. A party that sent a
// wrong bit knows, for the first such bit, its own block V where the other party Q has V ^ Delta^Q,
// and must predict H(i, V ^ Delta^Q), as above.
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

  // Settles another transcript of the same direction and appends its digest.
  void absorb_part(MacTranscript& part);

  // The digest of everything absorbed so far. Both parties call it at the same points.
  crypto::Digest settle();

 private:
  SessionId session_;
  char direction_;
  std::uint64_t settled_ = 0;
  crypto::HashSum sum_;
  crypto::RandomOracle chain_;
};

// A token: all bits opened so far have been checked. Only the settle functions make one; outputs
// and stored material require it.
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

  // Called before the transcripts settle: absorbs the sum of the opened shared bits in both
  // directions. Every revealed bit must have been absorbed by then.
  void close();

  MacTranscript mine;      // of my bits: I am the MAC holder
  MacTranscript peers;     // of the peer's bits: I am the key holder
  crypto::HashSum shared;  // of shared bits, since the last close()
  // Bits that have been revealed but not yet absorbed.
  std::int64_t mine_due = 0, peers_due = 0;
};

// Role: both; each is MAC holder in one direction and key holder in the other.
// Wire: 1 message of 32 bytes each way, 1 round.
// Fails: PeerCheated("MAC transcript") if a bit that the peer revealed has a wrong MAC; StoreError
// if the session has been revoked meanwhile, on another connection.
SettledCheck settle_transcripts(Session& session);

// The same for a part of a session: appends the part's transcripts to those of the whole, and
// settles these on the part's channel. Both parties settle the parts in the same order, one at a
// time.
SettledCheck settle_part(Session& whole, Session& part);

}  // namespace tinyot::checks
