#include "tinyot/store.h"

#include "engine/api/state.h"
#include "engine/connection.h"
#include "engine/growth.h"
#include "storage/retire.h"
#include "storage/store.h"

namespace tinyot {
namespace {

StoreState state_of(storage::SessionState state) {
  switch (state) {
    case storage::SessionState::Open:
      return StoreState::Open;
    case storage::SessionState::Complete:
      return StoreState::Complete;
    case storage::SessionState::Revoked:
      break;
  }
  return StoreState::Revoked;
}

StoreInfo info_of(const storage::Store& store) {
  const storage::Manifest& manifest = store.manifest();
  const MaterialCounts left = store.left();
  return {.session = short_name(engine::session_id_of(manifest)),
          .party = manifest.me,
          .peer = manifest.peer,
          .state = state_of(manifest.state),
          .revoked_because = manifest.revocation_reason,
          .profile = manifest.profile,
          .material = manifest.material,
          .sigma = manifest.sigma,
          .sigma_exact = manifest.sigma_exact,
          .bucket = manifest.bucket,
          .unit = manifest.unit,
          .shard = manifest.shard,
          .shards = manifest.shards,
          .units_made = manifest.units_made,
          .units_outstanding = store.attempts().outstanding,
          .made = store.made(),
          .left = left,
          .ands_left = engine::work_in(left, *engine::begun_parameters(manifest).material).ands,
          .bytes = store.store_bytes()};
}

}  // namespace

std::optional<storage::StoreKey> read_key(const std::optional<std::filesystem::path>& file) {
  if (!file) return std::nullopt;
  return storage::read_store_key(*file);
}

Store::Store(std::filesystem::path directory, std::optional<std::filesystem::path> store_key)
    : directory_(std::move(directory)), store_key_(std::move(store_key)) {}

StoreInfo Store::info() const {
  return info_of(storage::Store::open(
      directory_, {.purpose = storage::Purpose::Inspect, .store_key = read_key(store_key_)}));
}

std::vector<std::string> Store::retire() const {
  return storage::retire_store(directory_, read_key(store_key_)).not_done;
}

}  // namespace tinyot
