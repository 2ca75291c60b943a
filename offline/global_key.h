// One global key for all aBit runs of a session. Ours: the paper makes all bits in one run, where
// one matrix R fixes one key.
//
// A run's key holder chooses R, so it can make R.Gamma = Delta' in a later run, and every check of
// that run would pass. A bit x of that run opened together with a bit u of an earlier one has the
// MAC K ^ f.Delta' ^ u.(Delta ^ Delta'), f = u ^ x, and the MAC holder's digest of the transcript
// would tell the key holder which u it was, without an abort. So each later run is tied to the
// first one:
//
//   1. kReferenceBits bits [r_j] of the session's first run are set aside as the anchor, and as
//   many [r'_j] of each later run.
//   2. The MAC holder announces e_j = r_j ^ r'_j.
//   3. EQ on the MAC holder's M_j ^ M'_j and the key holder's K_j ^ K'_j ^ e_j.Delta, one call over
//   all j.
//
// Under one key the two are equal. Otherwise they differ by r'_j.(Delta ^ Delta'), and the key
// holder, who knows e_j only, must guess every r'_j before EQ opens: 2^-128. A MAC holder that
// announces another e_j must guess Delta. The r'_j are used up; the anchor is not, since each e_j
// hides it behind a fresh r'_j.
#pragma once

#include <cstdint>
#include <optional>

#include "base/auth_bits.h"
#include "checks/session.h"

namespace tinyot::offline {

// Authenticated bits of both directions, equally many.
struct AuthBits {
  AuthBitsMine mine;
  AuthBitsPeers peers;
};

inline constexpr std::size_t kReferenceBits = 128;

class DeltaConsistency {
 public:
  bool has_reference() const { return reference_.has_value(); }
  // Null if there is none yet.
  const AuthBits* reference() const { return reference_ ? &*reference_ : nullptr; }

  // Shapes: kReferenceBits bits of each direction, of an earlier run of the session.
  void set_reference_bits(AuthBits reference);

  // Role: both are MAC holder in one direction and key holder in the other. Shapes: kReferenceBits
  // bits of each direction. Wire: 16 bytes each way, then an EQ of two comparisons; 3 rounds.
  // Fails: PeerCheated("EQ of global key").
  void check(checks::Session& session, MineView mine, PeersView peers) const;

 private:
  std::optional<AuthBits> reference_;
};

}  // namespace tinyot::offline
