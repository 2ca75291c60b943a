#include "storage/marks.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "marks.pb.h"
#include "material/counts.h"

namespace tinyot::storage {
namespace {

using StoredList = google::protobuf::RepeatedPtrField<stored::KindCountRecord>;

[[noreturn]] void throw_corrupt_marks(const std::string& field) {
  throw StoreError("the marks of the store are corrupt (" + field +
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
      list, [&](const std::string& flaw) { throw_corrupt_marks(field + ": " + flaw); });
}

MaterialKind kind_from(std::uint32_t number) {
  if (number >= kMaterialKinds) throw_corrupt_marks("kind of a gap");
  return static_cast<MaterialKind>(number);
}

void check(const Marks& marks) {
  if (!marks.made.covers(marks.unlocked)) throw_corrupt_marks("unlocked");
  if (!marks.unlocked.covers(marks.position)) throw_corrupt_marks("position");
  if (!marks.position.covers(marks.burnt)) throw_corrupt_marks("burnt");
  if (marks.gaps.size() > Marks::kGapsMax) throw_corrupt_marks("gaps");
  if (marks.planned.size() > Marks::kPlannedMax) throw_corrupt_marks("planned reservations");
  if (marks.slots_to_erase.size() > Marks::kSlotsToEraseMax) throw_corrupt_marks("slots to erase");
  if (marks.next_slot < 1 || marks.next_slot > material::kKindCountMax ||
      marks.next_reservation < 1)
    throw_corrupt_marks("counters");
  for (const Gap& gap : marks.gaps)
    if (gap.first >= gap.end || gap.end > marks.position[gap.kind]) throw_corrupt_marks("gaps");
  for (const PlannedReservation& planned : marks.planned)
    if (!planned.range.end.covers(planned.range.start) || !marks.position.covers(planned.range.end))
      throw_corrupt_marks("planned reservations");
  for (const std::uint64_t slot : marks.slots_to_erase)
    if (slot < 1 || slot >= marks.next_slot) throw_corrupt_marks("slots to erase");
}

}  // namespace

std::string serialize_marks(const Marks& marks) {
  check(marks);
  stored::MarksRecord record;
  put_counts(marks.made, *record.mutable_made());
  put_counts(marks.unlocked, *record.mutable_unlocked());
  put_counts(marks.position, *record.mutable_position());
  put_counts(marks.burnt, *record.mutable_burnt());
  put_counts(marks.confirmed, *record.mutable_confirmed());
  record.set_units_unlocked(marks.units_unlocked);
  record.set_attempts(marks.attempts);
  record.set_next_slot(marks.next_slot);
  record.set_next_reservation(marks.next_reservation);
  for (const Gap& gap : marks.gaps) {
    stored::GapRecord& stored = *record.add_gaps();
    stored.set_kind(static_cast<std::uint32_t>(gap.kind));
    stored.set_first(gap.first);
    stored.set_end(gap.end);
  }
  for (const PlannedReservation& planned : marks.planned) {
    stored::PlannedRecord& stored = *record.add_planned();
    stored.set_id(planned.id);
    put_counts(planned.range.start, *stored.mutable_range()->mutable_start());
    put_counts(planned.range.end, *stored.mutable_range()->mutable_end());
  }
  record.mutable_slots_to_erase()->Assign(marks.slots_to_erase.begin(), marks.slots_to_erase.end());
  record.set_database_identity(marks.database_identity);
  record.set_keys_identity(marks.keys_identity);
  return record.SerializeAsString();
}

Marks parse_marks(std::span<const std::byte> bytes) {
  stored::MarksRecord record;
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()) ||
      !record.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    throw_corrupt_marks("not marks");
  Marks marks;
  marks.made = counts_from(record.made(), "made");
  marks.unlocked = counts_from(record.unlocked(), "unlocked");
  marks.position = counts_from(record.position(), "position");
  marks.burnt = counts_from(record.burnt(), "burnt");
  marks.confirmed = counts_from(record.confirmed(), "confirmed");
  marks.units_unlocked = record.units_unlocked();
  marks.attempts = record.attempts();
  marks.next_slot = record.next_slot();
  marks.next_reservation = record.next_reservation();
  for (const stored::GapRecord& gap : record.gaps())
    marks.gaps.push_back({kind_from(gap.kind()), gap.first(), gap.end()});
  for (const stored::PlannedRecord& planned : record.planned())
    marks.planned.push_back({planned.id(),
                             {counts_from(planned.range().start(), "planned reservations"),
                              counts_from(planned.range().end(), "planned reservations")}});
  marks.slots_to_erase.assign(record.slots_to_erase().begin(), record.slots_to_erase().end());
  marks.database_identity = record.database_identity();
  marks.keys_identity = record.keys_identity();
  check(marks);
  return marks;
}

}  // namespace tinyot::storage
