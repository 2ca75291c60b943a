// Runs on stored material.
#include <algorithm>

#include "base/error.h"
#include "base/secret.h"
#include "engine/connection.h"
#include "engine/ledger.h"
#include "engine/peer_identity.h"
#include "engine/run_plan.h"
#include "engine/synchronise.h"

namespace tinyot::engine {
namespace {

MaterialForm form_of(const storage::Manifest& manifest) {
  for (const MaterialForm form : {MaterialForm::Pairs, MaterialForm::Triples})
    if (manifest.material == name_of(form)) return form;
  throw StoreError("this store has material of an unknown kind: " + manifest.material);
}

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

// A party's stores and its end of the connection, up to where both parties know each other.
class StoredRun {
 public:
  enum class Purpose { Run, Reserve };

  StoredRun(const RunPlan& plan, Purpose purpose)
      : plan_(plan), purpose_(purpose), request_(plan.request), stores_(open_stores(request_)),
        form_(form_of(manifest())), needed_(plan.material(form_, plan.ands())) {
    for (const storage::Store& store : stores_) {
      if (store.manifest().me != request_.party)
        throw StoreError("the store in " + store.directory().string() + " is party " +
                         letter(store.manifest().me) + "'s, not " + letter(request_.party));
      check_peer(store.manifest(), request_.endpoint, "the store in " + store.directory().string());
    }
    global_key_ = stores_.front().global_key();
    if (!request_.reservation) check_enough(stores_, needed_);
  }
  ~StoredRun() { wipe_object(global_key_); }

  // Runs `work` in a session of both stores.
  template <class Work>
  void with_peer(std::vector<net::Parameter> parameters, const Work& work) {
    const auto channel = Connector(request_.endpoint).open();
    crypto::Rng rng = crypto::Rng::from_system();
    const storage::Manifest& manifest = this->manifest();
    for (net::Parameter& parameter :
         std::vector<net::Parameter>{{"profile", manifest.profile},
                                     {"material", manifest.material},
                                     {"shards", shards_text(stores_)},
                                     {"reservation", reservation_text()},
                                     {"kappa", std::to_string(manifest.kappa)},
                                     {"sigma", std::to_string(manifest.sigma)}})
      parameters.push_back(std::move(parameter));
    const checks::SessionIds ids = checks::establish_session(
        *channel, rng, request_.party, std::move(parameters), session_id_of(manifest));
    checks::Session session(request_.party, ids, global_key_, *channel, std::move(rng), log_);
    within_session(stores_, *channel, [&] {
      work(session);
      channel->flush();
    });
  }

  RunReport evaluate(const online::InputValues& inputs);
  storage::PlannedReservation reserve();

 private:
  std::string reservation_text() const {
    if (purpose_ == Purpose::Reserve) return "to be made";
    return request_.reservation ? std::to_string(*request_.reservation) : "none";
  }
  storage::ReservationChain take_material(checks::Session& session);
  const storage::Manifest& manifest() const { return stores_.front().manifest(); }

  const RunPlan& plan_;
  Purpose purpose_;
  const RunRequest& request_;
  std::vector<storage::Store> stores_;  // one, or shards of one session
  MaterialForm form_;
  MaterialCounts needed_;
  Delta global_key_{};
  net::PhaseLog log_;
};

storage::ReservationChain StoredRun::take_material(checks::Session& session) {
  const net::PhaseLog::Scope phase(log_, session.channel(), "reserve", plan_.ands());
  if (!request_.reservation) return reserve_with_peer(session, stores_, needed_);
  synchronise(session, stores_.front(), SynchroniseFor::Running);
  std::vector<storage::Reservation> claimed;
  claimed.push_back(claim_with_peer(session, stores_.front(), *request_.reservation, needed_));
  return storage::ReservationChain(std::move(claimed));
}

RunReport StoredRun::evaluate(const online::InputValues& inputs) {
  circuit::CircuitRounds rounds = plan_.rounds();
  RunReport evaluation;
  with_peer(plan_.parameters(), [&](checks::Session& session) {
    storage::ReservationChain material = take_material(session);
    if (request_.ledger)
      for (const storage::Reservation& link : material.links())
        enter_into_ledger(*request_.ledger, manifest(), link.batches());
    evaluation.burnt = material.burnt();
    const auto start = std::chrono::steady_clock::now();
    evaluation.result = online::run_circuit(session, material, needed_, form_, rounds, inputs);
    evaluation.wall_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  });
  evaluation.security = manifest();
  for (const storage::Store& store : stores_) {
    evaluation.store_bytes += store.store_bytes();
    evaluation.attempts += store.attempts();
  }
  evaluation.phases = log_.phases();
  return evaluation;
}

storage::PlannedReservation StoredRun::reserve() {
  storage::Grant granted;
  with_peer(plan_.parameters(), [&](checks::Session& session) {
    const net::PhaseLog::Scope phase(log_, session.channel(), "reserve", plan_.ands());
    const StoreStatuses statuses = synchronise(session, stores_.front(), SynchroniseFor::Running);
    granted = grant_with_peer(session, stores_.front(), statuses, needed_, true);
  });
  return {granted.plan, granted.range};
}

}  // namespace

RunReport run_stored(const RunPlan& plan, const online::InputValues& inputs) {
  return StoredRun(plan, StoredRun::Purpose::Run).evaluate(inputs);
}

storage::PlannedReservation reserve(const RunRequest& request, const LoadedCircuit& circuit) {
  const RunPlan plan(request, circuit);
  return StoredRun(plan, StoredRun::Purpose::Reserve).reserve();
}

}  // namespace tinyot::engine
