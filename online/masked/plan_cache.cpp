#include "online/masked/plan_cache.h"

#include <utility>

#include "base/error.h"

namespace tinyot::online {

PlanCache& PlanCache::of_process() {
  static PlanCache cache;
  return cache;
}

std::shared_ptr<const CircuitPlan> PlanCache::plan(
    const std::shared_ptr<const circuit::LayeredCircuit>& layered) {
  const std::lock_guard lock(mutex_);
  const auto found = plans_.find(layered);
  return found != plans_.end() ? found->second : nullptr;
}

void PlanCache::keep(const std::shared_ptr<const circuit::LayeredCircuit>& layered,
                     std::shared_ptr<const CircuitPlan> plan) {
  constexpr std::size_t kTimesMost = 4, kBytesMost = std::size_t{1} << 27;
  ENSURE(plan->rounds.size() == layered->rounds.size());
  const std::lock_guard lock(mutex_);
  std::erase_if(plans_, [](const auto& kept) { return kept.first.expired(); });
  std::size_t bytes = plan->bytes();
  if (bytes > kTimesMost * layered->bytes) return;
  for (const auto& kept : plans_) bytes += kept.second->bytes();
  if (bytes <= kBytesMost) plans_.try_emplace(layered, std::move(plan));
}

const RoundPlan& RoundPlans::next(const circuit::Round& round) {
  if (known_) return known_->rounds.at(next_++);
  return made_->rounds.emplace_back(planner_.plan(round));
}

}  // namespace tinyot::online
