#include "storage/store.h"

#include <bit>
#include <cstring>
#include <utility>

#include "base/error.h"
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

}  // namespace

Store::Store(std::shared_ptr<StoreState> state) : state_(std::move(state)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Store Store::create(const std::filesystem::path& dir, const Manifest& manifest,
                    const Delta& global_key, std::uint64_t expected_bytes,
                    const std::optional<StoreKey>& store_key) {
  ENSURE(manifest.format_version == kStoreFormat && manifest.units_made == 0 &&
         manifest.state != SessionState::Revoked);
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
    return Store(
        std::make_shared<StoreState>(files, std::move(lock), Purpose::Make, store_key, false));
  });
}

bool Store::exists(const std::filesystem::path& dir) {
  std::error_code error;
  return std::filesystem::exists(StoreFiles(dir).database, error);
}

void Store::check_absent(const std::filesystem::path& dir) { StoreFiles(dir).check_vacant(); }

Store Store::open(const std::filesystem::path& dir, const StoreAccess& access) {
  const StoreFiles files(dir);
  return with_file_errors(files, [&] {
    files.check_present_and_private();
    auto lock = std::make_unique<StoreLock>(files, access.purpose);
    // If another process has it open, that one has checked the pages.
    if (lock->is_alone()) check_pages(files.database);
    return Store(std::make_shared<StoreState>(files, std::move(lock), access.purpose,
                                              access.store_key, access.is_adopted));
  });
}

const std::filesystem::path& Store::directory() const {
  return state_->database().files().directory;
}
const Manifest& Store::manifest() const { return state_->database().manifest(); }
const Marks& Store::marks() const { return state_->database().marks(); }
void Store::refresh() { state_->database().refresh(); }
KeyProtection Store::protection() const { return state_->database().keys().protection(); }
bool Store::keys_are_gone() const { return !state_->database().keys().has_remains(); }
Delta Store::global_key() const { return state_->global_key(); }

MaterialCounts Store::left() const {
  MaterialCounts left;
  if (manifest().state == SessionState::Revoked) return left;
  for (const MaterialKind kind : kAllMaterialKinds)
    left[kind] = marks().unlocked[kind] - marks().position[kind];
  return left;
}

std::uint64_t Store::bytes_of(MaterialKind kind) const {
  std::uint64_t bytes = 0;
  state_->database().read("measure the records", [&](const View& view) {
    for (const BatchEntry& entry : view.entries(kind, 0, ~std::uint64_t{0}))
      bytes += record_bytes(kind, view.manifest().me, entry.count);
  });
  return bytes;
}

std::uint64_t Store::store_bytes() const {
  return state_->database().used_bytes() + state_->database().keys().bytes();
}
void Store::look(const std::function<void(const View&)>& body) const {
  state_->database().read("look at the store", body);
}
void Store::change(const std::string& operation, std::uint64_t bytes,
                   const std::function<void(Change&)>& body) {
  state_->database().change(operation, bytes, body);
}
Risk Store::outstanding() const { return state_->outstanding(); }
void Store::begin_unit(const BegunUnit& unit) { state_->begin_unit(unit); }
void Store::withdraw_unit(std::uint64_t number) { state_->withdraw_unit(number); }
AttemptTotals Store::attempts() const { return state_->attempts(); }
void Store::pour(MaterialBatch batch) { state_->pour(std::move(batch)); }
void Store::keep(MaterialBatch bits) { state_->keep(std::move(bits)); }
std::optional<ReferenceBits> Store::kept() const { return state_->kept(); }
void Store::finish_unit() { state_->finish_unit(); }
void Store::cut_back(std::uint64_t units) { state_->cut_back(units); }
Halves Store::halves(std::uint64_t first_unit, std::uint64_t end_unit) const {
  return state_->halves(first_unit, end_unit);
}
void Store::unlock(std::uint64_t first_unit, std::uint64_t end_unit, const Halves& peers) {
  state_->unlock(first_unit, end_unit, peers);
}
void Store::update_manifest(const std::function<void(Manifest&)>& change) {
  state_->update_manifest(change);
}
void Store::erase_keys() const { KeyTable::erase_file(state_->files().keys); }
void Store::revoke(const std::string& reason) { state_->revoke(reason); }
Grant Store::grant(const ReservationRequest& request) { return state_->grant(request); }
Grant Store::take(const Grant& peers, const MaterialCounts& confirmed) {
  return state_->take(peers, confirmed);
}

Reservation Store::hold(const Grant& grant) {
  ENSURE(grant.plan == 0);
  return Reservation(state_, grant.range, grant.burnt);
}

Reservation Store::claim(std::uint64_t plan) {
  return Reservation(state_, state_->claim(plan), {});
}

Reservation Store::reserve(const MaterialCounts& at_least, const MaterialCounts& counts) {
  return hold(grant({.counts = counts, .at_least = at_least}));
}

}  // namespace tinyot::storage
