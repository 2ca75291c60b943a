// Admission of units: the invariant of doc/protocol.md, section 3.2. The sum of the risks of all
// outstanding units of a session, including the one to begin, stays within the limit set by sigma,
// whatever the peer stalls, reorders or breaks off.
//
// The account is a layer between unit makers and the sink: a unit is entered as outstanding,
// durably, before its first message is sent, and stays so until the sink has it. Broken attempts
// stay outstanding permanently, in the sink's log.
//
// begin, try_begin, settle_on and withdraw may be called from any thread; the sink is called by one
// thread at a time.
#pragma once

#include <condition_variable>
#include <exception>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "material/material.h"
#include "offline/parameters.h"

namespace tinyot::offline {

class UnitAccount final : public material::Sink {
 public:
  // `params` has the limit, and the buckets that keep within it. A bucket larger than planned is
  // used only if its unit takes no more than `unit_bytes_max` of memory, without its inputs.
  UnitAccount(material::Sink& sink, const SecurityParameters& params,
              std::uint64_t unit_bytes_max = std::numeric_limits<std::uint64_t>::max());

  struct Begun {
    std::uint64_t number;
    UnitPlan plan;     // the requested one, or with a larger bucket
    Risk outstanding;  // of all others when it was begun: sent to the peer
  };
  // Enters a unit as outstanding. Units are entered in the order of their numbers, so a unit waits
  // only for units in flight with lower numbers. Empty if the job ends before this unit. Fails:
  // WorkerStopped; with the sink's failure; StoreError if the risk of broken attempts leaves no
  // room for any bucket, or only for units that take too much memory.
  std::optional<Begun> begin(std::uint64_t number, const UnitPlan& plan);
  // The same without waiting; empty if it would have to wait.
  std::optional<Begun> try_begin(std::uint64_t number, const UnitPlan& plan);
  // The plan for both parties, from the larger of their sums. Fails: Disagreement, naming both
  // sums, if no bucket keeps within the limit, or only units that take too much memory.
  UnitPlan settle_on(const Begun& begun, const Risk& peers);
  // Removes a unit of which no message has been sent except the one that announces it.
  void withdraw(const Begun& begun);
  // From now on, neither this unit nor a later one is begun.
  void end_before(std::uint64_t number);
  void stop() noexcept;
  // After a failed check: every later use of the sink fails.
  void revoke() noexcept;

  Risk outstanding() const override;
  void pour(material::Batch batch) override;
  void add_reference_bits(material::Batch bits) override;
  void finish_unit() override;

 private:
  using Lock = std::unique_lock<std::mutex>;
  void check_running() const;
  template <class Body>
  void use_sink(Body body);
  std::optional<Begun> enter(std::uint64_t number, const UnitPlan& plan, bool may_grow);
  std::string memory_excess(const UnitPlan& plan, const UnitPlan& larger) const;
  void add(std::uint64_t number, const UnitPlan& plan);

  material::Sink& sink_;
  const SecurityParameters& params_;
  const std::uint64_t unit_bytes_max_;
  mutable std::mutex mutex_;  // guards the members below
  std::mutex sink_mutex_;     // guards the sink; locked before mutex_
  std::condition_variable changed_;
  Risk outstanding_;
  std::map<std::uint64_t, Risk> in_flight_;  // of this connection's units
  std::uint64_t next_ = 0, end_ = ~std::uint64_t{0};
  bool stopped_ = false;
  std::exception_ptr failure_;  // of the sink
};

}  // namespace tinyot::offline
