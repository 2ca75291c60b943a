// How material leaves a store: the ranges that a Store grants to present and planned runs, and
// their reservations.

#include "storage/reservation.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"
#include "material/batch_queue.h"
#include "storage/database.h"
#include "storage/record.h"
#include "storage/store.h"

namespace tinyot::storage {
namespace {

// What cutting batches adds: two records at both ends of a range, for each kind.
constexpr std::uint64_t kSplitBytes = kMaterialKinds * 2 * 2 * (std::uint64_t{64} * 4096);

// At kGapsMax gaps the oldest one is discarded; its objects stay burnt.
void add_gap(MaterialCursors& cursors, const Gap& gap) {
  if (gap.first == gap.end) return;
  if (cursors.gaps.size() >= MaterialCursors::kGapsMax) cursors.gaps.erase(cursors.gaps.begin());
  cursors.gaps.push_back(gap);
}

// A range below the position can be granted only from a gap. The rest of the gap stays.
bool take_from_gap(MaterialCursors& cursors, MaterialKind kind, std::uint64_t start,
                   std::uint64_t end) {
  const auto gap = std::ranges::find_if(cursors.gaps, [&](const Gap& g) {
    return g.kind == kind && g.first <= start && end <= g.end;
  });
  if (gap == cursors.gaps.end()) return false;
  const Gap whole = *gap;
  cursors.gaps.erase(gap);
  add_gap(cursors, {kind, whole.first, start});
  add_gap(cursors, {kind, end, whole.end});
  cursors.burnt[kind] -= end - start;
  return true;
}

void skip_to(MaterialCursors& cursors, MaterialKind kind, std::uint64_t start,
             MaterialCounts& burnt) {
  if (start <= cursors.served[kind]) return;
  burnt[kind] = start - cursors.served[kind];
  cursors.burnt[kind] += burnt[kind];
  cursors.served[kind] = start;
}

void record_confirmed(MaterialCursors& cursors, const MaterialCounts& confirmed) {
  for (const MaterialKind kind : kAllMaterialKinds)
    cursors.confirmed[kind] = std::max(cursors.confirmed[kind], confirmed[kind]);
}

[[noreturn]] void throw_too_many_plans(const std::filesystem::path& directory) {
  throw StoreError("the store in " + directory.string() + " holds " +
                   std::to_string(MaterialCursors::kPlannedMax) +
                   " planned reservations, which is the maximum; run some of them first");
}

void check_available(const MaterialCursors& cursors, const Range& range) {
  std::string missing;
  for (const MaterialKind kind : kAllMaterialKinds) {
    const std::uint64_t start = range.start[kind], needed = range.end[kind] - start,
                        unlocked = cursors.unlocked[kind];
    const std::uint64_t has = unlocked - std::min(unlocked, start);
    if (has >= needed) continue;
    missing += (missing.empty() ? "" : ", ") + std::string(name_of(kind)) + " has " +
               std::to_string(has) + ", needs " + std::to_string(needed) +
               (start > cursors.served[kind] ? " from index " + std::to_string(start) + " on" : "");
  }
  if (!missing.empty())
    throw OutOfMaterial("the store is out of material: " + missing, Remedy::AddMaterial);
}

}  // namespace

Grant Store::grant(const ReservationRequest& request) {
  Grant grant;
  database_->change("reserve material", kSplitBytes, [&](WriteTransaction& change) {
    change.check_not_revoked();
    MaterialCursors& cursors = change.cursors();
    grant = {};
    // A kind that is not requested has the empty range at 0.
    for (const MaterialKind kind : kAllMaterialKinds) {
      if (request.counts[kind] == 0) continue;
      grant.range.start[kind] = std::max(cursors.served[kind], request.at_least[kind]);
      grant.range.end[kind] = grant.range.start[kind] + request.counts[kind];
    }
    check_available(cursors, grant.range);
    for (const MaterialKind kind : kAllMaterialKinds) {
      if (request.counts[kind] == 0) continue;
      skip_to(cursors, kind, grant.range.start[kind], grant.burnt);
      change.split(kind, grant.range.start[kind]);
      change.split(kind, grant.range.end[kind]);
      cursors.served[kind] = grant.range.end[kind];
    }
    record_confirmed(cursors, request.at_least);
    if (!request.is_plan) return;
    if (cursors.planned.size() >= MaterialCursors::kPlannedMax) throw_too_many_plans(directory());
    grant.plan = cursors.next_reservation++;
    cursors.planned.push_back({grant.plan, grant.range});
  });
  database_->erase_listed_slots();
  note_granted(grant);
  return grant;
}

Grant Store::take(const Grant& peers, const MaterialCounts& confirmed) {
  Grant grant;
  database_->change("reserve material", kSplitBytes, [&](WriteTransaction& change) {
    change.check_not_revoked();
    MaterialCursors& cursors = change.cursors();
    grant = {peers.range, peers.plan, {}};
    check_available(cursors, grant.range);
    for (const MaterialKind kind : kAllMaterialKinds) {
      const std::uint64_t start = peers.range.start[kind], end = peers.range.end[kind];
      if (start == end) continue;
      // Checked before split(): the keys of served batches are erased, so they cannot be cut.
      const bool is_in_gap = start < cursors.served[kind];
      if (is_in_gap && !take_from_gap(cursors, kind, start, end))
        throw Disagreement(
            "the peer grants " + std::string(name_of(kind)) + " " + std::to_string(start) + ".." +
            std::to_string(end - 1) + ", which this store has already served (up to " +
            std::to_string(cursors.served[kind]) + "): the peer's store is an older copy");
      change.split(kind, start);
      change.split(kind, end);
      if (is_in_gap) continue;
      add_gap(cursors, {kind, cursors.served[kind], start});
      skip_to(cursors, kind, start, grant.burnt);
      cursors.served[kind] = end;
    }
    record_confirmed(cursors, confirmed);
    if (peers.plan == 0) return;
    if (cursors.planned.size() >= MaterialCursors::kPlannedMax) throw_too_many_plans(directory());
    cursors.planned.push_back({peers.plan, peers.range});
  });
  database_->erase_listed_slots();
  note_granted(grant);
  return grant;
}

void Store::note_granted(const Grant& grant) {
  granted_ += grant.burnt;
  for (const MaterialKind kind : kAllMaterialKinds)
    granted_[kind] += grant.range.end[kind] - grant.range.start[kind];
}

Reservation Store::claim(std::uint64_t id) {
  Range range;
  database_->change("claim a reservation", 0, [&](WriteTransaction& change) {
    change.check_not_revoked();
    std::vector<PlannedReservation>& planned = change.cursors().planned;
    const auto found = std::ranges::find(planned, id, &PlannedReservation::id);
    if (found == planned.end())
      throw StoreError("the store in " + directory().string() + " holds no reservation " +
                           std::to_string(id) + "; it has been used or was never made",
                       Remedy::ListReservations);
    range = found->range;
    planned.erase(found);
  });
  return Reservation(database_, range, {});
}

Reservation Store::hold(const Grant& grant) {
  ENSURE(grant.plan == 0);
  return Reservation(database_, grant.range, grant.burnt);
}

Reservation Store::reserve(const MaterialCounts& at_least, const MaterialCounts& counts) {
  return hold(grant({.counts = counts, .at_least = at_least}));
}

// Reads the keys of the range's batches and erases them from the key table, durably.
Reservation::Reservation(std::shared_ptr<Database> database, const Range& range,
                         const MaterialCounts& burnt)
    : database_(std::move(database)), me_(database_->manifest().me), range_(range), burnt_(burnt) {
  std::vector<std::uint64_t> slots;
  database_->read("look for reserved material", [&](const ReadTransaction& view) {
    for (const MaterialKind kind : kAllMaterialKinds) {
      DrawPosition& position = position_of(kind);
      position.next = range.start[kind];
      std::uint64_t next = range.start[kind];
      for (const BatchEntry& entry : view.entries(kind, next, range.end[kind])) {
        if (entry.first != next) break;
        position.batches.push_back({entry, view.key_of(entry)});
        slots.push_back(entry.slot);
        next = entry.end();
      }
      if (next != range.end[kind])
        throw_corrupt_batch(std::string(name_of(kind)) + " " + std::to_string(next) + " (missing)");
    }
  });
  database_->keys().erase(slots);
}

Reservation::Reservation(Reservation&& other) noexcept = default;

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  if (this == &other) return *this;
  finish_quietly();
  database_ = std::move(other.database_);
  me_ = other.me_;
  range_ = other.range_;
  burnt_ = other.burnt_;
  positions_ = std::move(other.positions_);
  return *this;
}

Reservation::~Reservation() { finish_quietly(); }

void Reservation::check_left(MaterialKind kind, std::size_t count) const {
  const std::uint64_t has = left()[kind];
  if (count > has)
    throw OutOfMaterial("the reservation is out of material: " + std::string(name_of(kind)) +
                        " has " + std::to_string(has) + ", needs " + std::to_string(count) +
                        "; reserve all that a run needs before it starts");
  ENSURE(database_ != nullptr);
}

material::Batch Reservation::open(const Database& database, Party me, const HeldBatch& held,
                                  material::Batch memory) {
  material::Batch batch;
  database.read("read " + std::string(name_of(held.entry.kind)), [&](const ReadTransaction& view) {
    view.check_not_revoked();
    const ByteView sealed = view.record(held.entry);
    batch = open_batch(database.session(), me, held.entry, held.key, sealed, std::move(memory));
    // Batches are read once.
    Environment::release_pages(sealed);
  });
  return batch;
}

Reservation::HeldBatch Reservation::remove_next(DrawPosition& position) {
  HeldBatch& next = position.batches[position.undrawn++];
  HeldBatch removed = next;
  next.key = crypto::SealKey();
  return removed;
}

void Reservation::open_next(DrawPosition& position) {
  position.opened.push(open(*database_, me_, position.batches[position.undrawn], {}));
  (void)remove_next(position);
}

material::Batch Reservation::take(MaterialKind kind, std::size_t count) {
  DrawPosition& position = position_of(kind);
  position.next += count;
  return position.opened.take(kind, me_, count);
}

material::Batch Reservation::draw(MaterialKind kind, std::size_t count) {
  check_left(kind, count);
  DrawPosition& position = position_of(kind);
  while (position.opened.count() < count) open_next(position);
  return take(kind, count);
}

material::DrawnBatch Reservation::draw_up_to(MaterialKind kind, std::size_t count) {
  check_left(kind, count);
  DrawPosition& position = position_of(kind);
  if (position.opened.count() == 0 && count > 0) {
    if (const std::size_t whole = position.batches[position.undrawn].entry.count; whole <= count) {
      position.next += whole;
      return {whole,
              [database = database_, me = me_, held = remove_next(position)](
                  material::Batch memory) { return open(*database, me, held, std::move(memory)); }};
    }
    open_next(position);
  }
  return drawn(take(kind, std::min(count, position.opened.first_count())));
}

std::vector<BatchEntry> Reservation::batches() const {
  std::vector<BatchEntry> batches;
  for (const DrawPosition& position : positions_)
    for (const HeldBatch& batch : position.batches) batches.push_back(batch.entry);
  return batches;
}

MaterialCounts Reservation::counts() const {
  MaterialCounts counts;
  for (const MaterialKind kind : kAllMaterialKinds)
    counts[kind] = range_.end[kind] - range_.start[kind];
  return counts;
}

MaterialCounts Reservation::left() const {
  MaterialCounts left;
  if (database_ == nullptr) return left;
  for (const MaterialKind kind : kAllMaterialKinds)
    left[kind] = range_.end[kind] - positions_[static_cast<std::size_t>(kind)].next;
  return left;
}

void Reservation::finish() {
  const auto database = std::exchange(database_, nullptr);
  positions_ = {};
  if (!database) return;
  std::size_t batches = 0;
  database->read("look for served material", [&](const ReadTransaction& view) {
    for (const MaterialKind kind : kAllMaterialKinds)
      batches += view.entries(kind, range_.start[kind], range_.end[kind]).size();
  });
  // A range is held only after the peer has confirmed that it has taken it.
  MaterialCounts confirmed;
  for (const MaterialKind kind : kAllMaterialKinds)
    if (range_.start[kind] < range_.end[kind]) confirmed[kind] = range_.end[kind];
  database->change("drop served material", batches * kDropBytes, [&](WriteTransaction& change) {
    record_confirmed(change.cursors(), confirmed);
    for (const MaterialKind kind : kAllMaterialKinds)
      for (const BatchEntry& entry : change.entries(kind, range_.start[kind], range_.end[kind]))
        change.drop(entry);
  });
}

void Reservation::finish_quietly() noexcept {
  try {
    finish();
  } catch (const std::exception&) {
    // The batches are below the position and their keys are erased; only their space is not free
    // yet.
  }
}

void ReservationChain::check_left(MaterialKind kind, std::size_t count) const {
  ENSURE(!links_.empty());
  const std::uint64_t has = left()[kind];
  if (count > has)
    throw OutOfMaterial("the reservations are out of material: " + std::string(name_of(kind)) +
                        " has " + std::to_string(has) + ", needs " + std::to_string(count) +
                        "; reserve all that a run needs before it starts");
}

material::Batch ReservationChain::draw(MaterialKind kind, std::size_t count) {
  check_left(kind, count);
  material::BatchQueue parts;
  for (Reservation& link : links_) {
    const std::size_t part = std::min(count - parts.count(), link.left()[kind]);
    if (part > 0) parts.push(link.draw(kind, part));
  }
  return parts.take(kind, links_.front().me(), count);
}

material::DrawnBatch ReservationChain::draw_up_to(MaterialKind kind, std::size_t count) {
  check_left(kind, count);
  for (Reservation& link : links_)
    if (const std::uint64_t left = link.left()[kind]; left > 0)
      return link.draw_up_to(kind, std::min(count, left));
  return drawn(material::Batch(kind, links_.front().me(), 0));
}

void ReservationChain::drop_empty() {
  std::erase_if(links_, [](const Reservation& link) { return link.left() == MaterialCounts{}; });
}

MaterialCounts ReservationChain::left() const {
  MaterialCounts left;
  for (const Reservation& link : links_) left += link.left();
  return left;
}

}  // namespace tinyot::storage
