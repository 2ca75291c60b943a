// A masked run (doc/protocol.md, section 19): stage F opens what does not depend on inputs, stage O
// takes the inputs. Every operand of an AND is opened once, before or after them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "checks/session.h"
#include "circuitgen/circuit_rounds.h"
#include "material/material.h"
#include "online/masked/mask_sweep.h"
#include "online/material_reader.h"
#include "online/online_phase.h"
#include "online/values.h"

namespace tinyot::online {

// The most ANDs of a run in all lanes, as 49 bytes of each stay in memory, and the most XORs and
// NOTs, which are kept once for all lanes.
inline constexpr std::uint64_t kMaskedAndsMax = std::uint64_t{1} << 23,
                               kMaskedLocalGatesMax = std::uint64_t{1} << 24;
// Fails: UsageError for a larger run.
void require_masked_size(const RunSize& size);

class MaskedRun {
 public:
  // All references outlive this object. On triples.
  MaskedRun(checks::Session& session, material::Source& source, const MaterialCounts& wanted,
            circuit::CircuitRounds& rounds, const SharedValues& shared,
            std::size_t atoms_max = MaskPlanner::kAtomsMax);

  // Stage F, role: both. Wire: MaskSweep's, and a digest. Fails: PeerCheated("MAC transcript");
  // OutOfMaterial; NetworkError.
  void prepare();

  // Stage O, role: both. Once: the same masks with other inputs would show both. Without prepare()
  // it begins with stage F, which then does not settle by itself. `agree` is called before anything
  // of the peer is received; in a prepared run, when the masked inputs have been sent, which show
  // nothing. Wire: MaskedSteps', the masked inputs, a digest, the outputs, a digest. Fails:
  // PeerCheated("MAC transcript") before anything is returned; NetworkError.
  Evaluation finish(const BundleValues& inputs, const RunProgress& progress,
                    const std::function<void()>& agree);

 private:
  void sweep();

  checks::Session& session_;
  circuit::CircuitRounds& rounds_;
  const circuit::CircuitInfo& info_;
  const SharedValues& shared_;
  Lanes lanes_;
  std::size_t atoms_max_;
  MaterialReader material_;
  std::optional<MaskSweep> sweep_;  // of the stage that has begun and is not used up
  bool is_prepared_ = false, is_finished_ = false;
};

}  // namespace tinyot::online
