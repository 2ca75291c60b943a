// Which units may be begun: the invariant of PROTOCOL section 3, "Broken attempts". The risks of
// all outstanding units of a session, the one to begin included, stay within the limit that its
// sigma sets, whatever the peer stalls, reorders or breaks off.
//
// Stands between those who make units and the sink: a unit is entered as outstanding, durably,
// before its first message leaves, and is so until the sink has it. Units that were broken off stay
// outstanding for good, in the sink's log.
//
// begin, try_begin, settle_on and withdraw may be called from any thread; the sink's own calls come
// from one thread at a time.
#pragma once

#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <optional>

#include "base/material.h"
#include "base/parameters.h"

namespace tinyot::offline {

class UnitAccount final : public MaterialSink {
 public:
  // `params` has the limit, and the buckets that keep to it.
  UnitAccount(MaterialSink& sink, const SecurityParameters& params);

  struct Begun {
    std::uint64_t number;
    UnitPlan plan;     // the one asked for, or with a larger bucket
    Risk outstanding;  // of all others when it was begun: what the peer is told
  };
  // Enters a unit as outstanding. Units are entered in the order of their numbers, so that one that
  // waits for units in flight waits only for lower ones. Empty if the job ends before this unit.
  // Fails: WorkerStopped; as the sink has failed; StoreError if units that were broken off leave
  // room for no bucket.
  std::optional<Begun> begin(std::uint64_t number, const UnitPlan& plan);
  // The same without waiting; empty if that cannot be.
  std::optional<Begun> try_begin(std::uint64_t number, const UnitPlan& plan);
  // What both parties have come to, from the larger of their sums. Fails: Disagreement, with both,
  // if no bucket keeps within the limit.
  UnitPlan settle_on(const Begun& begun, const Risk& peers);
  // Nothing has been said of the unit but that it might begin.
  void withdraw(const Begun& begun);
  // No unit from this one on is begun any more.
  void end_before(std::uint64_t number);
  void stop() noexcept;
  // After a failed check: nothing reaches the sink any more.
  void revoke() noexcept;

  Risk outstanding() const override;
  void pour(MaterialBatch batch) override;
  void keep(MaterialBatch bits) override;
  void finish_unit() override;

 private:
  using Lock = std::unique_lock<std::mutex>;
  void check_running() const;
  template <class Body>
  void use_sink(Body body);
  std::optional<Begun> enter(std::uint64_t number, const UnitPlan& plan, bool may_grow);
  void add(std::uint64_t number, const UnitPlan& plan);

  MaterialSink& sink_;
  const SecurityParameters& params_;
  mutable std::mutex mutex_;  // of what follows
  std::mutex sink_mutex_;     // of the sink; taken before mutex_
  std::condition_variable changed_;
  Risk outstanding_;
  std::map<std::uint64_t, Risk> in_flight_;  // of this connection's units
  std::uint64_t next_ = 0, end_ = ~std::uint64_t{0};
  bool stopped_ = false;
  std::exception_ptr failure_;  // of the sink
};

}  // namespace tinyot::offline
