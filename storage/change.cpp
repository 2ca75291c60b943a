// Write transactions.

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "material/counts.h"
#include "storage/authenticated_values.h"
#include "storage/database.h"
#include "storage/record.h"

namespace tinyot::storage {

WriteTransaction::WriteTransaction(Database& database, Transaction& transaction)
    : ReadTransaction(database, transaction), writable_(database),
      first_new_slot_(cursors_.next_slot) {}

std::span<std::byte> WriteTransaction::reserve_record(BatchEntry& entry,
                                                      const crypto::SealKey& key) {
  entry.slot = cursors_.next_slot++;
  new_keys_.push_back(key);
  return transaction_.reserve(database_.records_table_, index_key(entry.slot),
                              material::bytes_of(entry.kind, manifest_.me, entry.count),
                              PutMode::Append);
}

void WriteTransaction::seal_new_batch(BatchEntry& entry, const material::Batch& objects) {
  const crypto::SealKey key = writable_.keys_->fresh_key();
  const auto room = reserve_record(entry, key);
  seal_batch(database_.session(), manifest_.me, entry, key, objects, room);
}

void WriteTransaction::add(BatchEntry entry, const material::Batch& objects) {
  seal_new_batch(entry, objects);
  put_entry(entry);
}

void WriteTransaction::add_reference_bits(const material::Batch& bits) {
  ENSURE(!reference_entry(bits.kind));
  BatchEntry entry{.kind = bits.kind,
                   .first = kReferenceFirst,
                   .count = static_cast<std::uint32_t>(bits.count),
                   .shard = manifest_.shard,
                   .origin = kReferenceFirst};
  seal_new_batch(entry, bits);
  put_reference_entry(entry);
}

void WriteTransaction::add_sealed_reference_bits(BatchEntry entry, const crypto::SealKey& key,
                                                 ByteView sealed) {
  ENSURE(!reference_entry(entry.kind));
  copy_record(entry, key, sealed);
  put_reference_entry(entry);
}

void WriteTransaction::put_reference_entry(const BatchEntry& entry) {
  put_tagged(transaction_, database_.state_table_, database_.keys(),
             view_of(reference_name(entry.kind)), encode_entry(entry));
}

void WriteTransaction::drop_reference_bits() {
  for (const MaterialKind kind : {MaterialKind::AuthBitsA, MaterialKind::AuthBitsB}) {
    const auto entry = reference_entry(kind);
    if (!entry) continue;
    (void)record(*entry);
    transaction_.erase(database_.records_table_, index_key(entry->slot));
    transaction_.erase(database_.state_table_, view_of(reference_name(kind)));
    cursors_.slots_to_erase.push_back(entry->slot);
  }
}

void WriteTransaction::add_sealed(BatchEntry entry, const crypto::SealKey& key, ByteView sealed) {
  copy_record(entry, key, sealed);
  put_entry(entry);
}

void WriteTransaction::copy_record(BatchEntry& entry, const crypto::SealKey& key, ByteView sealed) {
  const auto room = reserve_record(entry, key);
  ENSURE(room.size() == sealed.size());
  std::memcpy(room.data(), sealed.data(), sealed.size());
}

void WriteTransaction::put_entry(const BatchEntry& entry) {
  const IndexKey key = index_key(entry.first);
  put_tagged_as(transaction_, database_.catalogue_of(entry.kind), database_.keys(),
                entry_name(entry.kind, key), key, encode_entry(entry));
}

void WriteTransaction::drop(const BatchEntry& entry) {
  (void)record(entry);  // checks the page header, which tells LMDB what pages to free
  transaction_.erase(database_.records_table_, index_key(entry.slot));
  transaction_.erase(database_.catalogue_of(entry.kind), index_key(entry.first));
}

void WriteTransaction::split(MaterialKind kind, std::uint64_t index) {
  const auto whole = entry_holding(kind, index);
  if (!whole || whole->first == index) return;
  const material::Batch objects = open(*whole);
  drop(*whole);
  cursors_.slots_to_erase.push_back(whole->slot);
  const auto add_part = [&](std::uint64_t from, std::uint64_t to) {
    const std::uint64_t offset = from - whole->first;
    const BatchEntry part{.kind = kind,
                          .first = from,
                          .count = static_cast<std::uint32_t>(to - from),
                          .shard = whole->shard,
                          .origin = whole->origin + offset};
    material::Batch some(kind, manifest_.me, part.count);
    material::copy_objects(objects, offset, part.count, some, 0);
    add(part, some);
  };
  add_part(whole->first, index);
  add_part(index, whole->end());
}

void WriteTransaction::put_attempt(std::uint64_t number, const Attempt& attempt) {
  ENSURE(number <= cursors_.attempts);
  cursors_.attempts = std::max(cursors_.attempts, number + 1);
  const IndexKey key = index_key(number);
  put_tagged_as(transaction_, database_.attempts_table_, database_.keys(), attempt_name(key), key,
                encode_attempt(attempt));
}

void WriteTransaction::put_unit(std::uint64_t unit, const MaterialCounts& made) {
  std::vector<std::byte> list;
  material::append_list(list, made);
  put_tagged(transaction_, database_.units_table_, database_.keys(), index_key(unit), list);
}

void WriteTransaction::drop_units_from(std::uint64_t unit) {
  std::vector<std::uint64_t> dropped;
  Cursor cursor(transaction_, database_.units_table_);
  for (auto found = cursor.at_or_after(index_key(unit)); found; found = cursor.next())
    dropped.push_back(index_of(found->key).value_or(unit));
  for (const std::uint64_t number : dropped)
    transaction_.erase(database_.units_table_, index_key(number));
}

crypto::SealKey WriteTransaction::key_of(const BatchEntry& entry) const {
  if (entry.slot >= first_new_slot_ && entry.slot - first_new_slot_ < new_keys_.size())
    return new_keys_[entry.slot - first_new_slot_];
  return ReadTransaction::key_of(entry);
}

void WriteTransaction::finish() {
  const KeyTable& keys = database_.keys();
  put_tagged(transaction_, database_.state_table_, keys, view_of(kManifestKey),
             view_of(serialize_manifest(manifest_)));
  put_tagged(transaction_, database_.state_table_, keys, view_of(kCursorsKey),
             view_of(serialize_cursors(cursors_)));
  if (new_keys_.empty()) return;
  // A batch is unusable without its key, so keys are durable before the commit.
  writable_.keys_->fill(first_new_slot_, new_keys_);
  keys.sync();
}

}  // namespace tinyot::storage
