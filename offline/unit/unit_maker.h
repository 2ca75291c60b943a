// The interface of a profile to the preprocessor: it makes units.
#pragma once

#include <algorithm>
#include <memory>

#include "checks/session.h"
#include "material/material.h"
#include "offline/global_key.h"
#include "offline/parameters.h"
#include "offline/unit/bit_source.h"
#include "offline/unit/steps.h"

namespace tinyot::offline {

// Pours `total` objects of a kind in full batches: fill(first, batch) fills the batch with objects
// [first, first + batch.count).
template <class Fill>
void pour_objects(material::Sink& sink, MaterialKind kind, Party me, std::size_t total, Fill fill) {
  for (std::size_t first = 0; first < total; first += material::full_batch(kind)) {
    material::Batch batch(kind, me, std::min(material::full_batch(kind), total - first));
    fill(first, batch);
    sink.pour(std::move(batch));
  }
}

// Copies bits [first, first + to.size()) of a batch.
void copy_part(const MacColumn& from, std::size_t first, MacColumn& to);
void copy_part(const KeyColumn& from, std::size_t first, KeyColumn& to);

// Pours `total` full triples from the columns x, y and z of both parties.
using ColumnParts = std::array<std::pair<const MacColumn*, const KeyColumn*>, 3>;
void pour_full_triples(material::Sink& sink, Party me, std::size_t total,
                       const ColumnParts& columns);

// Bits [first, first + to.size()) of both parties as shared bits, with MACs and keys combined into
// MAC shares.
void share_part(const MacColumn& mine, const KeyColumn& peers, std::size_t first, Delta global_key,
                AuthShares& to);

// Pours bits [first, first + count) of each party as aBits.
void pour_bits(material::Sink& sink, Party me, std::size_t count, const AuthBits& bits,
               std::size_t first);

// The material that a unit yields: plan.ands objects of each kind, and `inputs` aBits of each party
// in addition to those of the ANDs.
struct UnitRequest {
  UnitPlan plan;
  std::uint64_t inputs;
};

// What a profile makes for it: on material for garbling, the masks of the results are made as
// further inputs.
UnitRequest with_result_masks(UnitRequest request, AndMaterial form);

// The objects that such a unit pours.
MaterialCounts counts_of(const UnitRequest& request, AndMaterial form);

// A unit whose checks have passed, except that of its session part's MAC transcript.
class MadeUnit {
 public:
  virtual ~MadeUnit() = default;
  // Requires the settled MAC check of the unit's session part.
  virtual void pour(const checks::SettledCheck&, material::Sink& sink) = 0;
};

// The schedule by which units share the link.
struct LinkSchedule {
  PipelineDepth depth = {};
  std::size_t workers = 1;      // units in flight
  std::size_t sending_max = 1;  // of these, those that keep the link busy at a time
};

class UnitMaker {
 public:
  virtual ~UnitMaker() = default;

  // Where its bits come from: set up before the first unit is made.
  virtual BitSource& bits() = 0;

  // Units with different numbers may be made by different threads, each on the unit's own session
  // part.
  virtual std::unique_ptr<MadeUnit> make(checks::Session& part, std::size_t number,
                                         const UnitRequest& request) = 0;

  // Called in place of make for a unit that is not made, so that no later unit waits for it.
  virtual void skip() {}

  // May be called from any thread: a call that waits for another unit ends with WorkerStopped.
  virtual void stop() noexcept = 0;
};

// A fresh global key for the peer's bits, as the profile needs it.
Delta draw_global_key(crypto::Rng& rng, Party me, Profile profile, AndMaterial form);
// Its bits that are not fixed: kappa, as reported.
std::uint32_t free_key_bits(Profile profile, AndMaterial form);

}  // namespace tinyot::offline
