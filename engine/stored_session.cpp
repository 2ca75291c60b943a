#include "engine/stored_session.h"

#include <algorithm>

#include "base/error.h"
#include "base/secret.h"
#include "engine/connection.h"
#include "engine/peer_identity.h"
#include "engine/plan.h"
#include "engine/store_info.h"
#include "engine/synchronise.h"

namespace tinyot::engine {
namespace {

// In the order of their shards. Fails: StoreError if they are not different shards of one session.
std::vector<storage::Store> open_stores(const RunRequest& request) {
  std::vector<storage::Store> stores;
  for (const auto& directory : request.stores)
    stores.push_back(storage::Store::open(directory, {.store_key = request.store_key}));
  std::ranges::sort(stores, {}, [](const storage::Store& store) { return store.manifest().shard; });
  for (std::size_t i = 1; i < stores.size(); ++i) {
    const storage::Manifest &before = stores[i - 1].manifest(), &manifest = stores[i].manifest();
    if (manifest.session_id != before.session_id || manifest.me != before.me ||
        manifest.shard == before.shard)
      throw StoreError("the stores in " + stores[i - 1].directory().string() + " and " +
                       stores[i].directory().string() + " are not two shards of one session");
  }
  return stores;
}

// "2,3/8"
std::string shards_text(std::span<const storage::Store> stores) {
  std::string text;
  for (const storage::Store& store : stores)
    text += (text.empty() ? "" : ",") + std::to_string(store.manifest().shard);
  return text + "/" + std::to_string(stores.front().manifest().shards);
}

}  // namespace

StoredSession::StoredSession(const RunRequest& request)
    : request_(request), stores_(open_stores(request_)),
      form_(*begun_parameters(manifest()).material) {
  for (const storage::Store& store : stores_) {
    if (store.manifest().me != request_.party)
      throw StoreError("the store in " + store.directory().string() + " is party " +
                       letter(store.manifest().me) + "'s, not " + letter(request_.party) + "'s");
    check_peer(store.manifest(), request_.endpoint, "the store in " + store.directory().string());
  }
  global_key_ = stores_.front().global_key();
}

StoredSession::~StoredSession() { wipe_object(global_key_); }

void StoredSession::require_material(const MaterialCounts& needed) {
  require_not_revoked();
  check_enough(stores_, needed);
}

MaterialCounts StoredSession::spent() const {
  MaterialCounts spent;
  for (const storage::Store& store : stores_) spent += store.granted();
  return spent;
}

bool StoredSession::has_material(const MaterialCounts& needed) const {
  try {
    check_enough(stores_, needed);
    return true;
  } catch (const OutOfMaterial&) {
    return false;
  }
}

const Security& StoredSession::security(const storage::AttemptTotals& attempts) {
  if (!security_ || security_->attempts != attempts || security_->manifest != manifest())
    security_ = {manifest(), attempts, security_reached(manifest(), attempts)};
  return security_->security;
}

void StoredSession::require_not_revoked() {
  for (storage::Store& store : stores_) store.require_not_revoked();
}

void StoredSession::connect(std::vector<net::Parameter> parameters, const std::string& reservation,
                            const std::stop_token& cancel) {
  cancel_ = cancel;
  const storage::Manifest& manifest = this->manifest();
  for (net::Parameter& parameter :
       std::vector<net::Parameter>{{"profile", manifest.profile},
                                   {"material", manifest.material},
                                   {"shards", shards_text(stores_)},
                                   {"reservation", reservation},
                                   {"kappa", std::to_string(manifest.kappa)},
                                   {"sigma", std::to_string(manifest.sigma)}})
    parameters.push_back(std::move(parameter));
  net::require_sendable(parameters);
  channel_ = Connector(request_.endpoint, cancel_).open();
  const CancelsWaits guard(cancel_, *channel_);
  crypto::Rng rng = crypto::Rng::from_system();
  const checks::SessionIds ids = unless_cancelled(cancel_, [&] {
    return checks::establish_session(*channel_, rng, request_.party, std::move(parameters),
                                     session_id_of(manifest), &agreement_);
  });
  link_.rtt = agreement_.round_trip;
  Revocations revocations;
  for (const storage::Store& store : stores_) revocations.push_back(store.revocation());
  session_.emplace(request_.party, ids, global_key_, *channel_, std::move(rng), log_,
                   std::move(revocations));
}

void StoredSession::with_peer(const std::function<void(checks::Session&)>& work) {
  const CancelsWaits guard(cancel_, *channel_);
  unless_cancelled(cancel_, [&] {
    within_session(stores_, *channel_, [&] {
      work(*session_);
      channel_->flush();
    });
  });
}

}  // namespace tinyot::engine
