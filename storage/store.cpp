#include "storage/store.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "storage/store_files.h"
#include "storage/store_state.h"

namespace tinyot {
namespace {

constexpr std::uint64_t kMapBytesMin = std::uint64_t{16} << 20;

// What the standard library says about a file is an error of the store.
template <class Body>
Store with_file_errors(const StoreFiles& files, const Body& body) {
  try {
    return body();
  } catch (const std::filesystem::filesystem_error& error) {
    throw StoreError("cannot use the store in " + files.directory.string() + ": " + error.code().message());
  }
}

// Room for the trees, for free pages that wait for reuse, and for what was not expected; rounded to whole MiB.
std::uint64_t map_bytes_for(std::uint64_t expected_bytes) {
  const std::uint64_t mebibytes = (expected_bytes >> 20) + 1;
  return ((mebibytes + mebibytes / 4) << 20) + kMapBytesMin;
}

}  // namespace

Store::Store(std::shared_ptr<StoreState> state) : state_(std::move(state)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Store Store::create(const std::filesystem::path& dir, const Manifest& manifest, Delta global_key, std::uint64_t expected_bytes) {
  ENSURE(manifest.format_version == kStoreFormat && manifest.units_made == 0 && manifest.state != SessionState::Dead);
  const StoreFiles files(dir);
  return with_file_errors(files, [&] {
    files.prepare_directory();
    auto lock = std::make_unique<StoreLock>(files);
    // Another process may have been faster; under the lock the answer holds.
    files.check_vacant();
    // The key comes first: once the database has its name, the store is whole.
    write_global_key(files, manifest.session_id, global_key);
    StoreState::make_database(files, manifest, map_bytes_for(expected_bytes));
    return Store(std::make_shared<StoreState>(files, std::move(lock)));
  });
}

void Store::check_absent(const std::filesystem::path& dir) { StoreFiles(dir).check_vacant(); }

Store Store::open(const std::filesystem::path& dir) {
  const StoreFiles files(dir);
  return with_file_errors(files, [&] {
    files.check_present_and_private();
    return Store(std::make_shared<StoreState>(files, std::make_unique<StoreLock>(files)));
  });
}

const Manifest& Store::manifest() const { return state_->manifest(); }
Delta Store::global_key() const { return state_->global_key(); }
MaterialCounts Store::made() const { return state_->made(); }
MaterialCounts Store::position() const { return state_->position(); }
MaterialCounts Store::burnt() const { return state_->burnt(); }

MaterialCounts Store::left() const {
  MaterialCounts left;
  for (const MaterialKind kind : kAllMaterialKinds) left[kind] = state_->made()[kind] - state_->position()[kind];
  return left;
}

std::uint64_t Store::bytes_of(MaterialKind kind) const { return state_->bytes_of(kind); }
std::uint64_t Store::store_bytes() const { return state_->store_bytes(); }
void Store::pour(MaterialBatch batch) { state_->pour(std::move(batch)); }
void Store::finish_unit() { state_->finish_unit(); }
void Store::cut_back(std::uint64_t units, const MaterialCounts& made) { state_->cut_back(units, made); }
void Store::update_manifest(const std::function<void(Manifest&)>& change) { state_->update_manifest(change); }
void Store::mark_dead(const std::string& reason) { state_->mark_dead(reason); }

Reservation Store::reserve(const MaterialCounts& start, const MaterialCounts& counts) {
  state_->check_alive();
  Range range{start, start};
  MaterialCounts burnt;
  std::string short_kinds;
  for (const MaterialKind kind : kAllMaterialKinds) {
    ENSURE(start[kind] >= state_->position()[kind]);
    const std::uint64_t made = state_->made()[kind], has = made - std::min(made, start[kind]);
    if (start[kind] > made || has < counts[kind])
      short_kinds += (short_kinds.empty() ? "" : ", ") + std::string(name_of(kind)) + " has " + std::to_string(has) +
                     ", needs " + std::to_string(counts[kind]) +
                     (start[kind] > made ? " from index " + std::to_string(start[kind]) + " on" : "");
    burnt[kind] = start[kind] - state_->position()[kind];
    range.end[kind] += counts[kind];
  }
  if (!short_kinds.empty())
    throw OutOfMaterial("the store is out of material: " + short_kinds + "; make more with tinyot preprocess --resume");
  return Reservation(state_, state_->reserve(range, burnt), range.start, counts, burnt);
}

}  // namespace tinyot
