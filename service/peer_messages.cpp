// The link with a peer, and what its messages ask for.
#include <limits>

#include "base/error.h"
#include "service/configuration.h"
#include "service/event_log.h"
#include "service/foreign_text.h"
#include "service/offer.h"
#include "service/peer.h"

namespace tinyot::service {
namespace {

constexpr const char* kMessagesVersion = "1";  // of peer.proto
constexpr std::chrono::milliseconds kLinkPauseMin{200}, kLinkPauseMax{10'000};
// Offers of a peer whose job this party's clients have not submitted yet, besides jobs_max.
constexpr std::size_t kOffersBytesMax = std::size_t{16} << 20;

}  // namespace

std::vector<net::Parameter> Peer::parameters() const {
  const auto level = [](const engine::Work& work) {
    return std::to_string(work.ands) + " ANDs, " + std::to_string(work.inputs) + " inputs";
  };
  // As each party sees it, the peer is the other one.
  const Party listener = port_.listens() ? me_ : peer_of(me_);
  return {{"version of the daemon's messages", kMessagesVersion},
          {"listening party", name_of(listener)},
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
      const auto link = std::make_shared<PeerLink>(port_, me_, parameters(), stop, [this] {
        const Lock lock(mutex_);
        offer_waiting();
      });
      const std::stop_callback end(stop, [&] { link->shut_down(); });
      link_is_up(link);
      pause = kLinkPauseMin;
      for (;;) handle(link->receive());
    } catch (const Cancelled&) {
      break;
    } catch (const PeerCheated& error) {
      why = "the peer does not follow the protocol of the link (check: " + error.check() + ")";
    } catch (const std::exception& error) {
      why = foreign_text(error.what());
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
  if (const auto suppressed = link_lines_.admit(Clock::now()))
    log_event(LogLevel::Info, "peer connected", {{"peer", name()}, {"suppressed", *suppressed}});
  send_stock();
  to_offer_.clear();
  for (SharedJob& job : shared_.jobs.of_peer(name())) to_offer_.push_back(std::move(job));
  offer_waiting();
}

void Peer::link_is_down(const std::string& why) {
  std::shared_ptr<PeerLink> ended;  // destroyed without the lock
  const Lock lock(mutex_);
  const bool is_news = link_ || !last_error_.starts_with(why);
  if (const auto suppressed = is_news ? link_lines_.admit(Clock::now()) : std::nullopt)
    log_event(LogLevel::Warning, "peer not connected",
              {{"peer", name()}, {"error", why}, {"suppressed", *suppressed}});
  ended.swap(link_);
  last_error_ = why;
  if (!last_rejection_.empty()) last_error_ += "; rejected: " + last_rejection_;
  last_rejection_.clear();
  for (const SharedJob& job : queue_) shared_.jobs.set_state(*job, JobState::WaitingForPeer);
  queue_.clear();
  to_offer_.clear();
  offers_.clear();
  offers_bytes_ = 0;
  peers_stock_.Clear();
  refill_order_.reset();
  connections_.assign(connections_.size(), {});
  evaluations_->close_below(std::numeric_limits<std::uint64_t>::max());
  changed_.notify_all();
}

void Peer::send(const wire::Message& message) {
  if (link_) link_->send(message);
}

// As many as the link has room for; the rest once it has sent these.
void Peer::offer_waiting() {
  while (link_ && !to_offer_.empty() && link_->has_room()) {
    const SharedJob job = std::move(to_offer_.front());
    to_offer_.pop_front();
    if (shared_.jobs.status(*job).state == JobState::WaitingForPeer) offer(*job);
  }
}

void Peer::offer(const Job& job) { send(offer_of(job.id(), job.request().terms)); }

void Peer::withdraw(const Job& job) {
  wire::Message message;
  message.mutable_withdraw()->set_job(job.id());
  send(message);
}

void Peer::rejected(const std::string& connection) {
  const Lock lock(mutex_);
  last_rejection_ = foreign_text(connection);
  if (const auto suppressed = rejection_lines_.admit(Clock::now()))
    log_event(LogLevel::Warning, "connection rejected",
              {{"peer", name()}, {"error", last_rejection_}, {"suppressed", *suppressed}});
}

void Peer::log_refusal(const std::string& job, const std::string& reason, LogRate& lines) {
  shared_.metrics.refusal(name(), RefusedBy::ThisParty);
  if (const auto suppressed = lines.admit(Clock::now()))
    log_event(LogLevel::Warning, "job refused",
              {{"peer", name()},
               {"job", job},
               {"reason", foreign_text(reason)},
               {"by", name_of(RefusedBy::ThisParty)},
               {"suppressed", *suppressed}});
}

void Peer::refuse(const std::string& job, const std::string& reason) {
  log_refusal(job, reason, refusal_lines_);
  wire::Message message;
  message.mutable_refuse()->set_job(job);
  message.mutable_refuse()->set_reason(foreign_text(reason));
  send(message);
}

void Peer::forget_offer(const std::string& job) {
  const auto found = offers_.find(job);
  if (found == offers_.end()) return;
  offers_bytes_ -= found->second.bytes;
  offers_.erase(found);
}

void Peer::handle(const wire::Message& message) {
  const Lock lock(mutex_);
  switch (message.body_case()) {
    case wire::Message::kOffer:
      return offered(message.offer());
    case wire::Message::kWithdraw: {
      forget_offer(message.withdraw().job());
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
      if (refill_answer_->begins()) is_stock_awaited_ = true;  // after the refill
      changed_.notify_all();
      return;
    case wire::Message::BODY_NOT_SET:
      break;
  }
  throw NetworkError("the peer sent a message that is not party " + name_of(peer_of(me_)) +
                     "'s to send");
}

void Peer::offered(const wire::Offer& offer) {
  const std::string& id = offer.job();
  if (!is_name(id)) throw NetworkError("the peer offers a job without a name");
  forget_offer(id);
  const std::size_t bytes = offer.SpaceUsedLong();
  if (offers_.size() >= shared_.config.jobs_max() || offers_bytes_ + bytes > kOffersBytesMax)
    return refuse(id, "the peer has offered more jobs than this daemon keeps");
  if (const auto reason = policy_.refusal(offer.terms(), Clock::now())) return refuse(id, *reason);
  const SharedJob job = shared_.jobs.find(id);
  const bool is_ours = job && job->request().peer == name();
  if (is_ours && has_ended(shared_.jobs.status(*job).state))
    return refuse(id, "the job has ended at the other party: submit it under another id");
  offers_[id] = {offer.terms(), bytes};
  offers_bytes_ += bytes;
  if (is_ours) match(job, offer.terms());
}

void Peer::refused(const wire::Refuse& refuse) {
  forget_offer(refuse.job());
  const SharedJob job = shared_.jobs.find(refuse.job());
  if (!job || job->request().peer != name()) return;
  shared_.metrics.refusal(name(), RefusedBy::Peer);
  leave_queue(*job);
  fail(job,
       {ErrorClass::Disagreement, "the peer refuses the job: " + foreign_text(refuse.reason())});
  evaluations_->cancel(*job);
}

// Of the party that does not lead.
void Peer::started(const wire::Start& start) {
  const SharedJob job = shared_.jobs.find(start.job());
  const auto offered = offers_.find(start.job());
  if (!is_name(start.job()) || start.worker() >= connections_.size() || start.group() == 0 ||
      (start.group() & StreamPort::kLinkBit) != 0)
    throw NetworkError("the peer begins a job on a connection that there cannot be");
  std::string reason;
  if (is_stopping_)
    reason = "the daemon is stopping";
  else if (!job || job->request().peer != name() || offered == offers_.end() ||
           shared_.jobs.status(*job).state != JobState::Queued)
    reason = "the job has not been submitted, or no longer waits";
  else if (!same_terms(job->request().terms, offered->second.terms))
    reason = "the parties have submitted different jobs under this id";
  else if (start.session() < sessions_.retired_below() || !has_session(start.session()))
    reason = "there is no such session, or it has been retired";
  if (!reason.empty()) return refuse(start.job(), reason);
  if (const auto against = policy_.begin(job->request().terms, Clock::now())) {
    fail(job, {ErrorClass::Disagreement, *against});
    return refuse(start.job(), *against);
  }
  std::erase(queue_, job);
  // The worker's outcome waits for this lock.
  if (const auto against = evaluations_->begin(
          start.worker(), {job, shared_.jobs.inputs(*job), start.group(), start.session()})) {
    fail(job, {ErrorClass::Network, "the peer began the job on a wrong connection: " + *against});
    return refuse(start.job(), *against);
  }
  forget_offer(start.job());
  shared_.jobs.set_state(*job, JobState::Running);
  current_ = std::max(current_, start.session());
}

}  // namespace tinyot::service
