// How material leaves a store: the part of StoreState that grants ranges to current and planned
// runs, and drops the batches of finished reservations.

#include <algorithm>

#include "base/error.h"
#include "storage/store_state.h"

namespace tinyot::storage {
namespace {

// What cutting batches adds: two records at both ends of a range, for each kind.
constexpr std::uint64_t kSplitBytes = kMaterialKinds * 2 * 2 * (std::uint64_t{64} * 4096);

// At kGapsMax gaps the oldest one is discarded; its objects stay burnt.
void add_gap(Marks& marks, const Gap& gap) {
  if (gap.first == gap.end) return;
  if (marks.gaps.size() >= Marks::kGapsMax) marks.gaps.erase(marks.gaps.begin());
  marks.gaps.push_back(gap);
}

// A range below the position can be granted only from a gap. The rest of the gap stays.
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

void skip_to(Marks& marks, MaterialKind kind, std::uint64_t start, MaterialCounts& burnt) {
  if (start <= marks.position[kind]) return;
  burnt[kind] = start - marks.position[kind];
  marks.burnt[kind] += burnt[kind];
  marks.position[kind] = start;
}

void record_confirmed(Marks& marks, const MaterialCounts& confirmed) {
  for (const MaterialKind kind : kAllMaterialKinds)
    marks.confirmed[kind] = std::max(marks.confirmed[kind], confirmed[kind]);
}

[[noreturn]] void throw_too_many_plans(const StoreFiles& files) {
  throw StoreError("the store in " + files.directory.string() + " holds " +
                   std::to_string(Marks::kPlannedMax) +
                   " planned reservations, which is the maximum; run some of them first");
}

}  // namespace

void StoreState::check_available(const Marks& marks, const Range& range) {
  std::string missing;
  for (const MaterialKind kind : kAllMaterialKinds) {
    const std::uint64_t start = range.start[kind], needed = range.end[kind] - start,
                        unlocked = marks.unlocked[kind];
    const std::uint64_t has = unlocked - std::min(unlocked, start);
    if (has >= needed) continue;
    missing += (missing.empty() ? "" : ", ") + std::string(name_of(kind)) + " has " +
               std::to_string(has) + ", needs " + std::to_string(needed) +
               (start > marks.position[kind] ? " from index " + std::to_string(start) + " on" : "");
  }
  if (!missing.empty())
    throw OutOfMaterial("the store is out of material: " + missing +
                        "; make more with tinyot preprocess, in a new store");
}

Grant StoreState::grant(const ReservationRequest& request) {
  Grant grant;
  database_.change("reserve material", kSplitBytes, [&](Change& change) {
    change.check_not_revoked();
    forget_erased(change);
    Marks& marks = change.marks();
    grant = {};
    // A kind that is not requested has the empty range at 0.
    for (const MaterialKind kind : kAllMaterialKinds) {
      if (request.counts[kind] == 0) continue;
      grant.range.start[kind] = std::max(marks.position[kind], request.at_least[kind]);
      grant.range.end[kind] = grant.range.start[kind] + request.counts[kind];
    }
    check_available(marks, grant.range);
    for (const MaterialKind kind : kAllMaterialKinds) {
      if (request.counts[kind] == 0) continue;
      skip_to(marks, kind, grant.range.start[kind], grant.burnt);
      change.split(kind, grant.range.start[kind]);
      change.split(kind, grant.range.end[kind]);
      marks.position[kind] = grant.range.end[kind];
    }
    record_confirmed(marks, request.at_least);
    if (!request.is_plan) return;
    if (marks.planned.size() >= Marks::kPlannedMax) throw_too_many_plans(files_);
    grant.plan = marks.next_reservation++;
    marks.planned.push_back({grant.plan, grant.range});
  });
  erase_doomed();
  return grant;
}

Grant StoreState::take(const Grant& peers, const MaterialCounts& confirmed) {
  Grant grant;
  database_.change("reserve material", kSplitBytes, [&](Change& change) {
    change.check_not_revoked();
    forget_erased(change);
    Marks& marks = change.marks();
    grant = {peers.range, peers.plan, {}};
    check_available(marks, grant.range);
    for (const MaterialKind kind : kAllMaterialKinds) {
      const std::uint64_t start = peers.range.start[kind], end = peers.range.end[kind];
      if (start == end) continue;
      // Checked before split(): the keys of served batches are erased, so they cannot be cut.
      const bool is_in_gap = start < marks.position[kind];
      if (is_in_gap && !take_from_gap(marks, kind, start, end))
        throw Disagreement(
            "the peer grants " + std::string(name_of(kind)) + " " + std::to_string(start) + ".." +
            std::to_string(end - 1) + ", which this store has already served (up to " +
            std::to_string(marks.position[kind]) + "): the peer's store is an older copy");
      change.split(kind, start);
      change.split(kind, end);
      if (is_in_gap) continue;
      add_gap(marks, {kind, marks.position[kind], start});
      skip_to(marks, kind, start, grant.burnt);
      marks.position[kind] = end;
    }
    record_confirmed(marks, confirmed);
    if (peers.plan == 0) return;
    if (marks.planned.size() >= Marks::kPlannedMax) throw_too_many_plans(files_);
    marks.planned.push_back({peers.plan, peers.range});
  });
  erase_doomed();
  return grant;
}

Range StoreState::claim(std::uint64_t id) {
  Range range;
  database_.change("claim a reservation", 0, [&](Change& change) {
    change.check_not_revoked();
    std::vector<PlannedReservation>& planned = change.marks().planned;
    const auto found = std::ranges::find(planned, id, &PlannedReservation::id);
    if (found == planned.end())
      throw StoreError(
          "the store in " + files_.directory.string() + " holds no reservation " +
          std::to_string(id) +
          "; it has been used or was never made; tinyot store info lists the planned ones");
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
  // A range is held only after the peer has confirmed that it has taken it.
  MaterialCounts confirmed;
  for (const MaterialKind kind : kAllMaterialKinds)
    if (range.start[kind] < range.end[kind]) confirmed[kind] = range.end[kind];
  database_.change("drop served material", batches * kDropBytes, [&](Change& change) {
    forget_erased(change);
    record_confirmed(change.marks(), confirmed);
    for (const MaterialKind kind : kAllMaterialKinds)
      for (const BatchEntry& entry : change.entries(kind, range.start[kind], range.end[kind]))
        change.drop(entry);
  });
}

// Erases the keys of batches that have been cut in two. Their slots leave the list in the next
// commit of this process.
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
