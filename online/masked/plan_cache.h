// Plans of circuits whose rounds this process keeps (circuitgen/layered_circuit.h), for further
// runs of the same rounds. Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <mutex>

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
  // unless it takes many times their memory.
  void keep(const std::shared_ptr<const circuit::LayeredCircuit>& layered,
            std::shared_ptr<const CircuitPlan> plan);

 private:
  std::mutex mutex_;
  std::map<std::weak_ptr<const circuit::LayeredCircuit>, std::shared_ptr<const CircuitPlan>,
           std::owner_less<>>
      plans_;
};

}  // namespace tinyot::online
