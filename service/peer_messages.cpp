// The link with a peer, and what its messages ask for.
#include "base/error.h"
#include "service/configuration.h"
#include "service/event_log.h"
#include "service/peer.h"

namespace tinyot::service {
namespace {

constexpr const char* kMessagesVersion = "1";  // of peer.proto
constexpr std::chrono::milliseconds kLinkPauseMin{200}, kLinkPauseMax{10'000};
constexpr std::size_t kReasonMax = 400;  // characters of a peer's text that are kept

}  // namespace

std::vector<net::Parameter> Peer::parameters() const {
  const auto level = [](const engine::Work& work) {
    return std::to_string(work.ands) + " ANDs, " + std::to_string(work.inputs) + " inputs";
  };
  // As each party sees it, the peer is the other one.
  const Party listener = port_.listens() ? me_ : peer_of(me_);
  return {{"version of the daemon's messages", kMessagesVersion},
          {"listening party", std::string(1, letter(listener))},
          {"profile", config::Profile_Name(config_.profile())},
          {"sigma", std::to_string(config_.sigma())},
          {"low", level(low_)},
          {"high", level(high_)},
          {"refill_threads", std::to_string(shared_.config.refill_threads())},
          {"evaluations", std::to_string(config_.evaluations())}};
}

void Peer::keep_linked(const std::stop_token& stop) {
  auto pause = kLinkPauseMin;
  while (!stop.stop_requested()) {
    std::string why;
    try {
      const auto link = std::make_shared<PeerLink>(port_, me_, parameters(), stop);
      const std::stop_callback end(stop, [&] { link->shut_down(); });
      link_is_up(link);
      pause = kLinkPauseMin;
      for (;;) handle(link->receive());
    } catch (const Cancelled&) {
      break;
    } catch (const PeerCheated& error) {
      why = "the peer does not follow the protocol of the link (check: " + error.check() + ")";
    } catch (const Error& error) {
      why = error.what();
    }
    if (!stop.stop_requested()) link_is_down(why);
    Lock lock(mutex_);
    changed_.wait_for(lock, stop, pause, [] { return false; });
    pause = std::min(2 * pause, kLinkPauseMax);
  }
  std::shared_ptr<PeerLink> ended;  // destroyed without the lock
  const Lock lock(mutex_);
  ended.swap(link_);
}

void Peer::link_is_up(std::shared_ptr<PeerLink> link) {
  const Lock lock(mutex_);
  link_ = std::move(link);
  is_stock_awaited_ = true;
  last_error_.clear();
  log_event(LogLevel::Info, "peer connected", {{"peer", name()}});
  send_stock();
  for (const SharedJob& job : shared_.jobs.of_peer(name()))
    if (shared_.jobs.status(*job).state == JobState::WaitingForPeer) offer(*job);
}

void Peer::link_is_down(const std::string& why) {
  std::shared_ptr<PeerLink> ended;  // destroyed without the lock
  const Lock lock(mutex_);
  if (link_ || !last_error_.starts_with(why))
    log_event(LogLevel::Warning, "peer not connected", {{"peer", name()}, {"error", why}});
  ended.swap(link_);
  last_error_ = why;
  if (!last_rejection_.empty()) last_error_ += "; rejected: " + last_rejection_;
  last_rejection_.clear();
  for (const SharedJob& job : queue_) shared_.jobs.set_state(*job, JobState::WaitingForPeer);
  queue_.clear();
  offers_.clear();
  peers_stock_.Clear();
  refill_order_.reset();
  connections_.assign(connections_.size(), {});
  evaluations_->close_idle();
  changed_.notify_all();
}

void Peer::send(const wire::Message& message) {
  if (link_) link_->send(message);
}

void Peer::offer(const Job& job) {
  wire::Message message;
  message.mutable_offer()->set_job(job.id());
  *message.mutable_offer()->mutable_terms() = job.request().terms;
  send(message);
}

void Peer::withdraw(const Job& job) {
  wire::Message message;
  message.mutable_withdraw()->set_job(job.id());
  send(message);
}

void Peer::rejected(const std::string& connection) {
  log_event(LogLevel::Warning, "connection rejected", {{"peer", name()}, {"error", connection}});
  const Lock lock(mutex_);
  last_rejection_ = connection;
}

void Peer::log_refusal(const std::string& job, const std::string& reason) {
  shared_.metrics.refusal(name(), "this_party");
  log_event(LogLevel::Warning, "job refused",
            {{"peer", name()}, {"job", job}, {"reason", reason}, {"by", "this party"}});
}

void Peer::refuse(const std::string& job, const std::string& reason) {
  log_refusal(job, reason);
  wire::Message message;
  message.mutable_refuse()->set_job(job);
  message.mutable_refuse()->set_reason(reason);
  send(message);
}

void Peer::handle(const wire::Message& message) {
  const Lock lock(mutex_);
  switch (message.body_case()) {
    case wire::Message::kOffer:
      return offered(message.offer());
    case wire::Message::kWithdraw: {
      offers_.erase(message.withdraw().job());
      const SharedJob job = shared_.jobs.find(message.withdraw().job());
      if (job && job->request().peer == name()) leave_queue(*job);
      return;
    }
    case wire::Message::kRefuse:
      return refused(message.refuse());
    case wire::Message::kStock:
      peers_stock_ = message.stock();
      is_stock_awaited_ = false;
      dispatch();
      return;
    case wire::Message::kStart:
      if (!leads()) return started(message.start());
      break;
    case wire::Message::kRefill:
      if (leads()) break;
      refill_order_ = message.refill();
      changed_.notify_all();
      return;
    case wire::Message::kRefillAnswer:
      if (!leads()) break;
      refill_answer_ = message.refill_answer();
      changed_.notify_all();
      return;
    case wire::Message::BODY_NOT_SET:
      break;
  }
  throw NetworkError("the peer sent a message that is not its to send");
}

void Peer::offered(const wire::Offer& offer) {
  const std::string& id = offer.job();
  if (!is_name(id)) throw NetworkError("the peer offers a job without a name");
  if (offers_.size() >= shared_.config.jobs_max() && !offers_.contains(id))
    return refuse(id, "the peer has offered more jobs than jobs_max");
  if (const auto reason = policy_.refusal(offer.terms(), Clock::now())) return refuse(id, *reason);
  const SharedJob job = shared_.jobs.find(id);
  const bool is_ours = job && job->request().peer == name();
  if (is_ours && has_ended(shared_.jobs.status(*job).state))
    return refuse(id, "the job has ended at the other party: submit it under another id");
  offers_[id] = offer.terms();
  if (is_ours) match(job, offer.terms());
}

void Peer::refused(const wire::Refuse& refuse) {
  offers_.erase(refuse.job());
  const SharedJob job = shared_.jobs.find(refuse.job());
  if (!job || job->request().peer != name()) return;
  shared_.metrics.refusal(name(), "peer");
  leave_queue(*job);
  fail(job, {ErrorClass::Disagreement,
             "the peer refuses the job: " + refuse.reason().substr(0, kReasonMax)});
  evaluations_->cancel(*job);
}

// Of the party that does not lead.
void Peer::started(const wire::Start& start) {
  const SharedJob job = shared_.jobs.find(start.job());
  const auto offered = offers_.find(start.job());
  if (start.worker() >= connections_.size() || start.group() == 0 ||
      (start.group() & StreamPort::kLinkBit) != 0)
    throw NetworkError("the peer begins a job on a connection that there cannot be");
  std::string reason;
  if (is_stopping_)
    reason = "the daemon is stopping";
  else if (!job || job->request().peer != name() || offered == offers_.end() ||
           shared_.jobs.status(*job).state != JobState::Queued)
    reason = "the job has not been submitted, or no longer waits";
  else if (!same_terms(job->request().terms, offered->second))
    reason = "the parties have submitted different jobs under this id";
  else if (start.session() < sessions_.retired_below() || !has_session(start.session()))
    reason = "there is no such session, or it has been retired";
  if (!reason.empty()) return refuse(start.job(), reason);
  if (const auto against = policy_.begin(job->request().terms, Clock::now())) {
    fail(job, {ErrorClass::Disagreement, *against});
    return refuse(start.job(), *against);
  }
  offers_.erase(offered);
  std::erase(queue_, job);
  shared_.jobs.set_state(*job, JobState::Running);
  current_ = std::max(current_, start.session());
  if (!evaluations_->begin(start.worker(),
                           {job, shared_.jobs.inputs(*job), start.group(), start.session()})) {
    fail(job, {ErrorClass::Network, "the peer began two jobs on one connection"});
    refuse(start.job(), "two jobs on one connection");
  }
}

}  // namespace tinyot::service
