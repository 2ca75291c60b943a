// How material leaves a store: the part of StoreState that gives ranges to runs, now or to come,
// and drops what they held.

#include <algorithm>

#include "base/error.h"
#include "storage/store_state.h"

namespace tinyot::storage {
namespace {

// What cutting batches in two adds: two halves at both ends of a range, for each kind.
constexpr std::uint64_t kSplitBytes = kMaterialKinds * 2 * 2 * (std::uint64_t{64} * 4096);

// With too many of them the oldest is given up: what is in it stays burnt.
void add_gap(Marks& marks, const Gap& gap) {
  if (gap.first == gap.end) return;
  if (marks.gaps.size() >= Marks::kGapsMax) marks.gaps.erase(marks.gaps.begin());
  marks.gaps.push_back(gap);
}

// A range below the position is in a gap, if at all. What is left of the gap stays.
bool take_from_gap(Marks& marks, MaterialKind kind, std::uint64_t start, std::uint64_t end) {
  const auto gap = std::ranges::find_if(
      marks.gaps, [&](const Gap& g) { return g.kind == kind && g.first <= start && end <= g.end; });
  if (gap == marks.gaps.end()) return false;
  const Gap whole = *gap;
  marks.gaps.erase(gap);
  add_gap(marks, {kind, whole.first, start});
  add_gap(marks, {kind, end, whole.end});
  marks.burnt[kind] -= end - start;
  return true;
}

void pass_over(Marks& marks, MaterialKind kind, std::uint64_t start, MaterialCounts& burnt) {
  if (start <= marks.position[kind]) return;
  burnt[kind] = start - marks.position[kind];
  marks.burnt[kind] += burnt[kind];
  marks.position[kind] = start;
}

void note(Marks& marks, const MaterialCounts& confirmed) {
  for (const MaterialKind kind : kAllMaterialKinds)
    marks.confirmed[kind] = std::max(marks.confirmed[kind], confirmed[kind]);
}

}  // namespace

void StoreState::check_available(const Marks& marks, const Range& range) {
  std::string short_kinds;
  for (const MaterialKind kind : kAllMaterialKinds) {
    const std::uint64_t start = range.start[kind], needed = range.end[kind] - start,
                        unlocked = marks.unlocked[kind];
    const std::uint64_t has = unlocked - std::min(unlocked, start);
    if (has >= needed) continue;
    short_kinds +=
        (short_kinds.empty() ? "" : ", ") + std::string(name_of(kind)) + " has " +
        std::to_string(has) + ", needs " + std::to_string(needed) +
        (start > marks.position[kind] ? " from index " + std::to_string(start) + " on" : "");
  }
  if (!short_kinds.empty())
    throw OutOfMaterial("the store is out of material: " + short_kinds +
                        "; make more with tinyot preprocess, in a new store");
}

Grant StoreState::grant(const ReservationRequest& wish) {
  Grant granted;
  database_.change("reserve material", kSplitBytes, [&](Change& change) {
    change.check_alive();
    forget_erased(change);
    Marks& marks = change.marks();
    granted = {};
    // A kind that is not wanted has the empty range at 0.
    for (const MaterialKind kind : kAllMaterialKinds) {
      if (wish.counts[kind] == 0) continue;
      granted.range.start[kind] = std::max(marks.position[kind], wish.at_least[kind]);
      granted.range.end[kind] = granted.range.start[kind] + wish.counts[kind];
    }
    check_available(marks, granted.range);
    for (const MaterialKind kind : kAllMaterialKinds) {
      if (wish.counts[kind] == 0) continue;
      pass_over(marks, kind, granted.range.start[kind], granted.burnt);
      change.split(kind, granted.range.start[kind]);
      change.split(kind, granted.range.end[kind]);
      marks.position[kind] = granted.range.end[kind];
    }
    note(marks, wish.at_least);
    if (!wish.is_plan) return;
    if (marks.planned.size() >= Marks::kPlannedMax)
      throw StoreError(
          "the store holds as many planned reservations as it can; run some of them first");
    granted.plan = marks.next_reservation++;
    marks.planned.push_back({granted.plan, granted.range});
  });
  erase_doomed();
  return granted;
}

Grant StoreState::take(const Grant& peers, const MaterialCounts& confirmed) {
  Grant granted;
  database_.change("reserve material", kSplitBytes, [&](Change& change) {
    change.check_alive();
    forget_erased(change);
    Marks& marks = change.marks();
    granted = {peers.range, peers.plan, {}};
    check_available(marks, granted.range);
    for (const MaterialKind kind : kAllMaterialKinds) {
      const std::uint64_t start = peers.range.start[kind], end = peers.range.end[kind];
      if (start == end) continue;
      // The marks come first: what has been served has no keys to cut it by.
      const bool is_in_gap = start < marks.position[kind];
      if (is_in_gap && !take_from_gap(marks, kind, start, end))
        throw Disagreement("the peer gives out " + std::string(name_of(kind)) + " " +
                           std::to_string(start) + ".." + std::to_string(end - 1) +
                           ", which this store has served already (up to " +
                           std::to_string(marks.position[kind]) + "): its store is an older copy");
      change.split(kind, start);
      change.split(kind, end);
      if (is_in_gap) continue;
      add_gap(marks, {kind, marks.position[kind], start});
      pass_over(marks, kind, start, granted.burnt);
      marks.position[kind] = end;
    }
    note(marks, confirmed);
    if (peers.plan == 0) return;
    if (marks.planned.size() >= Marks::kPlannedMax)
      throw StoreError(
          "the store holds as many planned reservations as it can; run some of them first");
    marks.planned.push_back({peers.plan, peers.range});
  });
  erase_doomed();
  return granted;
}

Range StoreState::claim(std::uint64_t id) {
  Range range;
  database_.change("claim a reservation", 0, [&](Change& change) {
    change.check_alive();
    std::vector<PlannedReservation>& planned = change.marks().planned;
    const auto found = std::ranges::find(planned, id, &PlannedReservation::id);
    if (found == planned.end())
      throw StoreError(
          "the store in " + files_.directory.string() + " holds no reservation " +
          std::to_string(id) +
          "; it has been run, or never been made. tinyot store info lists those that are there");
    range = found->range;
    planned.erase(found);
  });
  return range;
}

HeldBatches StoreState::hold(const Range& range) {
  HeldBatches held;
  std::vector<std::uint64_t> slots;
  database_.read("look for reserved material", [&](const View& view) {
    for (const MaterialKind kind : kAllMaterialKinds) {
      std::uint64_t next = range.start[kind];
      for (const BatchEntry& entry : view.entries(kind, next, range.end[kind])) {
        if (entry.first != next) break;
        held[static_cast<std::size_t>(kind)].push_back({entry, view.key_of(entry)});
        slots.push_back(entry.slot);
        next = entry.end();
      }
      if (next != range.end[kind])
        throw_corrupt_batch(std::string(name_of(kind)) + " " + std::to_string(next) + " (missing)");
    }
  });
  database_.keys().erase(slots);
  return held;
}

void StoreState::release(const Range& range) {
  std::size_t batches = 0;
  database_.read("look for served material", [&](const View& view) {
    for (const MaterialKind kind : kAllMaterialKinds)
      batches += view.entries(kind, range.start[kind], range.end[kind]).size();
  });
  // Nothing is held before the peer has said that it has taken the same range.
  MaterialCounts confirmed;
  for (const MaterialKind kind : kAllMaterialKinds)
    if (range.start[kind] < range.end[kind]) confirmed[kind] = range.end[kind];
  database_.change("drop served material", batches * kDropBytes, [&](Change& change) {
    forget_erased(change);
    note(change.marks(), confirmed);
    for (const MaterialKind kind : kAllMaterialKinds)
      for (const BatchEntry& entry : change.entries(kind, range.start[kind], range.end[kind]))
        change.drop(entry);
  });
}

// The keys of batches that have been cut in two. They leave the list with the next commit that this
// process makes anyway.
void StoreState::erase_doomed() {
  const std::vector<std::uint64_t>& doomed = database_.marks().doomed;
  database_.keys().erase(doomed);
  erased_ = doomed;
}

void StoreState::forget_erased(Change& change) {
  std::erase_if(change.marks().doomed, [&](std::uint64_t slot) {
    return std::ranges::find(erased_, slot) != erased_.end();
  });
}

}  // namespace tinyot::storage
