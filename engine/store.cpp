#include "tinyot/store.h"

#include "base/error.h"
#include "base/hex.h"
#include "engine/connection.h"
#include "engine/peer_identity.h"
#include "engine/store_info.h"
#include "engine/synchronise.h"
#include "storage/merge.h"
#include "storage/retire.h"
#include "storage/verify.h"

namespace tinyot {
namespace engine {
namespace {

PeersHalves compare_with_peer(storage::Store& store, const Endpoint& peer,
                              const storage::Verification& verification) {
  const storage::Manifest& manifest = store.manifest();
  check_peer(manifest, peer, "the store in " + store.directory().string());
  const auto channel = Connector(peer).open();
  crypto::Rng rng = crypto::Rng::from_system();
  const checks::SessionIds ids = checks::establish_session(
      *channel, rng, manifest.me,
      {{"command", "store verify"}, {"shard", std::to_string(manifest.shard)}},
      session_id_of(manifest));
  net::PhaseLog log;
  checks::Session session(manifest.me, ids, store.global_key(), *channel, std::move(rng), log);
  PeersHalves halves;
  within_session(std::span(&store, 1), *channel, [&] {
    synchronise(session, store, SynchroniseFor::Running);
    halves = compare_halves(session, store, verification.good);
    channel->flush();
  });
  return halves;
}

}  // namespace
}  // namespace engine

bool store_exists(const std::filesystem::path& directory) {
  return storage::Store::exists(directory);
}

StoreInfo store_info(const std::filesystem::path& directory, const std::optional<StoreKey>& key) {
  return engine::info_of(
      storage::Store::open(directory, {.purpose = storage::Purpose::Inspect, .store_key = key}));
}

StoreCheck verify_store(const std::filesystem::path& directory, const std::optional<StoreKey>& key,
                        const std::optional<Endpoint>& peer, const BytesObserver& observer) {
  storage::Store store = storage::Store::open(
      directory,
      {.purpose = peer ? storage::Purpose::Use : storage::Purpose::Inspect, .store_key = key});
  if (store.manifest().state == StoreState::Revoked)
    throw StoreError(
        "the session is revoked: " + store.manifest().revocation_reason + "; " +
        (store.keys_are_gone()
             ? "its keys are overwritten, so there is nothing to verify"
             : "its keys are no longer used, but not all of them are overwritten yet: retire "
               "the store to complete this"));
  const std::uint64_t total = store.store_bytes();
  storage::Verification verification = storage::verify(store, [&](std::uint64_t bytes) {
    if (observer) observer(bytes, total);
  });
  StoreCheck check{.session = hex_of(engine::session_id_of(store.manifest())),
                   .batches = verification.batches,
                   .bytes = verification.bytes,
                   .corrupt = std::move(verification.corrupt),
                   .peers_halves = {}};
  if (peer) check.peers_halves = engine::compare_with_peer(store, *peer, verification);
  return check;
}

RetiredStore retire_store(const std::filesystem::path& directory,
                          const std::optional<StoreKey>& key) {
  return storage::retire_store(directory, key);
}

StoreState adopt_store(const std::filesystem::path& directory, const std::optional<StoreKey>& key) {
  return storage::Store::open(
             directory, {.purpose = storage::Purpose::Own, .store_key = key, .is_adopted = true})
      .manifest()
      .state;
}

MergedStore merge_stores(const std::filesystem::path& out,
                         std::span<const std::filesystem::path> shards,
                         const std::optional<StoreKey>& key, const BytesObserver& observer) {
  return storage::merge_shards(out, shards, key, observer);
}

}  // namespace tinyot
