#include "storage/database.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "storage/page_check.h"
#include "storage/record.h"

namespace tinyot {
namespace {

namespace fs = std::filesystem;

constexpr char kStateTable[] = "state", kUnitsTable[] = "units", kRecordsTable[] = "records";
constexpr std::string_view kMagicKey = "magic", kManifestKey = "manifest", kMarksKey = "marks";
constexpr std::string_view kMagic = "TinyOT store";

// Pages of the trees that a commit touches beside what it adds.
constexpr std::uint64_t kTreeBytes = std::uint64_t{64} << 10;

ByteView view_of(std::string_view text) { return std::as_bytes(std::span(text)); }

SessionId session_of(const Manifest& manifest) {
  SessionId session;
  std::memcpy(session.bytes.data(), manifest.session_id.data(), session.bytes.size());
  return session;
}

[[noreturn]] void throw_foreign(const StoreFiles& files) {
  throw StoreError(files.database.string() + " is not a TinyOT store; nothing in it has been changed");
}

[[noreturn]] void throw_corrupt(const StoreFiles& files, std::string_view what) {
  throw StoreError("the store in " + files.directory.string() + " is corrupt (" + std::string(what) +
                   "); its material cannot be used, start a new session in a new store");
}

// What is stored under a name is followed by a tag that says that a store of this session has put it there.
SealTag tag_of(const KeyTable& keys, ByteView name, ByteView value) {
  std::vector<std::byte> message(name.begin(), name.end());
  message.push_back(std::byte{0});
  message.insert(message.end(), value.begin(), value.end());
  return authenticate(keys.state_key(), message);
}

void put_tagged(Transaction& transaction, MDB_dbi table, const KeyTable& keys, ByteView name, ByteView value) {
  const SealTag tag = tag_of(keys, name, value);
  std::vector<std::byte> stored(value.begin(), value.end());
  stored.insert(stored.end(), tag.begin(), tag.end());
  transaction.put(table, name, stored);
}

// The value before its tag; empty if there is none.
std::optional<ByteView> without_tag(const std::optional<ByteView>& stored) {
  if (!stored || stored->size() < sizeof(SealTag)) return std::nullopt;
  return stored->first(stored->size() - sizeof(SealTag));
}

// Keys that are erased leave nothing to check by, and nothing to be served either.
std::optional<ByteView> get_tagged(const Transaction& transaction, MDB_dbi table, const KeyTable& keys, ByteView name) {
  const auto stored = transaction.get(table, name);
  const auto value = without_tag(stored);
  if (!value || keys.protection() == KeyProtection::Erased) return value;
  SealTag tag;
  std::memcpy(tag.data(), stored->data() + value->size(), tag.size());
  return equal_constant_time(tag, tag_of(keys, name, *value)) ? value : std::nullopt;
}

}  // namespace

View::View(const Database& database, Transaction& transaction) : database_(database), transaction_(transaction) {
  const auto magic = transaction.get(database.state_table_, view_of(kMagicKey));
  if (!magic) throw_corrupt(database.files_, kMagicKey);
  map_ = map_around(*magic);
  const auto manifest = get_tagged(transaction, database.state_table_, database.keys(), view_of(kManifestKey));
  if (!manifest) throw_corrupt(database.files_, kManifestKey);
  const auto marks = get_tagged(transaction, database.state_table_, database.keys(), view_of(kMarksKey));
  if (!marks) throw_corrupt(database.files_, kMarksKey);
  manifest_ = parse_manifest(*manifest);
  marks_ = parse_marks(*marks);
}

void View::check_alive() const {
  if (manifest_.state == SessionState::Dead)
    throw StoreError("session is dead: " + manifest_.dead_reason + "; start a new session in a new store");
}

namespace {

BatchEntry entry_from(MaterialKind kind, const Cursor::Entry& found) {
  const auto first = index_of(found.key);
  const auto entry = first ? decode_entry(kind, *first, found.value) : std::nullopt;
  if (!entry) throw_corrupt_batch(std::string(name_of(kind)) + (first ? " " + std::to_string(*first) : std::string()));
  return *entry;
}

}  // namespace

std::optional<BatchEntry> View::entry_holding(MaterialKind kind, std::uint64_t index) const {
  Cursor cursor(transaction_, database_.catalogue_of(kind));
  const auto found = cursor.at_or_before(index_key(index));
  if (!found) return std::nullopt;
  const BatchEntry entry = entry_from(kind, *found);
  return entry.end() > index ? std::optional(entry) : std::nullopt;
}

std::vector<BatchEntry> View::entries(MaterialKind kind, std::uint64_t begin, std::uint64_t end) const {
  std::vector<BatchEntry> entries;
  Cursor cursor(transaction_, database_.catalogue_of(kind));
  for (auto found = cursor.at_or_after(index_key(begin)); found; found = cursor.next()) {
    entries.push_back(entry_from(kind, *found));
    if (entries.back().first >= end) {
      entries.pop_back();
      break;
    }
  }
  return entries;
}

std::optional<BatchEntry> View::last_entry(MaterialKind kind) const {
  const auto found = Cursor(transaction_, database_.catalogue_of(kind)).last();
  return found ? std::optional(entry_from(kind, *found)) : std::nullopt;
}

ByteView View::record(const BatchEntry& entry) const {
  const auto record = transaction_.get(database_.records_table_, index_key(entry.slot));
  if (!record || record->size() != record_bytes(entry.kind, manifest_.me, entry.count)) throw_corrupt_batch(text_of(entry));
  check_value_pages(map_, *record);
  return *record;
}

SealKey View::key_of(const BatchEntry& entry) const { return database_.keys().key(entry.slot, "batch " + text_of(entry)); }

SecretVector<std::byte> View::open(const BatchEntry& entry) const {
  const ByteView sealed = record(entry);
  SecretVector<std::byte> plain(sealed.size());
  open_record(database_.session(), manifest_.me, entry, key_of(entry), sealed, plain);
  return plain;
}

MaterialCounts View::made_by(std::uint64_t units) const {
  MaterialCounts counts;
  if (units == 0) return counts;
  const IndexKey key = index_key(units - 1);
  const auto value = get_tagged(transaction_, database_.units_table_, database_.keys(), key);
  if (!value || value->size() != sizeof counts.of) throw_corrupt(database_.files_, "unit " + std::to_string(units));
  std::memcpy(counts.of.data(), value->data(), value->size());
  return counts;
}

Change::Change(Database& database, Transaction& transaction) : View(database, transaction), writable_(database), first_new_slot_(marks_.next_slot) {}

std::span<std::byte> Change::room_for(BatchEntry& entry, const SealKey& key) {
  entry.slot = marks_.next_slot++;
  new_keys_.push_back(key);
  return transaction_.reserve(database_.records_table_, index_key(entry.slot), record_bytes(entry.kind, manifest_.me, entry.count), PutMode::Append);
}

void Change::add(BatchEntry entry, const std::function<void(std::span<std::byte>)>& encode) {
  plain_.resize(record_bytes(entry.kind, manifest_.me, entry.count));
  encode(plain_);
  const SealKey key = writable_.keys_->fresh_key();
  const auto room = room_for(entry, key);
  seal_record(database_.session(), manifest_.me, entry, key, plain_, room);
  put_entry(entry);
}

void Change::add_sealed(BatchEntry entry, const SealKey& key, ByteView sealed) {
  const auto room = room_for(entry, key);
  ENSURE(room.size() == sealed.size());
  std::memcpy(room.data(), sealed.data(), sealed.size());
  put_entry(entry);
}

void Change::put_entry(const BatchEntry& entry) {
  const CodedEntry coded = encode_entry(entry);
  transaction_.put(database_.catalogue_of(entry.kind), index_key(entry.first), coded);
}

void Change::drop(const BatchEntry& entry) {
  (void)record(entry);  // LMDB frees what the head of its pages says
  transaction_.erase(database_.records_table_, index_key(entry.slot));
  transaction_.erase(database_.catalogue_of(entry.kind), index_key(entry.first));
}

void Change::split(MaterialKind kind, std::uint64_t index) {
  const auto whole = entry_holding(kind, index);
  if (!whole || whole->first == index) return;
  const SecretVector<std::byte> plain = open(*whole);
  MaterialBatch objects(kind, manifest_.me, whole->count);
  decode_objects(kind, manifest_.me, whole->count, plain, 0, whole->count, objects, 0);
  drop(*whole);
  marks_.doomed.push_back(whole->slot);
  const auto add_part = [&](std::uint64_t from, std::uint64_t to) {
    const std::uint64_t offset = from - whole->first;
    const BatchEntry part{.kind = kind, .first = from, .count = static_cast<std::uint32_t>(to - from), .shard = whole->shard, .origin = whole->origin + offset};
    const Segment segment{&objects, static_cast<std::size_t>(offset), part.count};
    add(part, [&](std::span<std::byte> record) { encode_record(kind, manifest_.me, part.count, std::span(&segment, 1), record); });
  };
  add_part(whole->first, index);
  add_part(index, whole->end());
}

void Change::put_unit(std::uint64_t unit, const MaterialCounts& made) {
  put_tagged(transaction_, database_.units_table_, database_.keys(), index_key(unit), std::as_bytes(std::span(made.of)));
}

void Change::drop_units_from(std::uint64_t unit) {
  std::vector<std::uint64_t> dropped;
  Cursor cursor(transaction_, database_.units_table_);
  for (auto found = cursor.at_or_after(index_key(unit)); found; found = cursor.next()) dropped.push_back(index_of(found->key).value_or(unit));
  for (const std::uint64_t number : dropped) transaction_.erase(database_.units_table_, index_key(number));
}

SealKey Change::key_of(const BatchEntry& entry) const {
  if (entry.slot >= first_new_slot_ && entry.slot - first_new_slot_ < new_keys_.size()) return new_keys_[entry.slot - first_new_slot_];
  return View::key_of(entry);
}

void Change::finish() {
  const KeyTable& keys = database_.keys();
  put_tagged(transaction_, database_.state_table_, keys, view_of(kManifestKey), view_of(serialize_manifest(manifest_)));
  put_tagged(transaction_, database_.state_table_, keys, view_of(kMarksKey), view_of(serialize_marks(marks_)));
  if (new_keys_.empty()) return;
  // A batch counts only with its key: the keys are on the disk before the commit is.
  writable_.keys_->fill(first_new_slot_, new_keys_);
  keys.sync();
}

void Database::make(const StoreFiles& files, const Manifest& manifest, const KeyTable& keys, std::uint64_t map_bytes) {
  // A file left by an interrupted start has no meaning yet.
  fs::remove(files.database_new);
  fs::remove(files.database_lock);
  {
    Environment environment(files.database_new, map_bytes, Locking::None);
    Marks marks;
    marks.database_inode = inode_of(files.database_new);
    marks.keys_inode = inode_of(files.keys);
    environment.write("make the store", kTreeBytes, [&](Transaction& transaction) {
      const MDB_dbi state = *transaction.table(kStateTable, TableMode::Create);
      transaction.put(state, view_of(kMagicKey), view_of(kMagic));
      put_tagged(transaction, state, keys, view_of(kManifestKey), view_of(serialize_manifest(manifest)));
      put_tagged(transaction, state, keys, view_of(kMarksKey), view_of(serialize_marks(marks)));
      for (const char* name : {kUnitsTable, kRecordsTable}) (void)transaction.table(name, TableMode::Create);
      for (const MaterialKind kind : kAllMaterialKinds) (void)transaction.table(std::string(name_of(kind)).c_str(), TableMode::Create);
    });
  }
  fs::rename(files.database_new, files.database);
  sync_directory(files.directory);
}

Database::Database(const StoreFiles& files, const std::optional<StoreKey>& store_key) : files_(files), environment_(files.database, 0, Locking::ByLmdb) {
  environment_.read("read the manifest", [&](Transaction& transaction) {
    find_tables(transaction);
    // Who the store belongs to opens the key table; that this is what was written there, the table's keys tell.
    const auto coded = without_tag(transaction.get(state_table_, view_of(kManifestKey)));
    if (!coded) throw_corrupt(files_, kManifestKey);
    manifest_ = parse_manifest(*coded);
  });
  keys_ = std::make_unique<KeyTable>(files.keys, session(), store_key);
  refresh();
}

SessionId Database::session() const { return session_of(manifest_); }

void Database::find_tables(Transaction& transaction) {
  const auto state = transaction.table(kStateTable, TableMode::Open);
  if (!state) throw_foreign(files_);
  state_table_ = *state;
  const auto magic = transaction.get(state_table_, view_of(kMagicKey));
  if (!magic || !std::ranges::equal(*magic, view_of(kMagic))) throw_foreign(files_);
  const auto table = [&](const std::string& name) {
    const auto found = transaction.table(name.c_str(), TableMode::Open);
    if (!found) throw_corrupt(files_, name);
    return *found;
  };
  units_table_ = table(kUnitsTable);
  records_table_ = table(kRecordsTable);
  for (const MaterialKind kind : kAllMaterialKinds) catalogues_[static_cast<std::size_t>(kind)] = table(std::string(name_of(kind)));
}

void Database::refresh() {
  read("read the manifest", [&](const View& view) {
    manifest_ = view.manifest();
    marks_ = view.marks();
  });
}

void Database::read(const std::string& operation, const std::function<void(const View&)>& body) const {
  environment_.read(operation, [&](Transaction& transaction) { body(View(*this, transaction)); });
}

void Database::change(const std::string& operation, std::uint64_t bytes, const std::function<void(Change&)>& body) {
  Manifest manifest;
  Marks marks;
  environment_.write(operation, bytes + kTreeBytes, [&](Transaction& transaction) {
    Change change(*this, transaction);
    body(change);
    change.finish();
    manifest = change.manifest();
    marks = change.marks();
  });
  manifest_ = std::move(manifest);
  marks_ = std::move(marks);
}

}  // namespace tinyot
