#include "service/scheduler.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "engine/reservation_cache.h"
#include "engine/run_estimate.h"
#include "service/configuration.h"
#include "service/event_log.h"
#include "service/foreign_text.h"
#include "service/offer.h"

namespace tinyot::service {
namespace {

// For the peer's answer to `prepare`.
constexpr auto kPreparationAnswerTime = std::chrono::seconds(30);

constexpr const char* kFailedHere = "it has failed at the other party, whose log has the reason";
constexpr const char* kHasEnded =
    "the job has ended at the other party: submit it under another id";

// Fails: NetworkError if A may not name this connection.
void check_connection(const char* message, std::uint32_t worker, std::uint64_t group,
                      std::size_t workers) {
  if (worker >= workers)
    throw NetworkError("`" + std::string(message) + "` names worker " + std::to_string(worker) +
                       "; " + std::to_string(workers) + " are configured (evaluations)");
  if (group == 0 || (group & StreamPort::kLinkBit) != 0)
    throw NetworkError("`" + std::string(message) + "` names an invalid group");
}

}  // namespace

Scheduler::Scheduler(const PeerSettings& settings, Shared& shared, Policy policy, Link& link,
                     Stock& stock, Evaluations& evaluations)
    : settings_(settings), shared_(shared), link_(link), stock_(stock), evaluations_(evaluations),
      policy_(std::move(policy)), offers_(shared.config.jobs_max()), prepared_(settings.prepared),
      errors_("scheduling failed", settings.name) {
  prepared_.forget_peers();
  for (const PreparedCircuit& circuit : settings_.prepared)
    shared_.metrics.add_prepared(settings_.name, circuit);
}

void Scheduler::set_policy(Policy policy) {
  const Lock lock(mutex_);
  policy.take_counts_of(policy_);
  policy_ = std::move(policy);
}

std::optional<std::string> Scheduler::refusal(const std::string& job, const wire::Terms& terms) {
  const Lock lock(mutex_);
  auto reason = policy_.refusal(terms, Clock::now());
  if (reason) log_refusal(job, *reason, submission_lines_);
  return reason;
}

void Scheduler::note_unkept(const std::string& job, const std::string& reason) {
  const Lock lock(mutex_);
  log_refusal(job, reason, submission_lines_);
}

void Scheduler::submit(const SharedJob& job) {
  const Lock lock(mutex_);
  if (!is_linked_) return;  // it is offered once connected
  to_offer_.push_back(job);
  offer_waiting();
}

void Scheduler::cancel(const SharedJob& job) {
  const Lock lock(mutex_);
  if (!shared_.jobs.cancel(*job)) return;
  shared_.metrics.evaluation(settings_.name, JobOutcome::Cancelled);
  forget(job);
  evaluations_.cancel(*job);
  withdraw(*job);
}

void Scheduler::give_up(const SharedJob& job) {
  const Lock lock(mutex_);
  // Since it was found late, it may have begun: its outputs may be on their way.
  if (const JobState state = shared_.jobs.status(*job).state;
      state != JobState::WaitingForPeer && state != JobState::Queued)
    return;
  const bool is_queued = leave_queue(*job);
  std::string why = is_queued ? "no material or no free connection for the job"
                              : "the peer has not submitted the job";
  why += " within " + std::to_string(shared_.config.job_timeout_s()) + " s";
  if (const Link::Status link = link_.status(); !link.is_up)
    why += "; " + settings_.name + " is not connected" +
           (link.last_error.empty() ? "" : ": " + link.last_error);
  if (const std::string shortage = stock_.disk_shortage(); !shortage.empty())
    why += "; " + shortage;
  fail(job, {is_queued ? ErrorClass::Store : ErrorClass::Network, why});
  withdraw(*job);
}

void Scheduler::give_up_restored(const SharedJob& job, JobError error) {
  const Lock lock(mutex_);
  fail(job, std::move(error));
}

void Scheduler::queue(const SharedKeyWork& work, const KeyPlaces& loaded) {
  const Lock lock(mutex_);
  if (!is_linked_ || is_stopping_) return;
  key_queue_.push(work->asker(), {work, loaded});
  begin_what_can();
}

void Scheduler::cancel(const SharedKeyWork& work) {
  const Lock lock(mutex_);
  key_queue_.erase_if([&](const QueuedKeyWork& queued) { return queued.work == work; });
  evaluations_.cancel(*work);
}

std::optional<std::string> Scheduler::begin(const SharedKeyWork& work,
                                            const wire::KeyStart& start) {
  const Lock lock(mutex_);
  check_connection("key_start", start.worker(), start.group(), settings_.evaluations);
  if (auto refusal = refusal_of_session(start.session())) return refusal;
  if (auto refusal = evaluations_.begin(
          start.worker(), {.key = work, .group = start.group(), .session = start.session()}))
    return refusal;
  (void)stock_.use(start.session());
  return std::nullopt;
}

void Scheduler::stop_beginning() {
  const Lock lock(mutex_);
  is_stopping_ = true;
  queue_.clear();
  key_queue_.clear();
  if (shared_.jobs.are_kept(settings_.name)) return;
  for (const SharedJob& job : shared_.jobs.of_peer(settings_.name))
    if (shared_.jobs.status(*job).state != JobState::Running)
      fail(job, {ErrorClass::Network, "the daemon is stopping: submit the job again"});
}

JobCounts Scheduler::counts() {
  const Lock lock(mutex_);
  return shared_.jobs.counts(settings_.name);
}

void Scheduler::link_is_up() {
  const Lock lock(mutex_);
  is_linked_ = true;
  for (SharedJob& job : shared_.jobs.of_peer(settings_.name)) to_offer_.push_back(std::move(job));
  offer_waiting();
  tell_kept();
}

void Scheduler::link_is_down() {
  const Lock lock(mutex_);
  is_linked_ = false;
  if (asked_) running_.erase(asked_->worker);
  asked_.reset();
  told_.clear();
  prepared_.forget_peers();
  offered_.clear();
  for (const SharedJob& job : queue_) shared_.jobs.set_state(*job, JobState::WaitingForPeer);
  queue_.clear();
  key_queue_.clear();
  to_offer_.clear();
  offers_.clear();
  evaluations_.close_below(std::numeric_limits<std::uint64_t>::max());
}

void Scheduler::link_has_room() {
  const Lock lock(mutex_);
  offer_waiting();
}

// As many as the link has room for; the rest once it has sent these.
void Scheduler::offer_waiting() {
  while (is_linked_ && !to_offer_.empty() && link_.has_room()) {
    const SharedJob job = std::move(to_offer_.front());
    to_offer_.pop_front();
    if (shared_.jobs.status(*job).state != JobState::WaitingForPeer) continue;
    link_.send(offer_of(job->id(), job->request().terms));
    offered_.insert(job);
    if (const wire::Terms* const theirs = offers_.find(job->id())) match(job, *theirs);
  }
}

void Scheduler::withdraw(const Job& job) {
  wire::Message message;
  message.mutable_withdraw()->set_job(job.id());
  link_.send(message);
}

void Scheduler::log_refusal(const std::string& job, const std::string& reason, LogRate& lines) {
  shared_.metrics.refusal(settings_.name, RefusedBy::ThisParty);
  if (const auto suppressed = lines.admit(Clock::now()))
    log_event(LogLevel::Warning, "job refused",
              {{"peer", settings_.name},
               {"job", job},
               {"reason", foreign_text(reason)},
               {"by", name_of(RefusedBy::ThisParty)},
               {"suppressed", *suppressed}});
}

void Scheduler::refuse(const std::string& job, const std::string& reason) {
  log_refusal(job, reason, refusal_lines_);
  send_refusal(job, reason);
}

void Scheduler::send_refusal(const std::string& job, const std::string& reason) {
  wire::Message message;
  message.mutable_refuse()->set_job(job);
  message.mutable_refuse()->set_reason(foreign_text(reason));
  link_.send(message);
}

// Of this peer; null if there is none.
SharedJob Scheduler::find(const std::string& id) const {
  return shared_.jobs.find(settings_.name, id);
}

void Scheduler::offered(const wire::Offer& offer) {
  const Lock lock(mutex_);
  const std::string& id = offer.job();
  if (!is_name(id)) throw NetworkError("the peer offers a job without a name");
  offers_.forget(id);
  if (!offers_.has_room_for(offer))
    return refuse(id, "the peer has offered more jobs than this daemon keeps");
  if (const auto reason = policy_.refusal(offer.terms(), Clock::now())) return refuse(id, *reason);
  const SharedJob job = find(id);
  if (job && has_ended(shared_.jobs.status(*job).state)) return refuse(id, kHasEnded);
  offers_.add(offer);
  if (job) match(job, offer.terms());
}

void Scheduler::withdrawn(const wire::Withdraw& withdraw) {
  const Lock lock(mutex_);
  offers_.forget(withdraw.job());
  if (const SharedJob job = find(withdraw.job())) leave_queue(*job);
}

void Scheduler::refused(const wire::Refuse& refuse) {
  const Lock lock(mutex_);
  offers_.forget(refuse.job());
  const SharedJob job = find(refuse.job());
  if (!job) return;
  shared_.metrics.refusal(settings_.name, RefusedBy::Peer);
  fail(job,
       {ErrorClass::Disagreement, "the peer refuses the job: " + foreign_text(refuse.reason())});
  evaluations_.cancel(*job);
}

// `theirs` is a copy, as the offer is erased. Both parties compare; the leading one begins the job.
// A job that the peer has offered first waits until it is offered here, too: the peer begins none,
// and is told of none that begins, before that.
void Scheduler::match(const SharedJob& job, wire::Terms theirs) {
  if (!offered_.contains(job)) return;
  const wire::Terms& mine = job->request().terms;
  const JobState state = shared_.jobs.status(*job).state;
  // Of a job that runs here, the peer is told once it has failed: it waits there.
  if (settings_.leads() && state != JobState::Running) offers_.forget(job->id());
  if (state != JobState::WaitingForPeer) return;
  matched_.try_emplace(job->id(), Clock::now());
  std::optional<std::string> reason;
  if (!same_terms(mine, theirs))
    reason = foreign_text("the parties disagree on the job's " + difference(mine, theirs));
  else if (settings_.leads())
    reason = policy_.refusal(mine, Clock::now());
  if (reason) {
    fail(job, {ErrorClass::Disagreement, *reason});
    if (settings_.leads()) refuse(job->id(), *reason);
    return;
  }
  shared_.jobs.set_state(*job, JobState::Queued);
  queue_.push_back(job);
  begin_what_can();
}

// Whether it was in the queue.
bool Scheduler::leave_queue(const Job& job) {
  return std::erase_if(queue_, [&](const SharedJob& queued) {
           if (queued.get() != &job) return false;
           shared_.jobs.set_state(*queued, JobState::WaitingForPeer);
           return true;
         }) > 0;
}

void Scheduler::dispatch() {
  const Lock lock(mutex_);
  go_on();
}

void Scheduler::go_on() {
  give_up_asking();
  close_unusable();
  note_lost();
  tell_kept();
  begin_what_can();
}

Scheduler::Taking Scheduler::taking_of(const engine::LoadedCircuit& circuit, std::uint64_t ands,
                                       bool in_advance, std::optional<AndMaterial> form) {
  // A copy, which shares what is known of the circuit.
  return {[circuit, ands](AndMaterial of) { return engine::material_of_run(circuit, ands, of); },
          ands, in_advance, form};
}

Scheduler::Taking Scheduler::taking_of(const SharedKeyWork& work) {
  return {[work](AndMaterial form) { return work->material(form); }, work->ands(), true};
}

// The oldest session that has enough besides what running jobs may still reserve, in advance as
// well. What takes it is starved if none has, and no running job can be waited for: once it has
// ended, what is left is known.
std::optional<SessionStock> Scheduler::session_for(const Taking& taking, bool& is_starved) {
  bool is_any_running = false;
  for (SessionStock& session : stock_.common()) {
    if (taking.form && session.form != *taking.form) continue;
    const auto needed_by = [&](const Taking& other) { return other.material(session.form); };
    const auto most_of = [&](const Taking& other) {
      const MaterialCounts needed = needed_by(other);
      return other.in_advance ? engine::in_advance(needed, other.ands, kReserveAheadAnds) : needed;
    };
    MaterialCounts wanted = needed_by(taking);
    std::uint64_t ands = taking.ands;
    bool is_running = false;
    for (const auto& [worker, running] : running_) {
      if (running.session != session.number || !running.taking.material) continue;
      if (!is_running) wanted = most_of(taking);
      is_running = true;
      wanted += most_of(running.taking);
      ands += running.taking.ands;
    }
    if (session.counts.covers(wanted) && ands <= session.left.ands) return session;
    is_any_running = is_any_running || is_running;
  }
  is_starved = !is_any_running;
  return std::nullopt;
}

std::optional<std::size_t> Scheduler::free_worker(std::optional<std::uint64_t> session) {
  const auto runs = evaluations_.prepared();
  std::optional<std::size_t> best;
  std::ptrdiff_t fewest = 0;
  for (std::size_t worker = 0; worker < settings_.evaluations; ++worker) {
    if (running_.contains(worker)) continue;
    const auto is_of_another_session = [&](const Evaluations::PreparedRun& run) {
      return run.worker == worker && session && run.session != *session;
    };
    if (std::ranges::any_of(runs, is_of_another_session)) continue;
    const auto held = std::ranges::count(runs, worker, &Evaluations::PreparedRun::worker);
    if (best && held >= fewest) continue;
    best = worker;
    fewest = held;
  }
  return best;
}

// On a worker that is free, in a session that both parties can use.
std::optional<Evaluations::PreparedRun> Scheduler::prepared_for(const Job& job) {
  close_unusable();
  for (const Evaluations::PreparedRun& run : evaluations_.prepared())
    if (!running_.contains(run.worker) && serves(*run.circuit, job.request().terms)) return run;
  return std::nullopt;
}

std::optional<Scheduler::Place> Scheduler::place_for(const Job& job, bool& is_starved) {
  if (auto run = prepared_for(job)) return Place{run->worker, run->session, run};
  const auto any = free_worker();
  if (!any) return std::nullopt;
  const auto session = session_for(taking_of(*job.request().circuit, job.ands(), true), is_starved);
  if (!session) return std::nullopt;
  return Place{free_worker(session->number).value_or(*any), session->number, {}};
}

// What has been submitted or offered remains so if nothing can be begun now, such as without its
// stores: dispatch() tries again.
void Scheduler::begin_what_can() {
  if (settings_.leads() && is_linked_ && !is_stopping_) errors_.run([&] { begin_queued(); });
}

// On a free worker whose connection has the key loaded, if its session has enough.
std::optional<Scheduler::Place> Scheduler::place_for(const QueuedKeyWork& queued,
                                                     bool& is_starved) {
  const auto any = free_worker();
  if (!any) return std::nullopt;
  const auto session = session_for(taking_of(queued.work), is_starved);
  if (!session) return std::nullopt;
  const std::vector<std::uint64_t> loaded = queued.loaded();
  for (std::size_t worker = 0; worker < settings_.evaluations; ++worker) {
    const auto group = evaluations_.kept_group(worker, session->number);
    if (group && !running_.contains(worker) && std::ranges::find(loaded, *group) != loaded.end())
      return Place{worker, session->number, {}};
  }
  return Place{free_worker(session->number).value_or(*any), session->number, {}};
}

void Scheduler::begin_key_work(bool& is_starved) {
  while (!key_queue_.empty()) {
    const QueuedKeyWork queued = key_queue_.front();
    const auto place = place_for(queued, is_starved);
    if (!place) return;
    if (!stock_.use(place->session)) continue;  // retired since it was chosen
    key_queue_.pop_front();
    const std::uint64_t group = evaluations_.group_for(place->worker, place->session);
    if (!queued.work->begins(place->worker, group, place->session)) continue;
    running_[place->worker] = {false, group, place->session, taking_of(queued.work)};
    const auto refusal = evaluations_.begin(
        place->worker, {.key = queued.work, .group = group, .session = place->session});
    ENSURE(!refusal);  // the worker is free, and each session has groups of its own
  }
}

// A job leaves the queue first: whatever fails then, it is not begun twice.
void Scheduler::begin_queued() {
  if (!stock_.disk_shortage().empty()) return;
  bool is_starved = false;
  begin_key_work(is_starved);
  while (!queue_.empty()) {
    const SharedJob job = queue_.front();
    const auto place = place_for(*job, is_starved);
    if (!place) break;
    const auto now = Clock::now();
    if (const auto reason = policy_.refusal(job->request().terms, now)) {
      queue_.pop_front();
      fail(job, {ErrorClass::Disagreement, *reason});
      refuse(job->id(), *reason);
      continue;
    }
    if (!stock_.use(place->session)) continue;  // retired since it was chosen
    queue_.pop_front();
    bool has_begun = false;
    if (!errors_.run([&] { has_begun = begin(job, *place); })) {
      fail(job, {ErrorClass::Other, "the daemon could not begin the job"});
      continue;
    }
    if (!has_begun) {  // the prepared run has gone since
      queue_.push_front(job);
      continue;
    }
    // The rate of a policy is that of jobs that begin.
    (void)policy_.begin(job->request().terms, now);
  }
  if (queue_.empty() && key_queue_.empty()) prepare_next(is_starved);
  stock_.set_starved(is_starved);
}

bool Scheduler::begin(const SharedJob& job, const Place& place) {
  const auto& run = place.prepared;
  const std::uint64_t group =
      run ? run->group : evaluations_.group_for(place.worker, place.session);
  const auto refusal = evaluations_.begin(place.worker, {.job = job,
                                                         .inputs = shared_.jobs.inputs(*job),
                                                         .group = group,
                                                         .session = place.session,
                                                         .circuit = run ? run->circuit : nullptr,
                                                         .prepared = run ? run->number : 0});
  if (refusal) {
    ENSURE(run);  // the worker is free, and each session has groups of its own
    return false;
  }
  Taking taking;
  if (!run) taking = taking_of(*job->request().circuit, job->ands(), true);
  running_[place.worker] = {false, group, place.session, taking};
  shared_.jobs.set_state(*job, JobState::Running);
  wire::Message message;
  wire::Start& start = *message.mutable_start();
  start.set_job(job->id());
  start.set_worker(static_cast<std::uint32_t>(place.worker));
  start.set_group(group);
  start.set_session(place.session);
  start.set_prepared(run ? run->number : 0);
  link_.send(message);
  if (run) shared_.metrics.prepared(settings_.name, *run->circuit, PreparedOutcome::Used);
  return true;
}

void Scheduler::started(const wire::Start& start) {
  const Lock lock(mutex_);
  check_connection("start", start.worker(), start.group(), settings_.evaluations);
  if (!is_name(start.job())) throw NetworkError("`start` names an invalid job");
  const SharedJob job = find(start.job());
  const PreparedCircuit* circuit = nullptr;
  if (const auto reason = refusal_to_start(start, job)) return refuse(start.job(), *reason);
  if (start.prepared() != 0) {
    const auto found = std::ranges::find_if(settings_.prepared, [&](const PreparedCircuit& each) {
      return serves(each, job->request().terms);
    });
    if (found == settings_.prepared.end())
      return refuse(start.job(), "no run is prepared for this job");
    circuit = &*found;
  }
  if (const auto against = policy_.begin(job->request().terms, Clock::now())) {
    fail(job, {ErrorClass::Disagreement, *against});
    return refuse(start.job(), *against);
  }
  std::erase(queue_, job);
  // The worker's outcome waits for this lock.
  if (const auto against = evaluations_.begin(start.worker(), {.job = job,
                                                               .inputs = shared_.jobs.inputs(*job),
                                                               .group = start.group(),
                                                               .session = start.session(),
                                                               .circuit = circuit,
                                                               .prepared = start.prepared()})) {
    fail(job, {ErrorClass::Network, "the peer began the job on a wrong connection: " + *against});
    return refuse(start.job(), *against);
  }
  if (circuit != nullptr) shared_.metrics.prepared(settings_.name, *circuit, PreparedOutcome::Used);
  offers_.forget(start.job());
  shared_.jobs.set_state(*job, JobState::Running);
  (void)stock_.use(start.session());  // one that is retired now fails as the job begins
}

// `job` is null if there is none.
std::optional<std::string> Scheduler::refusal_to_start(const wire::Start& start,
                                                       const SharedJob& job) {
  const wire::Terms* const theirs = offers_.find(start.job());
  if (is_stopping_) return "the daemon is stopping";
  if (!job || theirs == nullptr || shared_.jobs.status(*job).state != JobState::Queued)
    return "the job has not been submitted, or no longer waits";
  if (!same_terms(job->request().terms, *theirs))
    return "the parties have submitted different jobs under this id";
  return refusal_of_session(start.session());
}

std::optional<std::string> Scheduler::refusal_of_session(std::uint64_t session) {
  if (is_stopping_) return "the daemon is stopping";
  if (!stock_.has(session)) return "there is no such session, or it has been retired";
  return std::nullopt;
}

// Runs that are lost, with their connection or before they are made, are made again only after a
// pause: a peer that ends connections would take more and more material. One event lengthens it
// once, whatever it has taken.
void Scheduler::note_lost() {
  const auto lost = evaluations_.take_lost();
  for (const PreparedCircuit* circuit : lost) {
    shared_.metrics.prepared(settings_.name, *circuit, PreparedOutcome::Wasted);
    shared_.metrics.wasted(settings_.name, circuit->ands);
  }
  useless_ += lost.size();
  if (useless_ == 0) return;
  owed_ += std::exchange(useless_, 0);
  pause_.lengthen();
  pause_.begin(Clock::now());
  if (lost.empty()) return;
  if (const auto suppressed = lost_lines_.admit(Clock::now()))
    log_event(LogLevel::Warning, "prepared runs lost",
              {{"peer", settings_.name},
               {"runs", lost.size()},
               {"reason", "their connection has ended"},
               {"suppressed", *suppressed}});
}

std::optional<std::string> Scheduler::refusal_to_prepare(const PreparedCircuit& circuit) const {
  if (is_stopping_) return "the daemon is stopping";
  if (!pause_.is_over(Clock::now())) return "a prepared run was lost, and the next one has to wait";
  return policy_.refusal(circuit.terms, Clock::now());
}

void Scheduler::tell_kept() {
  if (!is_linked_ || settings_.prepared.empty()) return;
  wire::Message message;
  for (const PreparedCircuit& circuit : settings_.prepared) {
    wire::KeptCircuit& kept = *message.mutable_kept()->add_circuits();
    *kept.mutable_terms() = circuit.terms;
    if (const auto reason = refusal_to_prepare(circuit)) {
      kept.set_reason(foreign_text(*reason));
      continue;
    }
    kept.set_runs(static_cast<std::uint32_t>(circuit.kept));
    if (circuit.kept < circuit.configured) kept.set_reason("prepared_bytes_max allows no more");
  }
  std::string text = message.SerializeAsString();
  if (text == told_) return;
  told_ = std::move(text);
  link_.send(message);
}

void Scheduler::kept(const wire::Kept& kept) {
  if (kept.circuits_size() > kPreparedCircuitsMax)
    throw NetworkError("the peer keeps prepared runs of more than " +
                       std::to_string(kPreparedCircuitsMax) + " circuits");
  const Lock lock(mutex_);
  for (const PreparedStock::Difference& difference : prepared_.set_peers(kept))
    if (const auto suppressed = kept_lines_.admit(Clock::now()))
      log_event(LogLevel::Warning, "prepared runs differ",
                {{"peer", settings_.name},
                 {"circuit", difference.circuit},
                 {"reason", difference.reason},
                 {"suppressed", *suppressed}});
  begin_what_can();
}

// Prepared runs of a session that only one party has left can serve no job, and take memory.
void Scheduler::close_unusable() {
  const auto runs = evaluations_.prepared();
  if (runs.empty()) return;
  const auto sessions = stock_.common();
  for (const Evaluations::PreparedRun& run : runs)
    if (std::ranges::find(sessions, run.session, &SessionStock::number) == sessions.end())
      evaluations_.close(run.group);
}

void Scheduler::prepare_next(bool& is_starved) {
  note_lost();  // which begins a pause
  const auto is_preparation = [](const auto& running) { return running.second.is_preparation; };
  if (std::ranges::any_of(running_, is_preparation)) return;
  for (const PreparedCircuit& circuit : settings_.prepared) {
    const PreparedStock::AtPeer& peer = prepared_.at_peer(circuit);
    if (evaluations_.count(circuit) >= std::min(circuit.kept, peer.kept) ||
        refusal_to_prepare(circuit))
      continue;
    const Taking taking = taking_of(circuit.circuit, circuit.ands, false, settings_.material);
    const auto session = session_for(taking, is_starved);
    if (!session) continue;
    const auto worker = free_worker(session->number);
    if (!worker || !stock_.use(session->number)) return;
    const std::uint64_t group = evaluations_.group_for(*worker, session->number);
    running_[*worker] = {true, group, session->number, taking};
    asked_ = {*worker,
              {.group = group, .session = session->number, .circuit = &circuit},
              Clock::now() + kPreparationAnswerTime};
    stock_.send();  // the peer prepares nothing in a session that this party has not named
    wire::Message message;
    wire::Prepare& order = *message.mutable_prepare();
    order.set_worker(static_cast<std::uint32_t>(*worker));
    order.set_group(group);
    order.set_session(session->number);
    order.set_circuit(peer.place);
    link_.send(message);
    return;
  }
}

void Scheduler::prepare_answered(const wire::PrepareAnswer& answer) {
  const Lock lock(mutex_);
  if (!asked_ || asked_->order.group != answer.group()) return;  // too late
  const Asked asked = *std::exchange(asked_, {});
  if (answer.begins()) {
    const auto refusal = evaluations_.begin(asked.worker, asked.order);
    ENSURE(!refusal);  // as of a job
    return;
  }
  running_.erase(asked.worker);
  log_refusal_to_prepare(answer.reason(), RefusedBy::Peer);
  pause_.begin_shortest(Clock::now());
  begin_what_can();
}

// The connection ends, since the peer may begin yet.
void Scheduler::give_up_asking() {
  if (!asked_ || Clock::now() < asked_->until) return;
  evaluations_.close(asked_->order.group);
  running_.erase(asked_->worker);
  asked_.reset();
  ++useless_;
  log_refusal_to_prepare("no answer for " + std::to_string(kPreparationAnswerTime.count()) + " s",
                         RefusedBy::Peer);
}

void Scheduler::prepare_ordered(const wire::Prepare& order) {
  const Lock lock(mutex_);
  check_connection("prepare", order.worker(), order.group(), settings_.evaluations);
  if (order.circuit() >= settings_.prepared.size())
    throw NetworkError("`prepare` names a circuit that is not kept");
  const PreparedCircuit& circuit = settings_.prepared[order.circuit()];
  close_unusable();
  // The connection that this one replaces has ended at the leading party.
  for (const Evaluations::PreparedRun& run : evaluations_.prepared())
    if (run.worker == order.worker() && run.group != order.group()) evaluations_.close(run.group);
  std::optional<std::string> reason = refusal_to_prepare(circuit);
  if (!reason && evaluations_.count(circuit) >= circuit.kept)
    reason = "this party keeps no more runs of " + circuit.terms.circuit();
  const auto sessions = stock_.common();
  const auto session = std::ranges::find(sessions, order.session(), &SessionStock::number);
  if (!reason && session == sessions.end()) reason = "there is no such session at both parties";
  if (!reason && session->form != settings_.material)
    reason = "the session has other material than the configuration says";
  if (!reason)
    reason = evaluations_.begin(
        order.worker(), {.group = order.group(), .session = order.session(), .circuit = &circuit});
  if (reason)
    log_refusal_to_prepare(*reason, RefusedBy::ThisParty);
  else
    (void)stock_.use(order.session());
  wire::Message message;
  wire::PrepareAnswer& answer = *message.mutable_prepare_answer();
  answer.set_group(order.group());
  answer.set_begins(!reason);
  answer.set_reason(foreign_text(reason.value_or("")));
  link_.send(message);
}

void Scheduler::log_refusal_to_prepare(const std::string& reason, RefusedBy by) {
  if (const auto suppressed = kept_lines_.admit(Clock::now()))
    log_event(LogLevel::Warning, "prepared run refused",
              {{"peer", settings_.name},
               {"reason", foreign_text(reason)},
               {"by", name_of(by)},
               {"suppressed", *suppressed}});
}

// A peer whose store is ahead has this party skip material, as after a lost connection. Beside a
// job that is not known: what the peer granted to the job may be taken after what it granted later.
void Scheduler::note_prepared(const Evaluations::Order& order,
                              const Evaluations::Outcome& outcome) {
  const PreparedCircuit& circuit = *order.circuit;
  const std::uint64_t skipped = outcome.beside_job ? 0
                                                   : outcome.spent_ands -
                                                         std::min(outcome.spent_ands, circuit.ands),
                      wasted = outcome.error ? outcome.spent_ands : skipped;
  shared_.metrics.prepared(settings_.name, circuit,
                           !outcome.error ? PreparedOutcome::Made
                           : wasted > 0   ? PreparedOutcome::Wasted
                                          : PreparedOutcome::Failed);
  shared_.metrics.wasted(settings_.name, wasted);
  if (!outcome.error && wasted == 0) return;
  ++useless_;
  if (const auto suppressed = lost_lines_.admit(Clock::now()))
    log_event(LogLevel::Warning, outcome.error ? "run not prepared" : "material skipped",
              {{"peer", settings_.name},
               {"circuit", circuit.terms.circuit()},
               {"error", outcome.error ? outcome.error->message : "the peer's store was ahead"},
               {"ands", wasted},
               {"suppressed", *suppressed}});
}

std::vector<PreparedCount> Scheduler::prepared() {
  std::vector<PreparedCount> all;
  const Lock lock(mutex_);
  const auto runs = evaluations_.prepared();
  for (const PreparedCircuit& circuit : settings_.prepared) {
    PreparedCount& count = all.emplace_back();
    const PreparedStock::AtPeer& peer = prepared_.at_peer(circuit);
    count.circuit = circuit.terms.circuit();
    count.lanes = circuit.circuit.lanes();
    count.in_stock = static_cast<std::size_t>(
        std::ranges::count(runs, &circuit, &Evaluations::PreparedRun::circuit));
    count.configured = circuit.configured;
    count.kept = std::min(circuit.kept, peer.kept);
    if (const auto refusal = refusal_to_prepare(circuit)) {
      count.kept = 0;
      count.reason = *refusal;
    } else if (peer.kept < circuit.kept) {
      count.reason = peer.reason.empty() ? "the peer keeps fewer" : "the peer: " + peer.reason;
    } else if (circuit.kept < circuit.configured) {
      count.reason = "prepared_bytes_max allows no more";
    }
  }
  return all;
}

void Scheduler::ended(std::size_t worker, const Evaluations::Order& order,
                      Evaluations::Outcome outcome) {
  if (order.job && !outcome.error)
    errors_.run([&] { shared_.jobs.keep_result(*order.job, outcome.result); });
  Lock lock(mutex_);
  running_.erase(worker);
  // A check that failed here ends the session for all workers, before anything else.
  if (outcome.error) errors_.run([&] { stock_.end_revoked(); });
  errors_.run([&] {
    shared_.metrics.traffic(settings_.name,
                            order.is_preparation() ? TrafficOf::Preparation : TrafficOf::Evaluation,
                            outcome.traffic);
    if (!outcome.error || outcome.error->error_class != ErrorClass::PeerCheated) return;
    shared_.metrics.cheating(settings_.name);
    log_event(LogLevel::Error, "peer cheated",
              {{"peer", settings_.name},
               {"job", order.job ? order.job->id() : ""},
               {"error", outcome.error->message}});
  });
  if (order.is_preparation())
    errors_.run([&] { note_prepared(order, outcome); });
  else if (order.job && !errors_.run([&] { end_job(order, std::move(outcome)); }))
    fail(order.job, {ErrorClass::Other, "the daemon could not keep the job's result"});
  errors_.run([&] { go_on(); });
  lock.unlock();
  if (order.key) errors_.run([&] { order.key->ended(outcome.error); });
}

void Scheduler::end_job(const Evaluations::Order& order, Evaluations::Outcome outcome) {
  if (outcome.error && outcome.error->error_class == ErrorClass::Cancelled)
    *outcome.error = {ErrorClass::Network, "the evaluation was ended: the daemon is stopping"};
  if (!outcome.error && order.circuit != nullptr) {
    if (owed_ > 0)
      --owed_;
    else
      pause_.shorten();
  }
  const std::string& id = order.job->id();
  // By a peer that has not begun it, or no longer knows that it has, as after a restart.
  const bool is_offered = offers_.find(id) != nullptr && find(id) == order.job;
  if (outcome.error)
    fail(order.job, *outcome.error);
  else
    finish(order.job, std::move(outcome.result));
  if (outcome.error && is_offered)
    refuse(id, kHasEnded);
  else if (outcome.is_to_be_told)
    send_refusal(id, stock_.is_disk_full() ? "its disk is full" : kFailedHere);
  if (is_offered) offers_.forget(id);
  matched_.erase(id);
  offered_.erase(order.job);
}

void Scheduler::finish(const SharedJob& job, JobResult result) {
  shared_.metrics.evaluated(settings_.name, job->ands(), result, settings_.me);
  const auto matched = matched_.find(job->id());
  if (matched != matched_.end())
    shared_.metrics.latency(settings_.name,
                            std::chrono::duration<double>(Clock::now() - matched->second).count());
  if (!shared_.jobs.finish(*job, std::move(result))) return;
  shared_.metrics.evaluation(settings_.name, JobOutcome::Done);
  const JobStatus status = shared_.jobs.status(*job);
  log_event(LogLevel::Info, "job done",
            {{"peer", settings_.name},
             {"job", job->id()},
             {"session", status.session},
             {"circuit", job->request().terms.circuit()},
             {"ands", job->ands()},
             {"online", std::string(name_of(status.phase))},
             {"evaluation_s", status.evaluation_s}});
}

void Scheduler::fail(const SharedJob& job, JobError error) {
  if (!shared_.jobs.fail(*job, error)) return;
  forget(job);
  shared_.metrics.evaluation(settings_.name, failure_of(error.error_class));
  log_event(LogLevel::Warning, "job failed",
            {{"peer", settings_.name}, {"job", job->id()}, {"error", error.message}});
}

void Scheduler::forget(const SharedJob& job) {
  matched_.erase(job->id());
  offered_.erase(job);
  offers_.forget(job->id());
  std::erase(to_offer_, job);
  std::erase(queue_, job);
}

}  // namespace tinyot::service
