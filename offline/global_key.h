// Delta-consistency check: one global key for all aBit runs of a session (doc/protocol.md, section
// 5.5). Differs: the paper makes all bits in one run, where one matrix R fixes one key.
//
// A run's key holder chooses R. In a later run it can choose R.Gamma = Delta' != Delta, and every
// check of that run passes. If a bit x of that run is opened together with a bit u of an earlier
// run, the MAC is K ^ f.Delta' ^ u.(Delta ^ Delta'), f = u ^ x, and the MAC holder's digest of the
// transcript reveals u to the key holder without an abort. So each later run is checked against the
// first one:
//
//   1. kReferenceBits bits [r_j] of the session's first run are set aside as reference bits, and as
//      many bits [r'_j] of each later run.
//   2. The MAC holder announces e_j = r_j ^ r'_j.
//   3. EQ on the MAC holder's M_j ^ M'_j and the key holder's K_j ^ K'_j ^ e_j.Delta, one call over
//      all j.
//
// Under one key the two are equal. Otherwise they differ by r'_j.(Delta ^ Delta'), and the key
// holder, given only the e_j, must guess every r'_j before EQ opens: 2^-128. A MAC holder that
// announces a wrong e_j must guess Delta. The r'_j are consumed. The reference bits are not, since
// each e_j masks r_j with a fresh r'_j.
#pragma once

#include <cstdint>
#include <optional>

#include "base/auth_bits.h"
#include "checks/session.h"

namespace tinyot::offline {

// Whether this party's global key has the low bit that leaky triples and garbling require: 1 for
// B's key (which authenticates A's bits), 0 for A's.
bool fits_triples(const checks::Session& session);
Delta fitted_to_triples(Delta key, Party me);

// Authenticated bits, the same number of each direction.
struct AuthBits {
  MacColumn mine;
  KeyColumn peers;
};

inline constexpr std::size_t kReferenceBits = 128;

class DeltaConsistency {
 public:
  bool has_reference() const { return reference_.has_value(); }
  // Null if there is none yet.
  const AuthBits* reference() const { return reference_ ? &*reference_ : nullptr; }

  // Shapes: kReferenceBits bits of each direction, of an earlier run of the session.
  void set_reference_bits(AuthBits reference);

  // Role: both; each is MAC holder in one direction and key holder in the other. Shapes:
  // kReferenceBits bits of each direction. Wire: 16 bytes each way, then an EQ of two comparisons;
  // 3 rounds. Fails: PeerCheated("EQ of global key").
  void check(checks::Session& session, MacColumnView mine, KeyColumnView peers) const;

 private:
  std::optional<AuthBits> reference_;
};

}  // namespace tinyot::offline
