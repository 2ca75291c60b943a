// Recovery, when a store is opened and no other process has it open: reservations and units that
// are left over have no owner, and are dropped.

#include <algorithm>

#include "base/error.h"
#include "storage/store_state.h"

namespace tinyot::storage {
namespace {

bool is_planned(const Marks& marks, const BatchEntry& entry) {
  return std::ranges::any_of(marks.planned, [&](const PlannedReservation& planned) {
    return planned.range.start[entry.kind] <= entry.first &&
           entry.end() <= planned.range.end[entry.kind];
  });
}

std::vector<std::uint64_t> slots_of(std::span<const BatchEntry> entries) {
  std::vector<std::uint64_t> slots;
  for (const BatchEntry& entry : entries) slots.push_back(entry.slot);
  return slots;
}

}  // namespace

// Allowed for Purpose::Make even while other processes draw: only an earlier process of the same
// purpose, which has ended, can have left an unfinished unit.
void StoreState::drop_unfinished() {
  std::vector<BatchEntry> unfinished;
  database_.read("look for an unfinished unit", [&](const View& view) {
    for (const MaterialKind kind : kAllMaterialKinds)
      for (const BatchEntry& entry : view.entries(kind, view.marks().made[kind], ~std::uint64_t{0}))
        unfinished.push_back(entry);
  });
  if (unfinished.empty()) return;
  // Keys first: a batch whose key is erased stays in the catalogue, so an interrupted recovery
  // finds it again.
  database_.keys().erase(slots_of(unfinished));
  database_.change("drop an unfinished unit", unfinished.size() * kDropBytes, [&](Change& change) {
    for (const BatchEntry& entry : unfinished) change.drop(entry);
  });
}

void StoreState::recover() {
  if (purpose_ == Purpose::Look) return;
  if (purpose_ == Purpose::Make || lock_->is_alone()) drop_unfinished();
  if (!lock_->is_alone()) return;
  std::vector<BatchEntry> served;
  database_.read("look for served material", [&](const View& view) {
    for (const MaterialKind kind : kAllMaterialKinds) {
      for (const BatchEntry& entry : view.entries(kind, 0, view.marks().position[kind]))
        if (!is_planned(view.marks(), entry)) served.push_back(entry);
      const auto last = view.last_entry(kind);
      const std::uint64_t made = view.marks().made[kind];
      if (made > view.marks().position[kind] && (!last || last->end() != made))
        throw_corrupt_batch("the last of " + std::string(name_of(kind)) + " (missing)");
    }
  });
  const Marks& marks = database_.marks();
  if (!served.empty() || !marks.gaps.empty() || !marks.doomed.empty()) {
    // Keys first, as above.
    std::vector<std::uint64_t> slots = slots_of(served);
    slots.insert(slots.end(), marks.doomed.begin(), marks.doomed.end());
    database_.keys().erase(slots);
    database_.change("drop served material", served.size() * kDropBytes, [&](Change& change) {
      for (const BatchEntry& entry : served) change.drop(entry);
      change.marks().gaps.clear();
      change.marks().doomed.clear();
    });
  }
}

}  // namespace tinyot::storage
