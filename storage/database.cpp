#include "storage/database.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "material/counts.h"
#include "storage/authenticated_values.h"
#include "storage/page_check.h"
#include "storage/record.h"

namespace tinyot::storage {
namespace {

namespace fs = std::filesystem;

constexpr char kStateTable[] = "state", kUnitsTable[] = "units", kAttemptsTable[] = "attempts",
               kRecordsTable[] = "records";
constexpr std::string_view kMagicKey = "magic";
constexpr std::string_view kStoreMagic = "TinyOT store";

// Tree pages that a commit changes in addition to what it adds.
constexpr std::uint64_t kTreeBytes = std::uint64_t{64} << 10;

SessionId session_of(const Manifest& manifest) {
  SessionId session;
  std::memcpy(session.bytes.data(), manifest.session_id.data(), session.bytes.size());
  return session;
}

[[noreturn]] void throw_foreign(const StoreFiles& files) {
  throw StoreError(files.database.string() +
                   " is not a TinyOT store; nothing in it has been changed");
}

[[noreturn]] void throw_corrupt(const StoreFiles& files, std::string_view what) {
  throw StoreError("the store in " + files.directory.string() + " is corrupt (" +
                   std::string(what) +
                   "); its material cannot be used, start a new session in a new store");
}

}  // namespace

ReadTransaction::ReadTransaction(const Database& database, Transaction& transaction)
    : database_(database), transaction_(transaction) {
  const auto magic = transaction.get(database.state_table_, view_of(kMagicKey));
  if (!magic) throw_corrupt(database.files_, kMagicKey);
  map_ = map_around(*magic, database.environment_->page_bytes());
  const auto manifest =
      get_tagged(transaction, database.state_table_, database.keys(), view_of(kManifestKey));
  if (!manifest) throw_corrupt(database.files_, kManifestKey);
  const auto cursors =
      get_tagged(transaction, database.state_table_, database.keys(), view_of(kCursorsKey));
  if (!cursors) throw_corrupt(database.files_, kCursorsKey);
  manifest_ = parse_manifest(*manifest);
  cursors_ = parse_cursors(*cursors);
}

void ReadTransaction::check_not_revoked() const {
  if (manifest_.state == StoreState::Revoked)
    throw StoreError("the session is revoked: " + manifest_.revocation_reason +
                     "; start a new session in a new store");
  // Another user in this process has announced it, and is about to write it.
  if (database_.revocation()->is_set())
    throw StoreError(
        "the session is revoked: a check has failed on another of its connections; start a new "
        "session in a new store");
}

namespace {

BatchEntry entry_from(const KeyTable& keys, MaterialKind kind, const Cursor::Entry& found) {
  const auto first = index_of(found.key);
  const auto value = verify(keys, entry_name(kind, found.key), found.value);
  const auto entry = first && value ? decode_entry(kind, *first, *value) : std::nullopt;
  if (!entry)
    throw_corrupt_batch(std::string(name_of(kind)) +
                        (first ? " " + std::to_string(*first) : std::string()));
  return *entry;
}

}  // namespace

std::optional<BatchEntry> ReadTransaction::entry_holding(MaterialKind kind,
                                                         std::uint64_t index) const {
  Cursor cursor(transaction_, database_.catalogue_of(kind));
  const auto found = cursor.at_or_before(index_key(index));
  if (!found) return std::nullopt;
  const BatchEntry entry = entry_from(database_.keys(), kind, *found);
  return entry.end() > index ? std::optional(entry) : std::nullopt;
}

std::vector<BatchEntry> ReadTransaction::entries(MaterialKind kind, std::uint64_t begin,
                                                 std::uint64_t end) const {
  std::vector<BatchEntry> entries;
  Cursor cursor(transaction_, database_.catalogue_of(kind));
  for (auto found = cursor.at_or_after(index_key(begin)); found; found = cursor.next()) {
    entries.push_back(entry_from(database_.keys(), kind, *found));
    if (entries.back().first >= end) {
      entries.pop_back();
      break;
    }
  }
  return entries;
}

std::optional<BatchEntry> ReadTransaction::last_entry(MaterialKind kind) const {
  const auto found = Cursor(transaction_, database_.catalogue_of(kind)).last();
  return found ? std::optional(entry_from(database_.keys(), kind, *found)) : std::nullopt;
}

ByteView ReadTransaction::record(const BatchEntry& entry) const {
  const auto record = transaction_.get(database_.records_table_, index_key(entry.slot));
  if (!record || record->size() != material::bytes_of(entry.kind, manifest_.me, entry.count))
    throw_corrupt_batch(text_of(entry));
  check_value_pages(map_, *record);
  return *record;
}

crypto::SealKey ReadTransaction::key_of(const BatchEntry& entry) const {
  return database_.keys().key(entry.slot, "batch " + text_of(entry));
}

material::Batch ReadTransaction::open(const BatchEntry& entry) const {
  return open_batch(database_.session(), manifest_.me, entry, key_of(entry), record(entry), {});
}

std::optional<BatchEntry> ReadTransaction::reference_entry(MaterialKind kind) const {
  const std::string name = reference_name(kind);
  if (!transaction_.get(database_.state_table_, view_of(name))) return std::nullopt;
  const auto coded =
      get_tagged(transaction_, database_.state_table_, database_.keys(), view_of(name));
  const auto entry = coded ? decode_entry(kind, kReferenceFirst, *coded) : std::nullopt;
  if (!entry) throw_corrupt(database_.files_, name);
  return entry;
}

MaterialCounts ReadTransaction::made_by(std::uint64_t units) const {
  if (units == 0) return {};
  const IndexKey key = index_key(units - 1);
  const std::string name = "unit " + std::to_string(units);
  auto list = get_tagged(transaction_, database_.units_table_, database_.keys(), key);
  if (!list) throw_corrupt(database_.files_, name);
  const MaterialCounts counts = material::take_list(
      *list, [&](const std::string& flaw) { throw_corrupt(database_.files_, name + ": " + flaw); });
  if (!list->empty()) throw_corrupt(database_.files_, name);
  return counts;
}

Attempt ReadTransaction::attempt(std::uint64_t number) const {
  const IndexKey key = index_key(number);
  const auto stored = transaction_.get(database_.attempts_table_, key);
  const auto value = stored ? verify(database_.keys(), attempt_name(key), *stored) : std::nullopt;
  const auto attempt = value ? decode_attempt(*value) : std::nullopt;
  if (!attempt) throw_corrupt(database_.files_, "attempt " + std::to_string(number));
  return *attempt;
}

std::vector<Attempt> ReadTransaction::attempts() const {
  // A missing entry would lower the sum of the risks, so it is an error.
  std::vector<Attempt> attempts;
  for (std::uint64_t number = 0; number < cursors_.attempts; ++number)
    attempts.push_back(attempt(number));
  return attempts;
}

void Database::make(const StoreFiles& files, const Manifest& manifest, const KeyTable& keys,
                    std::uint64_t map_bytes) {
  // Replaces what an interrupted creation has left behind.
  { const system::File empty = system::File::make_new(files.database_new); }
  fs::remove(files.database_lock);
  {
    Environment environment(files.database_new, map_bytes, Locking::None);
    MaterialCursors cursors;
    cursors.database_identity = identity_of(files.database_new);
    cursors.keys_identity = identity_of(files.keys);
    environment.write("make the store", kTreeBytes, [&](Transaction& transaction) {
      const Table state = *transaction.table(kStateTable, TableMode::Create);
      transaction.put(state, view_of(kMagicKey), view_of(kStoreMagic));
      put_tagged(transaction, state, keys, view_of(kManifestKey),
                 view_of(serialize_manifest(manifest)));
      put_tagged(transaction, state, keys, view_of(kCursorsKey),
                 view_of(serialize_cursors(cursors)));
      for (const char* name : {kUnitsTable, kAttemptsTable, kRecordsTable})
        (void)transaction.table(name, TableMode::Create);
      for (const MaterialKind kind : kAllMaterialKinds)
        (void)transaction.table(std::string(name_of(kind)).c_str(), TableMode::Create);
    });
  }
  fs::rename(files.database_new, files.database);
  system::sync_directory(files.directory);
}

Database::Database(const StoreFiles& files, std::unique_ptr<StoreLock> lock,
                   const std::optional<StoreKey>& store_key)
    : files_(files), lock_(std::move(lock)), environment_(files.database) {
  environment_->open_tables("read the manifest", [&](Transaction& transaction) {
    find_state(transaction);
    // The session id is needed to open the key table; the manifest's tag is checked afterwards,
    // under the table's keys.
    const auto coded = strip_tag(transaction.get(state_table_, view_of(kManifestKey)));
    if (!coded) throw_corrupt(files_, kManifestKey);
    manifest_ = parse_manifest(*coded);
    find_tables(transaction);
  });
  keys_ = std::make_unique<KeyTable>(files.keys, session(), store_key);
  refresh();
}

SessionId Database::session() const { return session_of(manifest_); }

void Database::find_state(Transaction& transaction) {
  const auto state = transaction.table(kStateTable, TableMode::Open);
  if (!state) throw_foreign(files_);
  state_table_ = *state;
  const auto magic = transaction.get(state_table_, view_of(kMagicKey));
  if (!magic || !std::ranges::equal(*magic, view_of(kStoreMagic))) throw_foreign(files_);
}

void Database::find_tables(Transaction& transaction) {
  const auto table = [&](const std::string& name) {
    const auto found = transaction.table(name.c_str(), TableMode::Open);
    if (!found) throw_corrupt(files_, name);
    return *found;
  };
  units_table_ = table(kUnitsTable);
  attempts_table_ = table(kAttemptsTable);
  records_table_ = table(kRecordsTable);
  for (const MaterialKind kind : kAllMaterialKinds)
    catalogues_[static_cast<std::size_t>(kind)] = table(std::string(name_of(kind)));
}

void Database::refresh() {
  read("read the manifest", [&](const ReadTransaction& view) {
    manifest_ = view.manifest();
    cursors_ = view.cursors();
  });
}

void Database::read(const std::string& operation,
                    const std::function<void(const ReadTransaction&)>& body) const {
  environment_->read(operation,
                     [&](Transaction& transaction) { body(ReadTransaction(*this, transaction)); });
}

void Database::change(const std::string& operation, std::uint64_t bytes,
                      const std::function<void(WriteTransaction&)>& body) {
  Manifest manifest;
  MaterialCursors cursors;
  environment_->write(operation, bytes + kTreeBytes, [&](Transaction& transaction) {
    WriteTransaction change(*this, transaction);
    std::erase_if(change.cursors().slots_to_erase, [&](std::uint64_t slot) {
      return std::ranges::find(erased_, slot) != erased_.end();
    });
    body(change);
    change.finish();
    manifest = change.manifest();
    cursors = change.cursors();
  });
  manifest_ = std::move(manifest);
  cursors_ = std::move(cursors);
}

void Database::erase_listed_slots() {
  keys_->erase(cursors_.slots_to_erase);
  erased_ = cursors_.slots_to_erase;
}

}  // namespace tinyot::storage
