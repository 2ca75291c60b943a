#include "storage/store_state.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace tinyot {
namespace {

namespace fs = std::filesystem;

constexpr char kStateTable[] = "state";
constexpr std::string_view kMagicKey = "magic", kManifestKey = "manifest";
constexpr std::string_view kMadeKey = "made", kPositionKey = "position", kBurntKey = "burnt";
constexpr std::string_view kMagic = "TinyOT store";

ByteView view_of(std::string_view text) { return std::as_bytes(std::span(text)); }
ByteView view_of(const MaterialCounts& counts) { return std::as_bytes(std::span(counts.of)); }

std::string table_name(MaterialKind kind) { return std::string(name_of(kind)); }

[[noreturn]] void throw_foreign(const StoreFiles& files) {
  throw StoreError(files.database.string() + " is not a TinyOT store; nothing in it has been changed");
}

[[noreturn]] void throw_corrupt(const StoreFiles& files, std::string_view what) {
  throw StoreError("the store in " + files.directory.string() + " is corrupt (" + std::string(what) +
                   "); its material cannot be used, start a new session in a new store");
}

MaterialCounts load_counts(const Transaction& transaction, MDB_dbi table, std::string_view key, const StoreFiles& files) {
  const auto value = transaction.get(table, view_of(key));
  MaterialCounts counts;
  if (!value || value->size() != sizeof counts.of) throw_corrupt(files, key);
  std::memcpy(counts.of.data(), value->data(), value->size());
  return counts;
}

}  // namespace

void StoreState::make_database(const StoreFiles& files, const Manifest& manifest, std::uint64_t map_bytes) {
  // A file left by an interrupted start has no meaning yet.
  fs::remove(files.database_new);
  fs::remove(files.database_lock);
  {
    Environment environment(files.database_new, map_bytes, Locking::None);
    const std::string coded = serialize_manifest(manifest);
    environment.write("make the store", coded.size(), [&](Transaction& transaction) {
      const MDB_dbi state = *transaction.table(kStateTable, TableMode::Create);
      transaction.put(state, view_of(kMagicKey), view_of(kMagic));
      transaction.put(state, view_of(kManifestKey), view_of(coded));
      for (const std::string_view key : {kMadeKey, kPositionKey, kBurntKey})
        transaction.put(state, view_of(key), view_of(MaterialCounts{}));
      for (const MaterialKind kind : kAllMaterialKinds) (void)transaction.table(table_name(kind).c_str(), TableMode::Create);
    });
  }
  fs::rename(files.database_new, files.database);
  sync_directory(files.directory);
}

StoreState::StoreState(const StoreFiles& files, std::unique_ptr<StoreLock> lock)
    : files_(files), lock_(std::move(lock)), environment_(files_.database, 0, Locking::ByLmdb) {
  load();
  check_marks();
  if (manifest_.state == SessionState::Dead) {
    wipe_global_key(files_, manifest_.session_id);
    return;
  }
  global_key_ = read_global_key(files_, manifest_.session_id);
  drop_unfinished();
  drop_served();
}

StoreState::~StoreState() { wipe_object(global_key_); }

void StoreState::load() {
  environment_.read("read the manifest", [&](Transaction& transaction) {
    const auto state = transaction.table(kStateTable, TableMode::Open);
    if (!state) throw_foreign(files_);
    state_table_ = *state;
    const auto magic = transaction.get(state_table_, view_of(kMagicKey));
    if (!magic || !std::ranges::equal(*magic, view_of(kMagic))) throw_foreign(files_);
    const auto coded = transaction.get(state_table_, view_of(kManifestKey));
    if (!coded) throw_corrupt(files_, kManifestKey);
    manifest_ = parse_manifest(*coded);
    made_ = load_counts(transaction, state_table_, kMadeKey, files_);
    position_ = load_counts(transaction, state_table_, kPositionKey, files_);
    burnt_ = load_counts(transaction, state_table_, kBurntKey, files_);
    for (const MaterialKind kind : kAllMaterialKinds) {
      const auto table = transaction.table(table_name(kind).c_str(), TableMode::Open);
      if (!table) throw_corrupt(files_, name_of(kind));
      tables_[static_cast<std::size_t>(kind)] = *table;
    }
  });
  written_ = made_;
}

// A mark that is out of order, or material without its last record, means that the file is not what this program wrote.
void StoreState::check_marks() const {
  environment_.read("check the counts", [&](Transaction& transaction) {
    for (const MaterialKind kind : kAllMaterialKinds) {
      if (position_[kind] > made_[kind] || burnt_[kind] > position_[kind]) throw_corrupt(files_, "counts of " + table_name(kind));
      if (made_[kind] == position_[kind]) continue;
      const auto last = Cursor(transaction, table_of(kind)).at_or_before(index_key(made_[kind] - 1));
      const auto first = last ? index_of(last->key) : std::nullopt;
      if (!first) throw_corrupt(files_, "the last record of " + table_name(kind) + " is missing");
      if (check_record(kind, manifest_.me, *first, last->value).end() != made_[kind])
        throw_corrupt(files_, "counts of " + table_name(kind));
    }
  });
}

void StoreState::put_unit(Transaction& transaction, const MaterialCounts& made, const std::string& coded_manifest) const {
  transaction.put(state_table_, view_of(kMadeKey), view_of(made));
  transaction.put(state_table_, view_of(kManifestKey), view_of(coded_manifest));
}

Delta StoreState::global_key() const {
  check_alive();
  return global_key_;
}

std::uint64_t StoreState::bytes_of(MaterialKind kind) const {
  std::uint64_t bytes = 0;
  environment_.read("measure the records", [&](Transaction& transaction) { bytes = transaction.table_bytes(table_of(kind)); });
  return bytes;
}

void StoreState::check_alive() const {
  if (manifest_.state == SessionState::Dead)
    throw StoreError("session is dead: " + manifest_.dead_reason + "; start a new session in a new store");
}

void StoreState::cut_back(std::uint64_t units, const MaterialCounts& made) {
  check_alive();
  ENSURE(units <= manifest_.units_made && reservations_.empty());
  for (const MaterialKind kind : kAllMaterialKinds) {
    ENSURE(made[kind] <= made_[kind]);
    if (position_[kind] > made[kind])
      throw StoreError("the peer has only the first " + std::to_string(units) + " of the " + std::to_string(manifest_.units_made) +
                       " units in " + files_.directory.string() + ", and of the others some " + std::string(name_of(kind)) +
                       " have been served: the session cannot go on, start a new one in a new store");
  }
  Manifest changed = manifest_;
  changed.units_made = units;
  changed.state = SessionState::Open;
  const std::string coded = serialize_manifest(changed);
  environment_.write("cut back the store", coded.size(), [&](Transaction& transaction) { put_unit(transaction, made, coded); });
  made_ = written_ = made;
  manifest_ = std::move(changed);
  drop_unfinished();
}

void StoreState::update_manifest(const std::function<void(Manifest&)>& change) {
  check_alive();
  Manifest changed = manifest_;
  change(changed);
  ENSURE(changed.format_version == manifest_.format_version && changed.session_id == manifest_.session_id &&
         changed.me == manifest_.me && changed.units_made == manifest_.units_made && changed.state != SessionState::Dead);
  const std::string coded = serialize_manifest(changed);
  environment_.write("write the manifest", coded.size(),
                     [&](Transaction& transaction) { transaction.put(state_table_, view_of(kManifestKey), view_of(coded)); });
  manifest_ = std::move(changed);
}

// The state is durable before the key is touched: a crash between the two is mended by the next opening. If the state cannot
// be written, the key goes nevertheless, and a store without its key serves nothing either.
void StoreState::mark_dead(const std::string& reason) {
  if (manifest_.state == SessionState::Dead) return;
  manifest_.state = SessionState::Dead;
  manifest_.dead_reason = printable(reason);
  queue_ = PourQueue();
  wipe_object(global_key_);
  try {
    const std::string coded = serialize_manifest(manifest_);
    environment_.write("mark the session dead", coded.size(),
                       [&](Transaction& transaction) { transaction.put(state_table_, view_of(kManifestKey), view_of(coded)); });
  } catch (const StoreError&) {
    wipe_global_key(files_, manifest_.session_id);
    throw;
  }
  wipe_global_key(files_, manifest_.session_id);
}

std::uint64_t StoreState::reserve(const Range& range, const MaterialCounts& burnt_now) {
  MaterialCounts burnt = burnt_;
  for (const MaterialKind kind : kAllMaterialKinds) burnt[kind] += burnt_now[kind];
  environment_.write("reserve material", 0, [&](Transaction& transaction) {
    transaction.put(state_table_, view_of(kPositionKey), view_of(range.end));
    transaction.put(state_table_, view_of(kBurntKey), view_of(burnt));
  });
  position_ = range.end;
  burnt_ = burnt;
  reservations_.emplace(next_reservation_, range);
  return next_reservation_++;
}

void StoreState::release(std::uint64_t reservation) {
  if (reservations_.erase(reservation) > 0) drop_served();
}

MaterialBatch StoreState::read_objects(MaterialKind kind, std::uint64_t first, std::size_t count) const {
  MaterialBatch batch(kind, manifest_.me, count);
  if (count == 0) return batch;
  environment_.read("read " + table_name(kind), [&](Transaction& transaction) {
    Cursor cursor(transaction, table_of(kind));
    auto entry = cursor.at_or_before(index_key(first));
    for (std::size_t done = 0; done < count; entry = cursor.next()) {
      const std::uint64_t wanted = first + done;
      const auto begin = entry ? index_of(entry->key) : std::nullopt;
      if (!begin || *begin > wanted) throw_corrupt_record(kind, wanted);
      const RecordHeader header = check_record(kind, manifest_.me, *begin, entry->value);
      if (header.end() <= wanted) throw_corrupt_record(kind, wanted);
      const std::size_t part = std::min<std::uint64_t>(count - done, header.end() - wanted);
      decode_objects(header, entry->value, wanted - *begin, part, batch, done);
      // Objects are read once and in order.
      if (wanted + part == header.end()) Environment::release_pages(entry->value);
      done += part;
    }
  });
  return batch;
}

}  // namespace tinyot
