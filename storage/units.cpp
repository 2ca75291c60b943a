// How material enters a store: the units of a Store, poured, finished, cut back and unlocked.

#include <algorithm>
#include <map>

#include "base/error.h"
#include "storage/database.h"
#include "storage/record.h"
#include "storage/store.h"

namespace tinyot::storage {
namespace {

void check_shape(const material::Batch& batch, Party me) {
  const material::Shape shape = material::shape_of(batch.kind, me);
  ENSURE(batch.mine.size() == shape.mine && batch.peers.size() == shape.peers &&
         batch.shares.size() == shape.shares);
  for (const MacColumn& column : batch.mine)
    ENSURE(column.size() == batch.count && column.bits.size() == batch.count);
  for (const KeyColumn& column : batch.peers) ENSURE(column.size() == batch.count);
  for (const AuthShares& column : batch.shares)
    ENSURE(column.size() == batch.count && column.bits.size() == batch.count);
}

// Matches both parties' batches in order. After one party has listed its halves, another run of
// both may have unlocked the same units and used some of them. Batches that it has cut or dropped
// have no match and need none.
class Pairing {
 public:
  Pairing(const Halves& peers, const MaterialCounts& unlocked) : peers_(peers.of) {
    for (const MaterialKind kind : kAllMaterialKinds)
      uncut_from_[kind] = std::max(unlocked[kind], peers.unlocked[kind]);
  }

  // Null if the peer has no half of exactly this batch and need not have one.
  const Half* of(const BatchEntry& entry) {
    while (next_ < peers_.size() && order_of(peers_[next_]) < order_of(entry)) skip_next();
    if (next_ < peers_.size() && is_half_of(peers_[next_], entry)) return &peers_[next_++];
    if (entry.first >= uncut_from_[entry.kind])
      differ("this store has batch " + text_of(entry) + " and the peer's store does not");
    return nullptr;
  }

  void finish() {
    while (next_ < peers_.size()) skip_next();
  }

 private:
  void skip_next() {
    const Half& half = peers_[next_++];
    if (half.kind >= kMaterialKinds || half.first >= uncut_from_.of[half.kind])
      differ("the peer's store has a batch of " + std::to_string(half.count) + " from index " +
             std::to_string(half.first) + ", and this one does not");
  }
  [[noreturn]] static void differ(const std::string& what) {
    throw Disagreement("cannot unlock units: " + what + "; the two stores do not belong together");
  }

  std::span<const Half> peers_;
  std::size_t next_ = 0;
  MaterialCounts uncut_from_;
};

}  // namespace

void Store::begin_unit(const material::BegunUnit& unit) {
  ENSURE(purpose_ == Purpose::Make);
  std::uint64_t number = 0;
  database_->change("begin a unit", 0, [&](WriteTransaction& change) {
    change.check_not_revoked();
    number = change.cursors().attempts;
    change.put_attempt(number, {.unit = change.manifest().units_made + begun_.size(),
                                .plan = unit.plan,
                                .risk = unit.risk});
  });
  begun_[unit.number] = number;
  outstanding_ += unit.risk;
}

void Store::withdraw_unit(std::uint64_t number) {
  const auto begun = begun_.find(number);
  ENSURE(begun != begun_.end());
  Risk risk;
  database_->change("withdraw a unit", 0, [&](WriteTransaction& change) {
    Attempt attempt = change.attempt(begun->second);
    attempt.state = Attempt::State::Withdrawn;
    risk = attempt.risk;
    change.put_attempt(begun->second, attempt);
  });
  begun_.erase(begun);
  outstanding_ -= risk;
}

AttemptTotals Store::attempts() const {
  AttemptTotals totals;
  database_->read("read the attempts at units", [&](const ReadTransaction& view) {
    totals = {};
    // the last attempt at a unit is the one in the store
    std::map<std::uint64_t, UnitPlan> made;
    for (const Attempt& attempt : view.attempts()) {
      if (attempt.state == Attempt::State::Made && attempt.unit < view.manifest().units_made)
        made[attempt.unit] = attempt.plan;
      if (attempt.state != Attempt::State::Pending) continue;
      ++totals.outstanding;
      totals.risk += attempt.risk;
    }
    std::map<std::pair<std::uint64_t, BucketSizes>, std::uint64_t> counts;
    for (const auto& [unit, plan] : made) ++counts[{plan.ands, plan.bucket}];
    for (auto count = counts.rbegin(); count != counts.rend(); ++count)
      totals.units.push_back({{count->first.first, count->first.second}, count->second});
  });
  return totals;
}

void Store::pour(material::Batch batch) {
  ENSURE(purpose_ == Purpose::Make);
  check_shape(batch, manifest().me);
  if (manifest().state == StoreState::Revoked)
    database_->read("store material",
                    [](const ReadTransaction& view) { view.check_not_revoked(); });
  const MaterialKind kind = batch.kind;
  queues_[kind].push(std::move(batch));
  while (queues_[kind].count() >= material::full_batch(kind)) {
    cut(kind, material::full_batch(kind));
    if (cut_bytes_ >= kCommitBytes) write_cut([](WriteTransaction&) {});
  }
}

void Store::add_reference_bits(material::Batch bits) {
  ENSURE(purpose_ == Purpose::Make &&
         (bits.kind == MaterialKind::AuthBitsA || bits.kind == MaterialKind::AuthBitsB) &&
         bits.count > 0);
  check_shape(bits, manifest().me);
  new_reference_bits_.push_back(std::move(bits));
}

std::optional<material::ReferenceBits> Store::reference_bits() const {
  std::optional<material::ReferenceBits> bits;
  database_->read("read the reference bits", [&](const ReadTransaction& view) {
    view.check_not_revoked();
    const auto of_a = view.reference_entry(MaterialKind::AuthBitsA),
               of_b = view.reference_entry(MaterialKind::AuthBitsB);
    if (of_a && of_b) bits = material::ReferenceBits{view.open(*of_a), view.open(*of_b)};
  });
  return bits;
}

void Store::finish_unit() {
  ENSURE(purpose_ == Purpose::Make);
  for (const MaterialKind kind : kAllMaterialKinds)
    if (queues_[kind].count() > 0) cut(kind, queues_[kind].count());
  Risk risk;
  write_cut([&](WriteTransaction& change) {
    for (const material::Batch& bits : new_reference_bits_) change.add_reference_bits(bits);
    if (!begun_.empty()) {
      Attempt attempt = change.attempt(begun_.begin()->second);
      attempt.unit = change.manifest().units_made;
      attempt.state = Attempt::State::Made;
      risk = attempt.risk;
      change.put_attempt(begun_.begin()->second, attempt);
    }
    change.put_unit(change.manifest().units_made++, cut_end_);
    change.cursors().made = cut_end_;
  });
  new_reference_bits_.clear();
  if (!begun_.empty()) begun_.erase(begun_.begin());
  outstanding_ -= risk;
}

// Cuts the next `count` objects of a kind off its queue. Full batches are moved.
void Store::cut(MaterialKind kind, std::size_t count) {
  const BatchEntry entry{.kind = kind,
                         .first = cut_end_[kind],
                         .count = static_cast<std::uint32_t>(count),
                         .shard = manifest().shard,
                         .origin = cut_end_[kind]};
  cut_.push_back({entry, queues_[kind].take(kind, manifest().me, count)});
  cut_end_[kind] = entry.end();
  cut_bytes_ += material::bytes_of(cut_.back().objects);
}

// Commits what has been cut, together with what the body writes.
void Store::write_cut(const std::function<void(WriteTransaction&)>& body) {
  database_->change("store material", cut_bytes_, [&](WriteTransaction& change) {
    change.check_not_revoked();
    for (const CutBatch& batch : cut_) change.add(batch.entry, batch.objects);
    body(change);
  });
  cut_.clear();
  cut_bytes_ = 0;
}

// Forgets what has been poured and not committed.
void Store::forget_poured() {
  queues_ = {};
  cut_.clear();
  cut_bytes_ = 0;
  new_reference_bits_.clear();
}

void Store::cut_back(std::uint64_t units) {
  ENSURE(purpose_ == Purpose::Make && queues_.bytes() == 0 && cut_.empty());
  database_->change("cut back the store", 0, [&](WriteTransaction& change) {
    change.check_not_revoked();
    ENSURE(units <= change.manifest().units_made);
    if (units < change.cursors().units_unlocked)
      throw Disagreement(
          "the peer has only the first " + std::to_string(units) + " of the " +
          std::to_string(change.cursors().units_unlocked) + " units in " + directory().string() +
          " that it has confirmed before: its store is an older copy, and the session "
          "cannot be continued; start a new one in a new store");
    change.cursors().made = change.made_by(units);
    change.manifest().units_made = units;
    change.manifest().state = StoreState::Open;
    change.drop_units_from(units);
    // Reference bits belong to the first unit and are made again with it.
    if (units == 0) change.drop_reference_bits();
  });
  database_->erase_listed_slots();
  cut_end_ = made();
  drop_unfinished();
}

Halves Store::halves(std::uint64_t first_unit, std::uint64_t end_unit) const {
  Halves halves;
  database_->read("read the digests", [&](const ReadTransaction& view) {
    const MaterialCounts begin = view.made_by(first_unit), end = view.made_by(end_unit);
    halves = {view.cursors().unlocked, {}};
    for (const MaterialKind kind : kAllMaterialKinds)
      for (const BatchEntry& entry : view.entries(kind, begin[kind], end[kind]))
        halves.of.push_back(half_of(entry));
  });
  return halves;
}

void Store::unlock(std::uint64_t first_unit, std::uint64_t end_unit, const Halves& peers) {
  database_->change(
      "unlock units", peers.of.size() * kBatchEntryBytes, [&](WriteTransaction& change) {
        change.check_not_revoked();
        ENSURE(first_unit <= change.cursors().units_unlocked);
        const MaterialCounts begin = change.made_by(first_unit), end = change.made_by(end_unit);
        Pairing pairing(peers, change.cursors().unlocked);
        for (const MaterialKind kind : kAllMaterialKinds) {
          for (BatchEntry& entry : change.entries(kind, begin[kind], end[kind])) {
            const Half* half = pairing.of(entry);
            if (half == nullptr || entry.peers_tag == half->tag) continue;
            if (entry.peers_tag)
              throw Disagreement("the peer's half of batch " + text_of(entry) +
                                 " has changed since the batch was made; the peer's store has been "
                                 "restored or is corrupt");
            entry.peers_tag = half->tag;
            change.put_entry(entry);
          }
        }
        pairing.finish();
        if (end_unit <= change.cursors().units_unlocked) return;
        change.cursors().units_unlocked = end_unit;
        change.cursors().unlocked = end;
        // preprocess, run and store verify may all unlock the last unit.
        if (end_unit == change.manifest().units_requested)
          change.manifest().state = StoreState::Complete;
      });
}

}  // namespace tinyot::storage
