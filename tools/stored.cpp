// `tinyot run` on stored material.
#include "base/error.h"
#include "base/secret.h"
#include "tools/connection.h"
#include "tools/evaluation.h"
#include "tools/peer_identity.h"
#include "tools/store_agreement.h"

namespace tinyot {
namespace {

MaterialForm form_of(const Manifest& manifest) {
  for (const MaterialForm form : {MaterialForm::Pairs, MaterialForm::Triples})
    if (manifest.material == name_of(form)) return form;
  throw StoreError("this store has material of an unknown kind: " + manifest.material);
}

// A party's store and its end of the connection, up to where both parties know each other.
class StoredRun {
 public:
  explicit StoredRun(const EvaluationPlan& plan)
      : plan_(plan), job_(plan.job), store_(Store::open(job_.store, {.store_key = job_.store_key})), form_(form_of(store_.manifest())),
        needed_(plan.material(form_, plan.ands())) {
    if (store_.manifest().me != job_.party)
      throw StoreError("the store in " + job_.store.string() + " is party " + letter(store_.manifest().me) + "'s; run with --party " +
                       letter(store_.manifest().me));
    check_peer(store_.manifest(), job_.endpoint, job_.store);
    global_key_ = store_.global_key();
    if (!job_.reservation) check_enough(store_, needed_);
  }
  ~StoredRun() { wipe_object(global_key_); }

  // Runs `work` in a session of both stores.
  template <class Work>
  void with_peer(std::vector<Parameter> parameters, const Work& work) {
    const auto channel = MeetingPlace(job_.endpoint).open();
    Rng rng = Rng::from_system();
    const Manifest& manifest = store_.manifest();
    for (Parameter& parameter : std::vector<Parameter>{{"profile", manifest.profile},
                                                       {"material", manifest.material},
                                                       {"shard", std::to_string(manifest.shard)},
                                                       {"kappa", std::to_string(manifest.kappa)},
                                                       {"sigma", std::to_string(manifest.sigma)}})
      parameters.push_back(std::move(parameter));
    const SessionIds ids = establish_session(*channel, rng, job_.party, std::move(parameters), session_id_of(manifest));
    Session session(job_.party, ids, global_key_, *channel, std::move(rng), log_);
    within_session(store_, *channel, [&] {
      work(session);
      channel->flush();
    });
  }

  Evaluation evaluate();
  PlannedReservation reserve_only();

 private:
  Reservation take_material(Session& session);

  const EvaluationPlan& plan_;
  const RunJob& job_;
  Store store_;
  MaterialForm form_;
  MaterialCounts needed_;
  Delta global_key_{};
  PhaseLog log_;
};

Reservation StoredRun::take_material(Session& session) {
  const PhaseLog::Scope phase(log_, session.channel(), "reserve", plan_.ands());
  if (!job_.reservation) return reserve_together(session, store_, needed_);
  meet(session, store_, Meeting::OfRuns);
  return claim_together(session, store_, *job_.reservation, needed_);
}

Evaluation StoredRun::evaluate() {
  CircuitRounds rounds = plan_.rounds();
  Evaluation evaluation;
  with_peer(plan_.parameters(), [&](Session& session) {
    Reservation material = take_material(session);
    evaluation.burnt = material.burnt();
    const auto start = std::chrono::steady_clock::now();
    evaluation.result = run_circuit(session, material, needed_, form_, rounds, plan_.inputs);
    evaluation.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  });
  evaluation.security = store_.manifest();
  evaluation.store_bytes = store_.store_bytes();
  evaluation.phases = log_.phases();
  return evaluation;
}

PlannedReservation StoredRun::reserve_only() {
  Allotment allotment;
  with_peer(plan_.parameters(), [&](Session& session) {
    const PhaseLog::Scope phase(log_, session.channel(), "reserve", plan_.ands());
    const Standing peers = meet(session, store_, Meeting::OfRuns);
    allotment = allot_together(session, store_, peers, needed_, true);
  });
  return {allotment.plan, allotment.range};
}

}  // namespace

Evaluation evaluate_stored(const EvaluationPlan& plan) { return StoredRun(plan).evaluate(); }

PlannedReservation reserve_stored(const EvaluationPlan& plan) { return StoredRun(plan).reserve_only(); }

}  // namespace tinyot
