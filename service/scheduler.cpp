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

MaterialCounts needed_by(const Job& job, AndMaterial form) {
  return engine::material_of_run(job.request().circuit, job.ands(), form);
}

}  // namespace

Scheduler::Scheduler(const PeerSettings& settings, Shared& shared, Policy policy, Link& link,
                     Stock& stock, Evaluations& evaluations)
    : settings_(settings), shared_(shared), link_(link), stock_(stock), evaluations_(evaluations),
      policy_(std::move(policy)), offers_(shared.config.jobs_max()) {}

std::optional<std::string> Scheduler::refusal(const std::string& job, const wire::Terms& terms) {
  const Lock lock(mutex_);
  const auto reason = policy_.refusal(terms, Clock::now());
  if (reason) log_refusal(job, *reason, submission_lines_);
  return reason;
}

void Scheduler::submit(const SharedJob& job) {
  const Lock lock(mutex_);
  if (!is_linked_) return;  // it is offered once connected
  to_offer_.push_back(job);
  offer_waiting();
  if (const wire::Terms* const theirs = offers_.find(job->id())) match(job, *theirs);
}

void Scheduler::cancel(const SharedJob& job) {
  const Lock lock(mutex_);
  if (!shared_.jobs.cancel(*job)) return;
  shared_.metrics.evaluation(settings_.name, JobOutcome::Cancelled);
  leave_queue(*job);
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
  fail(job, {is_queued ? ErrorClass::Store : ErrorClass::Network, why});
  withdraw(*job);
}

void Scheduler::stop_beginning() {
  const Lock lock(mutex_);
  is_stopping_ = true;
  queue_.clear();
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
  to_offer_.clear();
  for (SharedJob& job : shared_.jobs.of_peer(settings_.name)) to_offer_.push_back(std::move(job));
  offer_waiting();
}

void Scheduler::link_is_down() {
  const Lock lock(mutex_);
  is_linked_ = false;
  for (const SharedJob& job : queue_) shared_.jobs.set_state(*job, JobState::WaitingForPeer);
  queue_.clear();
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
    if (shared_.jobs.status(*job).state == JobState::WaitingForPeer)
      link_.send(offer_of(job->id(), job->request().terms));
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
  wire::Message message;
  message.mutable_refuse()->set_job(job);
  message.mutable_refuse()->set_reason(foreign_text(reason));
  link_.send(message);
}

// Of this peer; null if there is none.
SharedJob Scheduler::find(const std::string& id) const {
  SharedJob job = shared_.jobs.find(id);
  return job && job->request().peer == settings_.name ? job : nullptr;
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
  if (job && has_ended(shared_.jobs.status(*job).state))
    return refuse(id, "the job has ended at the other party: submit it under another id");
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
  leave_queue(*job);
  fail(job,
       {ErrorClass::Disagreement, "the peer refuses the job: " + foreign_text(refuse.reason())});
  evaluations_.cancel(*job);
}

// `theirs` is a copy, as the offer is erased. Both parties compare; the leading one begins the job.
void Scheduler::match(const SharedJob& job, wire::Terms theirs) {
  const wire::Terms& mine = job->request().terms;
  if (settings_.leads()) offers_.forget(job->id());
  if (shared_.jobs.status(*job).state != JobState::WaitingForPeer) return;
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
  begin_what_can();
}

// The oldest session that has enough for the job besides what running jobs may still reserve, in
// advance as well. The job is starved if none has, and no running job can be waited for: once it
// has ended, what is left is known.
std::optional<SessionStock> Scheduler::session_for(const Job& job, bool& is_starved) {
  bool is_any_running = false;
  for (SessionStock& session : stock_.common()) {
    const auto most_of = [&](const Job& other) {
      return engine::in_advance(needed_by(other, session.form), other.ands(), kReserveAheadAnds);
    };
    MaterialCounts wanted = needed_by(job, session.form);
    std::uint64_t ands = job.ands();
    bool is_running = false;
    for (const auto& [worker, running] : running_) {
      if (running.session != session.number) continue;
      if (!is_running) wanted = most_of(job);
      is_running = true;
      wanted += most_of(*running.job);
      ands += running.job->ands();
    }
    if (session.counts.covers(wanted) && ands <= session.left.ands) return session;
    is_any_running = is_any_running || is_running;
  }
  is_starved = !is_any_running;
  return std::nullopt;
}

void Scheduler::begin_what_can() {
  if (!settings_.leads() || !is_linked_ || is_stopping_) return;
  bool is_starved = false;
  std::size_t worker = 0;
  while (worker < settings_.evaluations && !queue_.empty()) {
    if (running_.contains(worker)) {
      ++worker;
      continue;
    }
    const SharedJob job = queue_.front();
    const auto session = session_for(*job, is_starved);
    if (!session) break;
    const auto now = Clock::now();
    if (const auto reason = policy_.refusal(job->request().terms, now)) {
      queue_.pop_front();
      fail(job, {ErrorClass::Disagreement, *reason});
      refuse(job->id(), *reason);
      continue;
    }
    if (!stock_.use(session->number)) continue;  // retired since it was chosen
    // The rate of a policy is that of jobs that begin.
    (void)policy_.begin(job->request().terms, now);
    queue_.pop_front();
    begin(job, worker++, session->number);
  }
  stock_.set_starved(is_starved);
}

void Scheduler::begin(const SharedJob& job, std::size_t worker, std::uint64_t session) {
  const std::uint64_t group = evaluations_.group_for(worker, session);
  running_[worker] = {job, session};
  shared_.jobs.set_state(*job, JobState::Running);
  wire::Message message;
  wire::Start& start = *message.mutable_start();
  start.set_job(job->id());
  start.set_worker(static_cast<std::uint32_t>(worker));
  start.set_group(group);
  start.set_session(session);
  link_.send(message);
  const auto refusal = evaluations_.begin(worker, {job, shared_.jobs.inputs(*job), group, session});
  ENSURE(!refusal);  // the worker is free, and each session has groups of its own
}

void Scheduler::started(const wire::Start& start) {
  const Lock lock(mutex_);
  const SharedJob job = find(start.job());
  const wire::Terms* const theirs = offers_.find(start.job());
  if (start.worker() >= settings_.evaluations)
    throw NetworkError("`start` names worker " + std::to_string(start.worker()) + "; " +
                       std::to_string(settings_.evaluations) + " are configured (evaluations)");
  if (!is_name(start.job()) || start.group() == 0 || (start.group() & StreamPort::kLinkBit) != 0)
    throw NetworkError("`start` names an invalid job or group");
  std::string reason;
  if (is_stopping_)
    reason = "the daemon is stopping";
  else if (!job || theirs == nullptr || shared_.jobs.status(*job).state != JobState::Queued)
    reason = "the job has not been submitted, or no longer waits";
  else if (!same_terms(job->request().terms, *theirs))
    reason = "the parties have submitted different jobs under this id";
  else if (!stock_.has(start.session()))
    reason = "there is no such session, or it has been retired";
  if (!reason.empty()) return refuse(start.job(), reason);
  if (const auto against = policy_.begin(job->request().terms, Clock::now())) {
    fail(job, {ErrorClass::Disagreement, *against});
    return refuse(start.job(), *against);
  }
  std::erase(queue_, job);
  // The worker's outcome waits for this lock.
  if (const auto against = evaluations_.begin(
          start.worker(), {job, shared_.jobs.inputs(*job), start.group(), start.session()})) {
    fail(job, {ErrorClass::Network, "the peer began the job on a wrong connection: " + *against});
    return refuse(start.job(), *against);
  }
  offers_.forget(start.job());
  shared_.jobs.set_state(*job, JobState::Running);
  (void)stock_.use(start.session());  // one that is retired now fails as the job begins
}

void Scheduler::ended(std::size_t worker, const Evaluations::Order& order,
                      Evaluations::Outcome outcome) {
  const Lock lock(mutex_);
  const SharedJob& job = order.job;
  running_.erase(worker);
  shared_.metrics.traffic(settings_.name, TrafficOf::Evaluation, outcome.traffic);
  if (outcome.error) {
    // A check that failed here ends the session for all workers, before anything else.
    stock_.end_revoked();
    if (outcome.error->error_class == ErrorClass::PeerCheated) {
      shared_.metrics.cheating(settings_.name);
      log_event(LogLevel::Error, "peer cheated",
                {{"peer", settings_.name}, {"job", job->id()}, {"error", outcome.error->message}});
    }
    if (outcome.error->error_class == ErrorClass::Cancelled)
      *outcome.error = {ErrorClass::Network, "the evaluation was ended: the daemon is stopping"};
    fail(job, *outcome.error);
  } else {
    finish(job, std::move(outcome.result));
  }
  matched_.erase(job->id());
  begin_what_can();
}

void Scheduler::finish(const SharedJob& job, JobResult result) {
  shared_.metrics.evaluated(settings_.name, job->ands(), result.and_rounds);
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
  offers_.forget(job->id());
  std::erase(to_offer_, job);
  std::erase(queue_, job);
}

}  // namespace tinyot::service
