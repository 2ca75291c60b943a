// Plans of circuits whose rounds this process keeps (circuitgen/layered_circuit.h), for further
// runs of the same rounds. Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "circuitgen/layered_circuit.h"
#include "online/masked/mask_plan.h"

namespace tinyot::online {

class PlanCache {
 public:
  static PlanCache& of_process();

  // Null if there is none.
  std::shared_ptr<const CircuitPlan> plan(
      const std::shared_ptr<const circuit::LayeredCircuit>& layered);
  // The plan of all its rounds, with the usual bound of atoms; for as long as they are kept, and
  // unless it takes many times their memory, or all plans would take more than 128 MiB.
  void keep(const std::shared_ptr<const circuit::LayeredCircuit>& layered,
            std::shared_ptr<const CircuitPlan> plan);

 private:
  std::mutex mutex_;
  std::map<std::weak_ptr<const circuit::LayeredCircuit>, std::shared_ptr<const CircuitPlan>,
           std::owner_less<>>
      plans_;
};

// The plans of a circuit's rounds, in their order: known ones, or made here.
class RoundPlans {
 public:
  // `known`: of all rounds, or null.
  RoundPlans(std::shared_ptr<const CircuitPlan> known, std::size_t atoms_max)
      : known_(std::move(known)), planner_(atoms_max) {}

  // Of the next round; for as long as this object.
  const RoundPlan& next(const circuit::Round& round);
  // Of the rounds so far; of all, if they were known.
  std::shared_ptr<const CircuitPlan> all() const { return known_ ? known_ : made_; }

 private:
  const std::shared_ptr<const CircuitPlan> known_;
  std::size_t next_ = 0;
  MaskPlanner planner_;
  const std::shared_ptr<CircuitPlan> made_ = std::make_shared<CircuitPlan>();
};

}  // namespace tinyot::online
