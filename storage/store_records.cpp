// How records come into a store and leave it: the part of StoreState that pours, finishes units and drops what is behind.

#include <algorithm>

#include "base/error.h"
#include "storage/record.h"
#include "storage/store_state.h"

namespace tinyot {
namespace {

// Records of about this many bytes are committed together: enough that the sync at the end costs little beside the writing.
constexpr std::uint64_t kCommitBytes = std::uint64_t{16} << 20;

// Tree and free-list pages that erasing one record touches, at most.
constexpr std::uint64_t kEraseBytes = 8192;

struct DroppedRecord {
  MaterialKind kind;
  std::uint64_t first;
};

}  // namespace

void StoreState::pour(MaterialBatch batch) {
  check_alive();
  const MaterialShape shape = shape_of(batch.kind, manifest_.me);
  ENSURE(batch.mine.size() == shape.mine && batch.peers.size() == shape.peers && batch.shares.size() == shape.shares);
  for (const AuthBitsMine& column : batch.mine) ENSURE(column.size() == batch.count && column.bits.size() == batch.count);
  for (const AuthBitsPeers& column : batch.peers) ENSURE(column.size() == batch.count);
  for (const AuthShares& column : batch.shares) ENSURE(column.size() == batch.count && column.bits.size() == batch.count);
  queue_.add(std::move(batch));
  while (queue_.bytes() >= kCommitBytes) {
    const std::vector<PlannedRecord> records = plan_records(Rest::StaysQueued);
    if (records.empty()) return;
    environment_.write("store material", planned_bytes(records),
                       [&](Transaction& transaction) { write_records(transaction, records); });
    forget_queued(records);
  }
}

void StoreState::finish_unit() {
  check_alive();
  for (;;) {
    const std::vector<PlannedRecord> records = plan_records(Rest::IsWritten);
    MaterialCounts made = written_;
    for (const PlannedRecord& record : records) made[record.header.kind] = record.header.end();
    const bool is_last = std::ranges::all_of(
        kAllMaterialKinds, [&](MaterialKind kind) { return made[kind] - written_[kind] == queue_.count(kind); });
    Manifest changed = manifest_;
    if (is_last) ++changed.units_made;
    const std::string coded = serialize_manifest(changed);
    environment_.write("store material", planned_bytes(records), [&](Transaction& transaction) {
      write_records(transaction, records);
      if (is_last) put_unit(transaction, made, coded);
    });
    forget_queued(records);
    if (!is_last) continue;
    made_ = made;
    manifest_ = std::move(changed);
    return;
  }
}

// Full records from the front of each kind's queue, and on demand the smaller last ones, up to one transaction's worth.
std::vector<StoreState::PlannedRecord> StoreState::plan_records(Rest rest) const {
  std::vector<PlannedRecord> records;
  std::uint64_t bytes = 0;
  for (const MaterialKind kind : kAllMaterialKinds) {
    const std::uint64_t queued = queue_.count(kind), capacity = record_capacity(kind);
    for (std::uint64_t from = 0; from < queued && bytes < kCommitBytes;) {
      const std::uint64_t count = std::min(capacity, queued - from);
      if (count < capacity && rest == Rest::StaysQueued) break;
      records.push_back({{kind, manifest_.me, written_[kind] + from, static_cast<std::uint32_t>(count)}, from});
      bytes += record_bytes(kind, manifest_.me, count);
      from += count;
    }
  }
  return records;
}

std::uint64_t StoreState::planned_bytes(std::span<const PlannedRecord> records) const {
  std::uint64_t bytes = 0;
  for (const PlannedRecord& record : records) bytes += record_bytes(record.header.kind, manifest_.me, record.header.count) + 4096;
  return bytes;
}

void StoreState::write_records(Transaction& transaction, std::span<const PlannedRecord> records) const {
  for (const auto& [header, from] : records) {
    const std::size_t bytes = record_bytes(header.kind, header.me, header.count);
    const auto room = transaction.reserve(table_of(header.kind), index_key(header.first), bytes, PutMode::Append);
    encode_record(header, queue_.segments(header.kind, from, header.count), room);
  }
}

void StoreState::forget_queued(std::span<const PlannedRecord> records) {
  for (const auto& [header, from] : records) {
    queue_.drop_front(header.kind, header.count);
    written_[header.kind] = header.end();
  }
}

void StoreState::drop_unfinished() {
  std::vector<DroppedRecord> dropped;
  environment_.read("look for an unfinished unit", [&](Transaction& transaction) {
    for (const MaterialKind kind : kAllMaterialKinds) {
      Cursor cursor(transaction, table_of(kind));
      for (auto entry = cursor.at_or_after(index_key(made_[kind])); entry; entry = cursor.next()) {
        const auto first = index_of(entry->key);
        if (!first) throw_corrupt_record(kind, made_[kind]);
        dropped.push_back({kind, *first});
      }
    }
  });
  if (dropped.empty()) return;
  environment_.write("drop an unfinished unit", dropped.size() * kEraseBytes, [&](Transaction& transaction) {
    for (const DroppedRecord& record : dropped) transaction.erase(table_of(record.kind), index_key(record.first));
  });
}

void StoreState::drop_served() {
  std::vector<DroppedRecord> dropped;
  environment_.read("look for served material", [&](Transaction& transaction) {
    for (const MaterialKind kind : kAllMaterialKinds) {
      Cursor cursor(transaction, table_of(kind));
      for (auto entry = cursor.first(); entry; entry = cursor.next()) {
        const auto first = index_of(entry->key);
        if (!first) throw_corrupt_record(kind, 0);
        if (*first >= position_[kind]) break;
        const RecordHeader header = check_record(kind, manifest_.me, *first, entry->value);
        Environment::release_pages(entry->value);
        if (header.end() <= position_[kind] && !is_held(header)) dropped.push_back({kind, *first});
      }
    }
  });
  if (dropped.empty()) return;
  environment_.write("drop served material", dropped.size() * kEraseBytes, [&](Transaction& transaction) {
    for (const DroppedRecord& record : dropped) transaction.erase(table_of(record.kind), index_key(record.first));
  });
}

bool StoreState::is_held(const RecordHeader& record) const {
  return std::ranges::any_of(reservations_, [&](const auto& entry) {
    const Range& range = entry.second;
    return record.first < range.end[record.kind] && range.start[record.kind] < record.end();
  });
}

}  // namespace tinyot
