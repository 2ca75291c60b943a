// `tinyot run` on stored material.
#include "base/error.h"
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

}  // namespace

Evaluation evaluate_stored(const EvaluationPlan& plan) {
  const RunJob& job = plan.job;
  Store store = Store::open(job.store);
  const Manifest& manifest = store.manifest();
  if (manifest.me != job.party)
    throw StoreError("the store in " + job.store.string() + " is party " + letter(manifest.me) + "'s; run with --party " + letter(manifest.me));
  check_peer(manifest, job.endpoint, job.store);
  const MaterialForm form = form_of(manifest);
  const MaterialCounts needed = plan.material(form, plan.ands());
  const Delta global_key = store.global_key();
  check_enough(store, needed);
  CircuitRounds rounds = plan.rounds();

  const auto channel = MeetingPlace(job.endpoint).open();
  Rng rng = Rng::from_system();
  std::vector<Parameter> parameters = plan.parameters();
  for (Parameter& parameter : std::vector<Parameter>{{"profile", manifest.profile},
                                                     {"material", manifest.material},
                                                     {"kappa", std::to_string(manifest.kappa)},
                                                     {"sigma", std::to_string(manifest.sigma)}})
    parameters.push_back(std::move(parameter));
  const SessionIds ids = establish_session(*channel, rng, job.party, std::move(parameters), session_id_of(manifest));
  PhaseLog log;
  Session session(job.party, ids, global_key, *channel, std::move(rng), log);
  Evaluation evaluation;
  within_session(store, *channel, [&] {
    Reservation material = [&] {
      const PhaseLog::Scope phase(log, *channel, "reserve", plan.ands());
      return reserve_together(session, store, needed);
    }();
    const auto start = std::chrono::steady_clock::now();
    evaluation.result = run_circuit(session, material, needed, form, rounds, plan.inputs);
    evaluation.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    channel->flush();
  });
  evaluation.security = manifest;
  evaluation.store_bytes = store.store_bytes();
  evaluation.phases = log.phases();
  return evaluation;
}

}  // namespace tinyot
