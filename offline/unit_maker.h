// What the preprocessor needs of a profile: something that makes units.
#pragma once

#include <algorithm>
#include <memory>

#include "base/material.h"
#include "base/parameters.h"
#include "checks/session.h"
#include "offline/global_key.h"

namespace tinyot::offline {

inline constexpr std::size_t kPourCount = std::size_t{1} << 14;  // objects poured at a time

// Pours `total` objects of a kind, some at a time: fill(first, batch) makes the batch's objects
// [first, first + batch.count).
template <class Fill>
void pour_objects(MaterialSink& sink, MaterialKind kind, Party me, std::size_t total, Fill fill) {
  for (std::size_t first = 0; first < total; first += kPourCount) {
    MaterialBatch batch(kind, me, std::min(kPourCount, total - first));
    fill(first, batch);
    sink.pour(std::move(batch));
  }
}

// Copies bits [first, first + to.size()) of a batch.
void copy_part(const AuthBitsMine& from, std::size_t first, AuthBitsMine& to);
void copy_part(const AuthBitsPeers& from, std::size_t first, AuthBitsPeers& to);

// Bits [first, first + to.size()) of both parties as shared bits, with their MACs and keys taken
// together.
void share_part(const AuthBitsMine& mine, const AuthBitsPeers& peers, std::size_t first,
                Delta global_key, AuthShares& to);

// Pours `count` bits of each party from `first` on as what they are.
void pour_bits(MaterialSink& sink, Party me, std::size_t count, const AuthBits& bits,
               std::size_t first);

// What a unit is to yield: plan.ands objects of each kind, and `inputs` aBits of each party beyond
// those that go with the ANDs.
struct UnitRequest {
  UnitPlan plan;
  std::uint64_t inputs;
};

// The objects that such a unit pours.
MaterialCounts counts_of(const UnitRequest& request, MaterialForm form);

// A unit whose checks have passed, but for the MAC transcript of its session part.
class MadeUnit {
 public:
  virtual ~MadeUnit() = default;
  // Asks for the check that all of it depends on.
  virtual void pour(const checks::SettledCheck&, MaterialSink& sink) = 0;
};

class UnitMaker {
 public:
  virtual ~UnitMaker() = default;

  // What the units are checked against, to be called before prepare:
  // kReferenceBits bits of each direction made then.
  virtual void set_reference_bits(AuthBits reference) = 0;

  // Makes the bits that others are to be tied to, and nothing else: kReferenceBits of each
  // direction.
  virtual AuthBits make_reference_bits() = 0;

  // What the units are tied to, once they are prepared; null for a single unit that nothing comes
  // before.
  virtual const AuthBits* reference() const = 0;

  // What is made once for all units, on the session's own channel.
  virtual void prepare(std::size_t units) = 0;

  // Units of different numbers may be made by different threads, each on a part of the session that
  // is the unit's own.
  virtual std::unique_ptr<MadeUnit> make(checks::Session& part, std::size_t number,
                                         const UnitRequest& request) = 0;

  // From any thread: whoever waits for another unit ends with WorkerStopped.
  virtual void stop() noexcept = 0;
};

// A fresh global key for the peer's bits, as the profile needs it: for triples the lowest bits of
// both parties' keys differ.
Delta draw_global_key(crypto::Rng& rng, Party me, Profile profile);

std::unique_ptr<UnitMaker> make_unit_maker(checks::Session& session,
                                           const SecurityParameters& params);

}  // namespace tinyot::offline
