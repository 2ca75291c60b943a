// aBit: authenticated bits under a global key of which nothing has leaked (NNOB12 Fig. 9; PROTOCOL section 5).
//
// Privacy amplification multiplies by a random psi x tau matrix R: M_j = R.M'_j, K_j = R.K'_j, Delta_A = R.Gamma_A. The product
// is taken on rows, before the transposition, so that psi and not tau rows are transposed.
//
// Differs: Delta_A is drawn first, once for all runs of a session, and R uniformly subject to R.Gamma_A = Delta_A, as PROTOCOL
// section 5 has it for later runs. For Gamma_A != 0 the triple (R, Gamma_A, Delta_A) has the same distribution either way. R
// itself is sent (psi rows of tau bits, padded to whole 512-bit groups), after LaBit's check.
#pragma once

#include "base/auth_bits.h"
#include "base/parameters.h"
#include "checks/session.h"
#include "offline/global_key.h"
#include "offline/leaky_bits.h"
#include "offline/seed_ot.h"
#include "offline/weak_bits.h"

namespace tinyot {

// R, 128 rows and tau columns. Secret of the key holder until it is sent, public afterwards.
struct AmplificationMatrix {
  BitMatrix matrix;
};

// Step 2, key holder: R uniform subject to R.gamma = delta.  Timing: constant in gamma and delta.
AmplificationMatrix draw_amplification(Rng& rng, WeakGlobalKey gamma, Delta delta);

// Step 3: MAC j = R.M'_j.  Step 4: key j = R.K'_j.
void amplify(const AmplificationMatrix& r, WeakMacColumns weak, std::span<Mac> macs);
void amplify(const AmplificationMatrix& r, WeakKeyColumns weak, std::span<Key> keys);

// Makes authenticated bits run by run: LaBit, WaBit, aBit in both directions at once, under the session's global keys. Of each
// run T bits are set aside as the seed OTs of the next one, and kTieBits to tie the runs to one global key.
class AuthBitMaker {
 public:
  AuthBitMaker(Session& session, const SecurityParameters& params) : session_(session), params_(params) {}

  // Bits that a run makes in all for `wanted` usable ones.
  static std::size_t run_length(const SecurityParameters& params, std::size_t wanted);

  // Role: both are MAC holder of their own bits and key holder of the peer's. `wanted` is public and the same on both sides.
  // Wire: (T / 8) bytes a bit each way, + 16 KB. Before the first run 2 rounds; a run takes a round for its columns, which
  // stream in chunks of kChunkBits with kChunksAhead on their way, 4 for the check and R, and 3 for the tie to earlier runs.
  // Fails: PeerCheated("EQ of LaBit of A", "... of B", "seed OT point"), and as GlobalKeyTie::check.
  AuthBits make(std::size_t wanted);

  // Ties the runs of this connection to those of an earlier one of the session, to be called before the first run.
  void set_anchor(AuthBits anchor) { tie_.set_anchor(std::move(anchor)); }

 private:
  Session& session_;
  const SecurityParameters& params_;
  SeedOts seeds_;
  GlobalKeyTie tie_;
  std::uint64_t runs_ = 0;
};

}  // namespace tinyot
