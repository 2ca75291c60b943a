#include "storage/cursors.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "cursors.pb.h"
#include "material/counts.h"

namespace tinyot::storage {
namespace {

using StoredList = google::protobuf::RepeatedPtrField<stored::KindCountRecord>;

[[noreturn]] void throw_corrupt_cursors(const std::string& field) {
  throw StoreError("the cursors of the store are corrupt (" + field +
                   "); start a new session in a new store");
}

void put_counts(const MaterialCounts& counts, StoredList& stored) {
  for (const material::KindCount& entry : material::list_of(counts)) {
    stored::KindCountRecord& record = *stored.Add();
    record.set_kind(entry.kind);
    record.set_count(entry.count);
  }
}

MaterialCounts counts_from(const StoredList& stored, const std::string& field) {
  std::vector<material::KindCount> list;
  for (const stored::KindCountRecord& record : stored)
    list.push_back({record.kind(), record.count()});
  return material::parse_list(
      list, [&](const std::string& flaw) { throw_corrupt_cursors(field + ": " + flaw); });
}

MaterialKind kind_from(std::uint32_t number) {
  if (number >= kMaterialKinds) throw_corrupt_cursors("kind of a gap");
  return static_cast<MaterialKind>(number);
}

void check(const MaterialCursors& cursors) {
  if (!cursors.made.covers(cursors.unlocked)) throw_corrupt_cursors("unlocked");
  if (!cursors.unlocked.covers(cursors.served)) throw_corrupt_cursors("served");
  if (!cursors.served.covers(cursors.burnt)) throw_corrupt_cursors("burnt");
  if (cursors.gaps.size() > MaterialCursors::kGapsMax) throw_corrupt_cursors("gaps");
  if (cursors.planned.size() > MaterialCursors::kPlannedMax)
    throw_corrupt_cursors("planned reservations");
  if (cursors.slots_to_erase.size() > MaterialCursors::kSlotsToEraseMax)
    throw_corrupt_cursors("slots to erase");
  if (cursors.next_slot < 1 || cursors.next_slot > material::kKindCountMax ||
      cursors.next_reservation < 1)
    throw_corrupt_cursors("counters");
  for (const Gap& gap : cursors.gaps)
    if (gap.first >= gap.end || gap.end > cursors.served[gap.kind]) throw_corrupt_cursors("gaps");
  for (const PlannedReservation& planned : cursors.planned)
    if (!planned.range.end.covers(planned.range.start) || !cursors.served.covers(planned.range.end))
      throw_corrupt_cursors("planned reservations");
  for (const std::uint64_t slot : cursors.slots_to_erase)
    if (slot < 1 || slot >= cursors.next_slot) throw_corrupt_cursors("slots to erase");
}

}  // namespace

std::string serialize_cursors(const MaterialCursors& cursors) {
  check(cursors);
  stored::CursorsRecord record;
  put_counts(cursors.made, *record.mutable_made());
  put_counts(cursors.unlocked, *record.mutable_unlocked());
  put_counts(cursors.served, *record.mutable_served());
  put_counts(cursors.burnt, *record.mutable_burnt());
  put_counts(cursors.confirmed, *record.mutable_confirmed());
  record.set_units_unlocked(cursors.units_unlocked);
  record.set_attempts(cursors.attempts);
  record.set_next_slot(cursors.next_slot);
  record.set_next_reservation(cursors.next_reservation);
  for (const Gap& gap : cursors.gaps) {
    stored::GapRecord& stored = *record.add_gaps();
    stored.set_kind(static_cast<std::uint32_t>(gap.kind));
    stored.set_first(gap.first);
    stored.set_end(gap.end);
  }
  for (const PlannedReservation& planned : cursors.planned) {
    stored::PlannedRecord& stored = *record.add_planned();
    stored.set_id(planned.id);
    put_counts(planned.range.start, *stored.mutable_range()->mutable_start());
    put_counts(planned.range.end, *stored.mutable_range()->mutable_end());
  }
  record.mutable_slots_to_erase()->Assign(cursors.slots_to_erase.begin(),
                                          cursors.slots_to_erase.end());
  record.set_database_identity(cursors.database_identity);
  record.set_keys_identity(cursors.keys_identity);
  return record.SerializeAsString();
}

MaterialCursors parse_cursors(std::span<const std::byte> bytes) {
  stored::CursorsRecord record;
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()) ||
      !record.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    throw_corrupt_cursors("not cursors");
  MaterialCursors cursors;
  cursors.made = counts_from(record.made(), "made");
  cursors.unlocked = counts_from(record.unlocked(), "unlocked");
  cursors.served = counts_from(record.served(), "served");
  cursors.burnt = counts_from(record.burnt(), "burnt");
  cursors.confirmed = counts_from(record.confirmed(), "confirmed");
  cursors.units_unlocked = record.units_unlocked();
  cursors.attempts = record.attempts();
  cursors.next_slot = record.next_slot();
  cursors.next_reservation = record.next_reservation();
  for (const stored::GapRecord& gap : record.gaps())
    cursors.gaps.push_back({kind_from(gap.kind()), gap.first(), gap.end()});
  for (const stored::PlannedRecord& planned : record.planned())
    cursors.planned.push_back({planned.id(),
                               {counts_from(planned.range().start(), "planned reservations"),
                                counts_from(planned.range().end(), "planned reservations")}});
  cursors.slots_to_erase.assign(record.slots_to_erase().begin(), record.slots_to_erase().end());
  cursors.database_identity = record.database_identity();
  cursors.keys_identity = record.keys_identity();
  check(cursors);
  return cursors;
}

}  // namespace tinyot::storage
