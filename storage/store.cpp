#include "storage/store.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/error.h"
#include "base/secret.h"
#include "storage/database.h"
#include "storage/page_check.h"
#include "storage/record.h"

namespace tinyot::storage {
namespace {

constexpr std::uint64_t kMapBytesMin = std::uint64_t{16} << 20;

// Converts filesystem_error to StoreError.
template <class Body>
Store with_file_errors(const StoreFiles& files, const Body& body) {
  try {
    return body();
  } catch (const std::filesystem::filesystem_error& error) {
    throw StoreError("cannot use the store in " + files.directory.string() + ": " +
                     error.code().message());
  }
}

// A quarter more than expected, plus kMapBytesMin: for trees, free pages and unexpected material.
std::uint64_t map_bytes_for(std::uint64_t expected_bytes) {
  const std::uint64_t mebibytes = (expected_bytes >> 20) + 1;
  return ((mebibytes + mebibytes / 4) << 20) + kMapBytesMin;
}

SessionId session_id_in(const Manifest& manifest) {
  return std::bit_cast<SessionId>(manifest.session_id);
}

bool is_planned(const MaterialCursors& cursors, const BatchEntry& entry) {
  return std::ranges::any_of(cursors.planned, [&](const PlannedReservation& planned) {
    return planned.range.start[entry.kind] <= entry.first &&
           entry.end() <= planned.range.end[entry.kind];
  });
}

std::vector<std::uint64_t> slots_of(std::span<const BatchEntry> entries) {
  std::vector<std::uint64_t> slots;
  for (const BatchEntry& entry : entries) slots.push_back(entry.slot);
  return slots;
}

}  // namespace

Store::Store(std::shared_ptr<Database> database, Purpose purpose, bool is_adopted)
    : database_(std::move(database)), purpose_(purpose) {
  if (manifest().state == StoreState::Revoked) {
    if (purpose != Purpose::Inspect) complete_revocation();
    if (purpose != Purpose::Own) database_->lock().share();
    return;
  }
  if (protection() == KeyProtection::Erased) {
    // A revocation was interrupted before the manifest was written; some keys may be left.
    if (purpose != Purpose::Inspect) complete_revocation();
    throw KeysErased("the keys of the store in " + directory().string() +
                     " are erased: nothing in it can be used, start a new session in a new store");
  }
  (void)ScopedSecret<Delta>(database_->keys().global_key());  // checks that it can be read
  check_files(is_adopted);
  recover();
  if (purpose != Purpose::Own) database_->lock().share();
  cut_end_ = made();
  outstanding_ = attempts().risk;
}

Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Store Store::create(const std::filesystem::path& dir, const Manifest& manifest,
                    const Delta& global_key, std::uint64_t expected_bytes,
                    const std::optional<StoreKey>& store_key) {
  ENSURE(manifest.format_version == kStoreFormat && manifest.units_made == 0 &&
         manifest.state != StoreState::Revoked);
  const StoreFiles files(dir);
  return with_file_errors(files, [&] {
    files.prepare_directory();
    auto lock = std::make_unique<StoreLock>(files, Purpose::Make);
    // Checked again under the lock: another process may have made a store meanwhile.
    files.check_vacant();
    // The keys come first: the store is complete once the database has its name.
    KeyTable::create(files.keys, session_id_in(manifest), global_key, store_key);
    Database::make(files, manifest, KeyTable(files.keys, session_id_in(manifest), store_key),
                   map_bytes_for(expected_bytes));
    return Store(std::make_shared<Database>(files, std::move(lock), store_key), Purpose::Make,
                 false);
  });
}

bool Store::exists(const std::filesystem::path& dir) {
  const std::filesystem::path database = StoreFiles(dir).database;
  std::error_code error;
  const bool exists = std::filesystem::exists(database, error);
  if (error) system::fail_on_file("read the attributes of", database, error.value());
  return exists;
}

void Store::check_absent(const std::filesystem::path& dir) { StoreFiles(dir).check_vacant(); }

Store Store::open(const std::filesystem::path& dir, const StoreAccess& access) {
  const StoreFiles files(dir);
  return with_file_errors(files, [&] {
    files.check_present_and_private();
    auto lock = std::make_unique<StoreLock>(files, access.purpose);
    // If another process has it open, that process has checked the pages.
    if (lock->is_alone()) check_pages(files.database);
    return Store(std::make_shared<Database>(files, std::move(lock), access.store_key),
                 access.purpose, access.is_adopted);
  });
}

// A copy may be older than the original, which may have served what the copy still has.
void Store::check_files(bool is_adopted) {
  const StoreFiles& files = database_->files();
  const std::uint64_t database_identity = identity_of(files.database),
                      keys_identity = identity_of(files.keys);
  const MaterialCursors& cursors = database_->cursors();
  if (cursors.database_identity == database_identity && cursors.keys_identity == keys_identity)
    return;
  if (!is_adopted)
    throw StoreIsCopy(
        "the store in " + database_->files().directory.string() +
            " is a copy: the original may have served material that the copy still holds; adopt it "
            "only if the original no longer exists",
        Remedy::AdoptStore);
  database_->change("adopt the store", 0, [&](WriteTransaction& change) {
    change.cursors().database_identity = database_identity;
    change.cursors().keys_identity = keys_identity;
  });
}

// A process that ended during a revocation may have left some keys.
void Store::complete_revocation() {
  if (database_->keys().has_remains()) database_->keys().erase_all();
}

const std::filesystem::path& Store::directory() const { return database_->files().directory; }
const Manifest& Store::manifest() const { return database_->manifest(); }
const MaterialCursors& Store::cursors() const { return database_->cursors(); }
void Store::refresh() { database_->refresh(); }
KeyProtection Store::protection() const { return database_->keys().protection(); }
bool Store::keys_are_gone() const { return !database_->keys().has_remains(); }

Delta Store::global_key() const {
  database_->read("read the global key",
                  [](const ReadTransaction& view) { view.check_not_revoked(); });
  return database_->keys().global_key();
}

MaterialCounts Store::left() const {
  MaterialCounts left;
  if (manifest().state == StoreState::Revoked) return left;
  for (const MaterialKind kind : kAllMaterialKinds)
    left[kind] = cursors().unlocked[kind] - cursors().served[kind];
  return left;
}

std::uint64_t Store::bytes_of(MaterialKind kind) const {
  std::uint64_t bytes = 0;
  database_->read("measure the records", [&](const ReadTransaction& view) {
    for (const BatchEntry& entry : view.entries(kind, 0, ~std::uint64_t{0}))
      bytes += material::bytes_of(kind, view.manifest().me, entry.count);
  });
  return bytes;
}

std::uint64_t Store::store_bytes() const {
  return database_->used_bytes() + database_->keys().bytes();
}
void Store::read(const std::function<void(const ReadTransaction&)>& body) const {
  database_->read("read the store", body);
}
void Store::change(const std::string& operation, std::uint64_t bytes,
                   const std::function<void(WriteTransaction&)>& body) {
  database_->change(operation, bytes, body);
}

void Store::update_manifest(const std::function<void(Manifest&)>& change_manifest) {
  database_->change("write the manifest", 0, [&](WriteTransaction& change) {
    change.check_not_revoked();
    const Manifest before = change.manifest();
    Manifest& after = change.manifest();
    change_manifest(after);
    ENSURE(after.format_version == before.format_version && after.session_id == before.session_id &&
           after.me == before.me && after.units_made == before.units_made &&
           after.state != StoreState::Revoked);
  });
}

std::shared_ptr<const RevocationFlag> Store::revocation() const { return database_->revocation(); }
void Store::announce_revocation() const noexcept { database_->revocation()->set(); }

void Store::require_not_revoked() {
  refresh();
  database_->read("check the session",
                  [](const ReadTransaction& view) { view.check_not_revoked(); });
}

void Store::erase_keys() const {
  announce_revocation();
  KeyTable::erase_file(database_->files().keys);
}

// The other users in this process first, so that none of them outputs anything any more. Then the
// keys: a crash before the reason is written leaves a store without keys, which is rejected at
// opening.
void Store::revoke(const std::string& reason) {
  announce_revocation();
  if (manifest().state == StoreState::Revoked) return complete_revocation();
  erase_keys();
  forget_poured();
  try {
    database_->change("mark the session as revoked", 0, [&](WriteTransaction& change) {
      if (change.manifest().state == StoreState::Revoked) return;
      change.manifest().state = StoreState::Revoked;
      change.manifest().revocation_reason = printable(reason);
    });
  } catch (const StoreError&) {
    database_->keys().erase_all();
    throw;
  }
  database_->keys().erase_all();
}

// Allowed for Purpose::Make even while other processes draw: only an earlier process of the same
// purpose, which has ended, can have left an unfinished unit.
void Store::drop_unfinished() {
  std::vector<BatchEntry> unfinished;
  database_->read("look for an unfinished unit", [&](const ReadTransaction& view) {
    for (const MaterialKind kind : kAllMaterialKinds)
      for (const BatchEntry& entry :
           view.entries(kind, view.cursors().made[kind], ~std::uint64_t{0}))
        unfinished.push_back(entry);
  });
  if (unfinished.empty()) return;
  // Keys first: a batch whose key is erased stays in the catalogue, so an interrupted recovery
  // finds it again.
  database_->keys().erase(slots_of(unfinished));
  database_->change("drop an unfinished unit", unfinished.size() * kDropBytes,
                    [&](WriteTransaction& change) {
                      for (const BatchEntry& entry : unfinished) change.drop(entry);
                    });
}

void Store::recover() {
  if (purpose_ == Purpose::Inspect) return;
  if (purpose_ == Purpose::Make || database_->lock().is_alone()) drop_unfinished();
  if (!database_->lock().is_alone()) return;
  std::vector<BatchEntry> served;
  database_->read("look for served material", [&](const ReadTransaction& view) {
    for (const MaterialKind kind : kAllMaterialKinds) {
      for (const BatchEntry& entry : view.entries(kind, 0, view.cursors().served[kind]))
        if (!is_planned(view.cursors(), entry)) served.push_back(entry);
      const auto last = view.last_entry(kind);
      const std::uint64_t made = view.cursors().made[kind];
      if (made > view.cursors().served[kind] && (!last || last->end() != made))
        throw_corrupt_batch("the last of " + std::string(name_of(kind)) + " (missing)");
    }
  });
  const MaterialCursors& cursors = database_->cursors();
  if (!served.empty() || !cursors.gaps.empty() || !cursors.slots_to_erase.empty()) {
    // Keys first, as above.
    std::vector<std::uint64_t> slots = slots_of(served);
    slots.insert(slots.end(), cursors.slots_to_erase.begin(), cursors.slots_to_erase.end());
    database_->keys().erase(slots);
    database_->change("drop served material", served.size() * kDropBytes,
                      [&](WriteTransaction& change) {
                        for (const BatchEntry& entry : served) change.drop(entry);
                        change.cursors().gaps.clear();
                        change.cursors().slots_to_erase.clear();
                      });
  }
}

}  // namespace tinyot::storage
