// Keys, as the peer sees it: its requests, its answers, and what both parties have.
#include <algorithm>

#include "base/error.h"
#include "custody/coded.h"
#include "service/event_log.h"
#include "service/foreign_text.h"
#include "service/keys_work.h"

namespace tinyot::service {
namespace {

using custody::KeyState;

constexpr std::size_t kPendingMax = 16;
constexpr std::size_t kSeenMax = 1 << 20;
constexpr std::size_t kHavesBytesMax = 32 << 10;

}  // namespace

void Keys::requested(const wire::KeyRequest& message) {
  const Lock lock(mutex_);
  if (requests_of(false) + tasks_.size() >= 4 * kRequestsMax)
    throw NetworkError("the peer asks for keys faster than a party may");
  put_on_desk([this, message] { receive(message); });
}

// Who has a TLS key that no officer has confirmed learns of no key, label or former TLS key by
// trying them: as long as there are keys of a former TLS key of the peer, the same is said of all
// but those that officers have bound to this one. Fails: KeyError(Unbound).
void Keys::require_confirmed(const custody::KeyId& key) const {
  const auto record = files_.find(key);
  const bool is_confirmed =
      record && record->former_peer.empty() && record->state != KeyState::Destroyed;
  if (!is_confirmed && files_.have_former_peer())
    throw custody::KeyError(custody::KeyProblem::Unbound,
                            "no officer of the other party has bound such a key to this TLS key");
}

void Keys::receive(const wire::KeyRequest& message) {
  SharedRequest request;
  std::string reason;
  try {
    AskedKey asked = asked_from(message, parties_, settings_.me);
    reason = "the daemon could not check it";
    try {
      require_confirmed(asked.terms.key);
      if (const auto& made = asked.terms.attributes; made && made->parent)
        require_confirmed(*made->parent);
      require_possible(asked.terms, files_);
      const custody::KeyAttributes about = attributes_about(asked.terms, files_);
      reason = refusal_by_policy(asked.terms, about);
      auto cost = reason.empty()
                      ? circuits_.cost_of(circuits_of(asked.terms, files_), settings_.high.ands)
                      : std::nullopt;
      if (reason.empty() && !cost) reason = "it takes more material than the stock may have";
      if (cost)
        request = std::make_shared<Request>(*this, std::move(*cost), asked, about, FromPeer{});
    } catch (const Error& error) {
      reason = error.what();
    }
    if (!request)
      request = std::make_shared<Request>(*this, KeyCircuits::Cost{}, asked,
                                          custody::KeyAttributes{}, FromPeer{});
  } catch (const BadKeyMessage& bad) {
    return log_refusal("request", bad.why);
  }
  bool has_to_wait = false;
  custody::RequestId number{};
  {
    const Lock lock(mutex_);
    if (reason.empty()) reason = refusal(*request).value_or("");
    if (reason.empty()) reason = refusal_of_nonces(request->terms(), request->about).value_or("");
    if (reason.empty()) {
      const KeyPolicy::Verdict verdict = policy_.begin(request->policy_terms(), Clock::now());
      reason = verdict.refusal;
      has_to_wait = verdict.needs_approval;
    }
    if (reason.empty()) {
      request->until = Clock::now() + request_time_;
      seen_.emplace(request->id(), time_of(request->id()) + kRemembered);
      requests_.emplace(request->id(), request);
    }
    if (has_to_wait) {
      request->until = std::min(request->asked.expires, Clock::now() + approval_time_);
      request->number = number = random_request();
      request->state = Request::State::Waiting;
    }
  }
  if (!reason.empty()) {
    log_refusal(name_of(request->terms().operation), reason);
    return answer(*request, false, reason, {});
  }
  if (!has_to_wait) return accept(request);
  log_event(LogLevel::Info, "key request waits for approval",
            {{"peer", settings_.name}, {"request", hex_of(number)}});
  wire::Message waiting;
  custody::put_bytes(request->id(), *waiting.mutable_key_waits()->mutable_request());
  link_.send(waiting);
}

// Before any circuit is made for it; the rates are counted when it is taken up.
std::string Keys::refusal_by_policy(const KeyTerms& terms, const custody::KeyAttributes& about) {
  const Lock lock(mutex_);
  return policy_.verdict(policy_terms(FromPeer{}, terms, about), Clock::now()).refusal;
}

// Why a request of the peer is not taken up, besides the policy.
std::optional<std::string> Keys::refusal(const Request& request) const {
  if (has_peer_cheated_)
    return "a check with the other party has failed, so its keys are suspended";
  if (is_stopping_ || !is_linked_) return "the daemon is stopping";
  const auto now = Clock::now();
  for (const auto time : {request.asked.begun, time_of(request.id())})
    if (time > now + kClockDifferenceMax || time < now - kClockDifferenceMax)
      return "the clocks of the parties differ by more than 10 minutes";
  if (request.asked.expires <= now) return "it has expired";
  if (requests_.contains(request.id()) || seen_.contains(request.id()))
    return "there was a request with this number before";
  if (seen_.size() >= kSeenMax) return "there were too many requests in the last minutes";
  if (requests_of(false) >= kRequestsMax)
    return "there are " + std::to_string(kRequestsMax) + " requests of this party already";
  const KeyTerms& terms = request.terms();
  if (makes_key(terms.operation) && !files_.find(terms.key)) {
    const auto records = files_.records();
    const std::size_t being_made = keys_being_made();
    if (records.size() + being_made >= keys_max_)
      return "there are as many keys as keys_max allows";
    if (being_made + static_cast<std::size_t>(std::ranges::count(records, KeyState::Pending,
                                                                 &custody::KeyRecord::state)) >=
        kPendingMax)
      return "too many keys are not settled yet";
  }
  return std::nullopt;
}

void Keys::accept(const SharedRequest& request) {
  AuditHead head;
  std::optional<Failure> failure;
  std::string told = "the other party cannot log it";
  try {
    note_use(request->terms());
    head = audit_.append(request->line(AuditLine::Event::Begin));
  } catch (const custody::KeyError& error) {  // it has been used as often as it may
    told = error.what();
    failure = Failure{std::current_exception(), told};
  } catch (const std::exception& error) {
    errors_.write(error.what());
    failure = Failure{std::make_exception_ptr(StoreError(error.what())), error.what()};
  }
  {
    const Lock lock(mutex_);
    if (!note_begun(request, head)) return;
    if (!failure) request->state = Request::State::Accepted;
    request->until = Clock::now() + request_time_;
  }
  if (failure) {
    answer(*request, false, told, {});
    const Lock lock(mutex_);
    return finish(request, std::move(failure));
  }
  answer(*request, true, {}, head);
  if (settings_.leads()) queue({request});
}

void Keys::answer(const Request& request, bool is_accepted, const std::string& reason,
                  const AuditHead& head) {
  wire::Message message;
  *message.mutable_key_answer() =
      message_of({request.id(), is_accepted, foreign_text(reason), head, {}},
                 request.asked.signed_by, parties_, identity_);
  link_.send(message);
}

void Keys::answered(const wire::KeyAnswer& message) {
  const auto id = request_in(message.said());
  if (!id) throw NetworkError("the peer's answer to a key request is malformed");
  SharedRequest request;
  {
    const Lock lock(mutex_);
    const auto at = requests_.find(*id);
    if (at == requests_.end() || at->second->state != Request::State::Asked) return;  // too late
    request = at->second;
    AnsweredKey answered;
    try {
      answered = answer_from(message, request->asked.signed_by, parties_);
    } catch (const BadKeyMessage& bad) {
      throw NetworkError("the peer's answer to a key request cannot be used: " + bad.why);
    }
    request->answer = std::move(answered.signed_by);
    if (!answered.is_accepted) {
      const std::string why = settings_.name + " refuses: " + answered.reason;
      return finish(request, failed(KeyFailure::Refused, why));
    }
    request->state = Request::State::Accepted;
    request->until = Clock::now() + request_time_;
  }
  if (settings_.leads()) queue({request});
}

// As long as an officer there may take.
void Keys::waits(const wire::KeyWaits& message) {
  custody::RequestId id{};
  if (!custody::take_bytes(message.request(), id))
    throw NetworkError("`key_waits` names an invalid request");
  const Lock lock(mutex_);
  const auto at = requests_.find(id);
  if (at == requests_.end() || at->second->state != Request::State::Asked) return;
  const SharedRequest request = at->second;
  // It has not begun, and nobody would have its result.
  if (request->is_abandoned)
    return finish(request, failed(KeyFailure::TimedOut, "its client has gone"));
  request->waits_at_peer = true;
  request->until = request->asked.expires;
}

// What may have changed since the request was taken up.
std::optional<std::string> Keys::refusal_to_start(const Request& request) const {
  if (Clock::now() >= request.asked.expires) return "it has expired";
  try {
    require_possible(request.terms(), files_);
  } catch (const Error& error) {
    return error.what();
  }
  const KeyPolicy::Verdict verdict = policy_.recheck(request.policy_terms());
  if (!verdict.refusal.empty()) return verdict.refusal;
  if (verdict.needs_approval && !request.is_approved) return "it needs an approval since then";
  return refusal_of_nonces(request.terms(), request.about);
}

void Keys::started(const wire::KeyStart& start) {
  std::shared_ptr<Work> work;
  std::string reason;
  {
    const Lock lock(mutex_);
    if (start.request().empty()) {
      custody::KeyId key;
      if (!custody::take_bytes(start.key(), key.bytes))
        throw NetworkError("`key_start` names neither a request nor a key");
      if (!files_.find(key) && !peers_.contains(key))
        reason = "neither party has such a key";
      else if (!may_settle(key))
        reason = "the key was settled a moment ago";
      auto settling = std::make_shared<Settling>(*this, cost_to_settle(key), key);
      if (reason.empty()) settling_[key] = settling;
      work = settling;
    } else {
      custody::RequestId id{};
      if (!custody::take_bytes(start.request(), id))
        throw NetworkError("`key_start` names an invalid request");
      const auto at = requests_.find(id);
      if (at != requests_.end() && at->second->state == Request::State::Accepted &&
          !at->second->is_running && at->second->attempts == 0) {
        reason = refusal_to_start(*at->second).value_or("");
        work = at->second;
      } else {
        reason = "there is no such request, or it does not wait";
      }
    }
    if (has_peer_cheated_) reason = "keys are suspended, since a check has failed";
    if (work && reason.empty()) {
      ++work->attempts;
      work->group = start.group();
      work->is_loaded = start.is_loaded();
      work->is_running = true;
      if (const auto changed = work->changed_key()) changed_since_.insert(*changed);
    }
  }
  if (work && reason.empty()) {
    try {
      const auto refusal = scheduler_.begin(work, start);
      if (!refusal) return;
      reason = *refusal;
    } catch (const NetworkError&) {
      const Lock lock(mutex_);
      work->is_running = false;  // the link ends, and the request with it
      throw;
    }
  }
  if (!work) {
    wire::Message message;
    message.mutable_key_end()->set_request(start.request());
    message.mutable_key_end()->set_reason(reason);
    return link_.send(message);
  }
  const Lock lock(mutex_);
  work->is_running = false;
  if (const auto request = std::dynamic_pointer_cast<Request>(work))
    return finish(request, failed(KeyFailure::Refused, reason));
  std::erase_if(settling_, [&](const auto& each) { return each.second == work; });
  send_end(*work, reason);
}

void Keys::send_end(const Work& work, const std::string& reason) {
  wire::Message message;
  work.name_in(*message.mutable_key_end());
  message.mutable_key_end()->set_reason(foreign_text(reason));
  link_.send(message);
}

void Keys::ended(const wire::KeyEnd& end) {
  std::shared_ptr<Work> to_cancel;
  {
    const Lock lock(mutex_);
    custody::RequestId id{};
    custody::KeyId key;
    if (custody::take_bytes(end.request(), id)) {
      const auto at = requests_.find(id);
      if (at == requests_.end()) return;
      const SharedRequest request = at->second;
      request->is_done_at_peer = true;
      if (request->is_running && end.reason().empty()) return;
      const std::string why =
          end.reason().empty()
              ? "the connection was lost after " + settings_.name + " had its result: repeat it"
              : settings_.name + ": " + foreign_text(end.reason());
      to_cancel = request;
      request->may_be_asked_anew = request->is_running;
      finish(request, failed(KeyFailure::Unavailable, why));
    } else if (custody::take_bytes(end.key(), key.bytes)) {
      const auto at = settling_.find(key);
      if (at == settling_.end()) return;
      at->second->is_done_at_peer = true;
      to_cancel = at->second;
      if (!to_cancel->is_running) settling_.erase(at);
      to_settle_.insert(key);
    } else {
      throw NetworkError("`key_end` names neither a request nor a key");
    }
  }
  scheduler_.cancel(to_cancel);
}

void Keys::link_is_up() {
  const Lock lock(mutex_);
  is_linked_ = true;
  link_number_ = files_.begin_link();
  peers_.clear();
  has_peer_told_all_ = false;
  changed_since_.clear();
  to_tell_.emplace();
  for (const custody::KeyRecord& record : files_.records())
    to_tell_->push_back(record.attributes.id);
  tell_haves();
}

void Keys::link_has_room() {
  const Lock lock(mutex_);
  tell_haves();
}

// As many as the link has room for; the rest once it has sent these.
void Keys::tell_haves() {
  while (is_linked_ && to_tell_ && link_.has_room()) {
    wire::Message message;
    wire::KeyHaves& haves = *message.mutable_key_haves();
    for (std::size_t bytes = 0; !to_tell_->empty() && bytes < kHavesBytesMax;) {
      const custody::KeyId id = to_tell_->front();
      to_tell_->pop_front();
      const auto have = custody::message_about(id, files_.have(id));
      custody::put_bytes(have, *haves.add_have());
      bytes += have.size();
    }
    haves.set_is_last(to_tell_->empty());
    if (to_tell_->empty()) to_tell_.reset();
    link_.send(message);
  }
}

void Keys::link_is_down() {
  const Lock lock(mutex_);
  is_linked_ = false;
  to_tell_.reset();
  blocked_.clear();
  std::erase_if(settling_, [](const auto& each) { return !each.second->is_running; });
  settled_.clear();
  to_settle_.clear();
  end_waiting(KeyFailure::Unavailable,
              "the link with " + settings_.name + " has ended: repeat the request");
}

void Keys::told(const wire::KeyHaves& haves) {
  std::vector<std::shared_ptr<Work>> to_queue;
  {
    const Lock lock(mutex_);
    // Once, as all keys are looked at then, under the lock.
    if (haves.is_last() && std::exchange(has_peer_told_all_, true))
      throw NetworkError("the peer ends what it has of keys twice");
    std::set<custody::KeyId> changed;
    for (const std::string& have : haves.have()) {
      custody::ToldKey told;
      try {
        told = custody::told_key_from(std::as_bytes(std::span(have)));
      } catch (const PeerCheated&) {
        throw NetworkError("what the peer has of a key is malformed");
      }
      if (peers_.size() >= 2 * keys_max_ && !peers_.contains(told.id))
        throw NetworkError("the peer has more keys than two parties may have");
      // What is loaded of it may be forgotten there.
      if (told.have && told.have->state != KeyState::Active) forget(told.id);
      peers_[told.id] = std::move(told.have);
      changed_since_.erase(told.id);
      changed.insert(told.id);
    }
    // What the peer has not named it does not have.
    if (haves.is_last())
      for (const custody::KeyRecord& record : files_.records())
        if (peers_.try_emplace(record.attributes.id).second) changed.insert(record.attributes.id);
    for (const custody::KeyId& id : changed) {
      const auto mine = files_.have(id);
      const auto& theirs = peers_.at(id);
      const auto record = files_.find(id);
      if (custody::settle_step(mine, theirs).kind == custody::SettleKind::PeerDestroyed ||
          (record && record->has_peer_destroyed))
        note_peers_share(id);
      if (needs_settling(id)) settle_if_needed(id, to_queue);
    }
    if (haves.is_last()) note_missing_keys();
  }
  queue(to_queue);
}

// Active keys of which one of the parties has nothing, not even a tombstone: its directory has been
// lost, or set back.
void Keys::note_missing_keys() {
  std::uint64_t here = 0, at_peer = 0;
  for (const auto& [id, theirs] : peers_) {
    const auto mine = files_.find(id);
    if (!mine && theirs && theirs->state == KeyState::Active) ++here;
    if (mine && mine->state == KeyState::Active && !theirs) ++at_peer;
  }
  if (here + at_peer == 0) return;
  if (const auto suppressed = missing_lines_.admit(LogRate::Clock::now()))
    log_event(LogLevel::Warning, "keys are missing",
              {{"peer", settings_.name},
               {"missing_here", here},
               {"missing_at_peer", at_peer},
               {"suppressed", *suppressed}});
}

void Keys::announce(const custody::KeyId& id) {
  std::vector<std::shared_ptr<Work>> to_queue;
  {
    const Lock lock(mutex_);
    if (!is_linked_) return;
    // Of two threads, the one that sends last says what is so last.
    wire::Message message;
    custody::put_bytes(custody::message_about(id, files_.have(id)),
                       *message.mutable_key_haves()->add_have());
    link_.send(message);
    if (needs_settling(id)) settle_if_needed(id, to_queue);
  }
  queue(to_queue);
}

}  // namespace tinyot::service
