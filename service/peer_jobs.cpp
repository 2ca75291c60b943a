// The jobs that both parties want: they are matched, get a connection and material, and end.
#include <algorithm>

#include "base/error.h"
#include "engine/advance.h"
#include "engine/connection.h"
#include "service/event_log.h"
#include "service/foreign_text.h"
#include "service/peer.h"

namespace tinyot::service {
namespace {

MaterialCounts needed_by(const Job& job, MaterialForm form) {
  const engine::LoadedCircuit& circuit = job.request().circuit;
  return online::material_for(circuit.info(), job.ands(), form, circuit.lanes());
}

}  // namespace

// `theirs` is a copy, as the offer is erased. Both parties compare; the leading one begins the job.
void Peer::match(const SharedJob& job, wire::Terms theirs) {
  const wire::Terms& mine = job->request().terms;
  if (leads()) forget_offer(job->id());
  if (shared_.jobs.status(*job).state != JobState::WaitingForPeer) return;
  matched_.try_emplace(job->id(), Clock::now());
  std::optional<std::string> reason;
  if (!same_terms(mine, theirs))
    reason = foreign_text("the parties disagree on the job's " + difference(mine, theirs));
  else if (leads())
    reason = policy_.refusal(mine, Clock::now());
  if (reason) {
    fail(job, {ErrorClass::Disagreement, *reason});
    if (leads()) refuse(job->id(), *reason);
    return;
  }
  shared_.jobs.set_state(*job, JobState::Queued);
  queue_.push_back(job);
  dispatch();
}

// Whether it was in the queue.
bool Peer::leave_queue(const Job& job) {
  return std::erase_if(queue_, [&](const SharedJob& queued) {
           if (queued.get() != &job) return false;
           shared_.jobs.set_state(*queued, JobState::WaitingForPeer);
           return true;
         }) > 0;
}

void Peer::fail(const SharedJob& job, JobError error) {
  if (!shared_.jobs.fail(*job, error)) return;
  matched_.erase(job->id());
  forget_offer(job->id());
  std::erase(to_offer_, job);
  shared_.metrics.evaluation(name(), failure_of(error.error_class));
  log_event(LogLevel::Warning, "job failed",
            {{"peer", name()}, {"job", job->id()}, {"error", error.message}});
}

// What can be used: of each session that both parties have, what is left at both.
std::vector<SessionStock> Peer::common_of(std::vector<SessionStock> stock) const {
  std::vector<SessionStock> common;
  for (SessionStock& session : stock) {
    const auto peers =
        std::ranges::find(peers_stock_.sessions(), session.number, &wire::Session::number);
    if (peers == peers_stock_.sessions().end() || peers->id() != session.id ||
        session.number < sessions_.retired_below())
      continue;
    session.left.ands = std::min(session.left.ands, peers->ands());
    session.left.inputs = std::min(session.left.inputs, peers->inputs());
    session.has_room = session.has_room && peers->has_room() && session.profile == profile_ &&
                       session.sigma == config_.sigma();
    common.push_back(std::move(session));
  }
  return common;
}

engine::Work Peer::left_at_both() {
  engine::Work left;
  for (const SessionStock& session : common_of(sessions_.stock())) {
    left.ands += session.left.ands;
    left.inputs += session.left.inputs;
  }
  return left;
}

// The oldest session that has enough for the job besides what running jobs may still reserve, in
// advance as well.
std::optional<SessionStock> Peer::session_for(const Job& job) {
  bool is_any_running = false;
  for (SessionStock& session : common_of(sessions_.stock())) {
    const auto most_of = [&](const Job& other) {
      return engine::in_advance(needed_by(other, session.form), other.ands(), kAdvanceAnds);
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
  // Once a running job has ended, what is left is known.
  is_starved_ = !is_any_running;
  return std::nullopt;
}

void Peer::dispatch() {
  if (!leads() || !link_ || is_stopping_) return;
  is_starved_ = false;
  std::size_t worker = 0;
  while (worker < connections_.size() && !queue_.empty()) {
    if (running_.contains(worker)) {
      ++worker;
      continue;
    }
    const SharedJob job = queue_.front();
    const auto session = session_for(*job);
    if (!session) break;
    queue_.pop_front();
    // The rate of a policy is that of jobs that begin.
    if (const auto reason = policy_.begin(job->request().terms, Clock::now())) {
      fail(job, {ErrorClass::Disagreement, *reason});
      refuse(job->id(), *reason);
      continue;
    }
    begin(job, worker++, *session);
  }
  is_to_look_ = true;
  changed_.notify_all();
}

void Peer::begin(const SharedJob& job, std::size_t worker, const SessionStock& session) {
  Connection& connection = connections_[worker];
  if (connection.group == 0 || connection.session != session.number)
    connection = {++last_group_, session.number};
  current_ = std::max(current_, session.number);
  running_[worker] = {job, session.number};
  shared_.jobs.set_state(*job, JobState::Running);
  wire::Message message;
  wire::Start& start = *message.mutable_start();
  start.set_job(job->id());
  start.set_worker(static_cast<std::uint32_t>(worker));
  start.set_group(connection.group);
  start.set_session(session.number);
  send(message);
  const auto refusal = evaluations_->begin(
      worker, {job, shared_.jobs.inputs(*job), connection.group, session.number});
  ENSURE(!refusal);  // the worker is free, and each session has groups of its own
}

void Peer::ended(std::size_t worker, const Evaluations::Order& order,
                 Evaluations::Outcome outcome) {
  const Lock lock(mutex_);
  const SharedJob& job = order.job;
  running_.erase(worker);
  shared_.metrics.traffic(name(), TrafficOf::Evaluation, outcome.traffic);
  if (outcome.error) {
    connections_[worker] = {};
    // A check that failed here ends the session for all workers, before anything else.
    (void)sessions_.stock();
    end_revoked_sessions();
    if (outcome.error->error_class == ErrorClass::PeerCheated) {
      shared_.metrics.cheating(name());
      log_event(LogLevel::Error, "peer cheated",
                {{"peer", name()}, {"job", job->id()}, {"error", outcome.error->message}});
    }
    if (outcome.error->error_class == ErrorClass::Cancelled)
      *outcome.error = {ErrorClass::Network, "the evaluation was ended: the daemon is stopping"};
    fail(job, *outcome.error);
  } else {
    const std::string session = outcome.result.session;
    const double evaluation_s = outcome.result.evaluation_s;
    shared_.metrics.evaluated(name(), job->ands(), outcome.result.and_rounds);
    const auto matched = matched_.find(job->id());
    if (matched != matched_.end())
      shared_.metrics.latency(
          name(), std::chrono::duration<double>(Clock::now() - matched->second).count());
    if (shared_.jobs.finish(*job, std::move(outcome.result))) {
      shared_.metrics.evaluation(name(), JobOutcome::Done);
      log_event(LogLevel::Info, "job done",
                {{"peer", name()},
                 {"job", job->id()},
                 {"session", session},
                 {"circuit", job->request().terms.circuit()},
                 {"ands", job->ands()},
                 {"evaluation_s", evaluation_s}});
    }
  }
  matched_.erase(job->id());
  dispatch();
}

}  // namespace tinyot::service
