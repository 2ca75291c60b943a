// aBit: authenticated bits under a global key without leakage (NNOB12 Fig. 9; doc/protocol.md,
// section 5.3).
//
// Privacy amplification multiplies by a random psi x tau matrix R. For bits of A, B being the key
// holder: M_j = R.M'_j, K_j = R.K'_j, Delta^B = R.Gamma_A (the paper's Delta_A). The product is
// taken on rows, before the transposition, so that psi and not tau rows are transposed.
//
// Differs: Delta^B is drawn first, once for all runs of a session, and R uniformly subject to
// R.Gamma_A = Delta^B, as in section 5.3 for later runs. For Gamma_A != 0 the triple (R, Gamma_A,
// Delta^B) has the same distribution either way. R itself is sent (psi rows of tau bits, padded to
// whole 512-bit groups) after LaBit's check.
#pragma once

#include "base/auth_bits.h"
#include "checks/session.h"
#include "offline/base_ot/base_ot.h"
#include "offline/nnob12/leaky_bits.h"
#include "offline/nnob12/weak_bits.h"
#include "offline/parameters.h"
#include "offline/unit/bit_source.h"
#include "offline/unit/schedule.h"
#include "offline/unit/steps.h"

namespace tinyot::offline {

// R, 128 rows and tau columns. Secret to the key holder until it is sent, public afterwards.
struct AmplificationMatrix {
  BitMatrix matrix;
};
// R, prepared for products with many chunks of columns.
class Amplifier {
 public:
  explicit Amplifier(const AmplificationMatrix& r) : left_(r.matrix) {}

  // Step 3: MAC j = R.M'_j.  Step 4: key j = R.K'_j.
  void amplify(WeakMacColumns weak, std::span<Mac> macs);
  void amplify(WeakKeyColumns weak, std::span<Key> keys);

 private:
  void amplify(const BitMatrix& weak, std::span<Block> out);
  LeftFactor left_;
  BitMatrix product_;
};

// Step 2, key holder: R uniform subject to R.gamma = delta.  Timing: constant in gamma and delta.
AmplificationMatrix draw_amplification(crypto::Rng& rng, WeakGlobalKey gamma, const Delta& delta);

// Of a chunk of columns.
StageCost cost_of_columns(const SecurityParameters& params);

// Where the parts of a run's bits begin. Each part begins at a multiple of 64.
struct RunLayout {
  // `seed_sets` times T bits become the base OTs of `seed_sets` later runs.
  RunLayout(const SecurityParameters& params, std::size_t wanted, std::size_t seed_sets);
  std::size_t seeds(std::size_t set) const { return first_seeds + set * seeds_stride; }

  std::size_t first_seeds, seeds_stride;
  std::size_t check_delta;  // kReferenceBits for the Delta-consistency check
  std::size_t length;
};

// Makes authenticated bits run by run: LaBit, WaBit, aBit in both directions at once, under the
// session's global keys. A unit takes one run, which is one batch: one check covers all its bits.
//
// Public-key OTs are needed once. If there is more than one run, they feed a short run that makes
// the base OTs of the first kLanes runs and the session's reference bits; run r then makes the base
// OTs of run r + kLanes. Up to kLanes runs may be in progress at a time, and the bits that a run
// makes do not depend on that number.
class AuthBitSource final : public BitSource {
 public:
  static constexpr std::size_t kLanes = 64;

  AuthBitSource(checks::Session& session, const SecurityParameters& params,
                PipelineDepth depth = {})
      : session_(session), params_(params), depth_(depth) {}

  AuthBits make_reference_bits() override;

  // Role: both, on the session's own channel. Wire: T base OTs each way in 2 rounds; then, for more
  // than one run, as a run.
  void prepare(std::size_t runs) override;

  // Its make() makes all bits of RunLayout(params, wanted, 1).
  //
  // `run` and `wanted` are public and the same on both sides. Wire: T / 8 bytes per bit each way, +
  // 16 KB. A run takes one round for its columns, which are streamed in chunks of kChunkBits with
  // kChunksAhead in flight, 4 for the check and R, and 3 for the Delta-consistency check. Fails:
  // PeerCheated("EQ of LaBit", "base OT point"), and as DeltaConsistency::check; WorkerStopped.
  std::unique_ptr<BitStream> stream(checks::Session& part, std::size_t run,
                                    std::size_t wanted) override;

  void stop() noexcept override { lanes_.stop(); }

 private:
  class Run;

  checks::Session& session_;
  const SecurityParameters& params_;
  PipelineDepth depth_;
  BaseOtQueue lanes_;
  std::size_t runs_ = 0;
};

}  // namespace tinyot::offline
