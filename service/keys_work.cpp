#include "service/keys_work.h"

#include <algorithm>

#include "base/hex.h"
#include "custody/coded.h"
#include "service/event_log.h"
#include "service/foreign_text.h"

namespace tinyot::service {
namespace {

// Between two times that the parties settle a key without a new link.
constexpr std::chrono::seconds kSettlePause{5};

// Whether another attempt may succeed: the connection was lost, and the peer has neither cheated
// nor said that this party has.
bool may_be_repeated(const std::exception_ptr& error, const std::optional<JobError>& outcome) {
  if (!error) return outcome && outcome->error_class == ErrorClass::Network;
  try {
    std::rethrow_exception(error);
  } catch (const PeerAborted&) {
    return false;
  } catch (const NetworkError&) {
    return true;
  } catch (const OutOfMaterial&) {
    return true;  // nothing has been sent; the stock is filled
  } catch (...) {
    return false;
  }
}

}  // namespace

KeyRequestTerms Keys::policy_terms(std::variant<FromPeer, Caller> by, const KeyTerms& terms,
                                   const custody::KeyAttributes& about) const {
  KeyRequestTerms for_policy{.by = std::move(by),
                             .operation = terms.operation,
                             .key = terms.key,
                             .label = about.label,
                             .parent = {},
                             .nonces = about.nonces,
                             .bytes = std::uint64_t{terms.bytes} + terms.aad_bytes,
                             .shown_aad = terms.shown_aad};
  if (terms.operation == config::DERIVE) {
    const auto parent = files_.find(about.parent.value());
    for_policy.parent = {*about.parent, parent ? parent->attributes.label : std::string()};
  }
  return for_policy;
}

KeyRequestTerms Keys::Request::policy_terms() const {
  return keys_.policy_terms(by, terms(), about);
}

AuditLine Keys::Request::line(AuditLine::Event event) const {
  AuditLine line{.event = event,
                 .request = hex_of(id()),
                 .is_own = is_own(),
                 .client = asked.client,
                 .operation = name_of(terms().operation),
                 .key = custody::text_of(terms().key),
                 .bytes = terms().bytes,
                 .aad_bytes = terms().aad_bytes};
  if (event == AuditLine::Event::Begin) {
    if (!is_own()) line.signed_by_peer = asked.signed_by;
    return line;
  }
  line.outcome = failure ? foreign_text(failure->text) : "done";
  if (!is_own()) return line;
  line.signed_by_peer = answer;
  if (answer) line.asked = asked.signed_by.message;
  return line;
}

std::optional<custody::KeyId> Keys::Request::changed_key() const {
  if (!changes_key(terms().operation)) return std::nullopt;
  return terms().key;
}

std::optional<custody::KeyId> Keys::Request::used_key() const {
  if (terms().operation == config::DERIVE) return terms().attributes.value().parent;
  if (changes_key(terms().operation)) return std::nullopt;
  return terms().key;
}

void Keys::Request::name_in(wire::KeyStart& start) const {
  custody::put_bytes(id(), *start.mutable_request());
}
void Keys::Request::name_in(wire::KeyEnd& end) const {
  custody::put_bytes(id(), *end.mutable_request());
}
void Keys::Settling::name_in(wire::KeyStart& start) const {
  custody::put_bytes(key.bytes, *start.mutable_key());
}
void Keys::Settling::name_in(wire::KeyEnd& end) const {
  custody::put_bytes(key.bytes, *end.mutable_key());
}

void Keys::Request::take_steps(KeyConnection& connection) {
  result = service::take_steps(terms(), payload.get(), is_loaded, connection);
}

void Keys::Settling::take_steps(KeyConnection& connection) {
  connection.custodian.settle(connection.peer, key);
}

bool Keys::Work::begins(std::size_t worker, std::uint64_t at_group, std::uint64_t session) {
  wire::KeyStart start;
  start.set_worker(static_cast<std::uint32_t>(worker));
  start.set_group(at_group);
  start.set_session(session);
  const Lock lock(keys_.mutex_);
  return keys_.begins(*this, start);
}

// The locks keep this party's part of an earlier step, which has ended at the leading party alone,
// from this one.
void Keys::Work::run(Evaluator& evaluator, std::shared_ptr<KeyConnection>& connection) {
  if (!connection) connection = keys_.connection(evaluator, group);
  std::shared_ptr<std::shared_mutex> used, changed;
  {
    const Lock lock(keys_.mutex_);
    error = nullptr;
    if (used_key()) used = keys_.lock_of(*used_key());
    if (changed_key()) changed = keys_.lock_of(*changed_key());
  }
  const auto shared = used ? std::shared_lock(*used) : std::shared_lock<std::shared_mutex>();
  const auto alone = changed ? std::unique_lock(*changed) : std::unique_lock<std::shared_mutex>();
  try {
    take_steps(*connection);
  } catch (...) {
    error = std::current_exception();
    throw;
  }
}

void Keys::Work::ended(const std::optional<JobError>& outcome) {
  keys_.work_ended(shared_from_this(), outcome);
}

// Uses that follow each other at once would keep a change waiting for ever.
bool Keys::is_change_waiting(const custody::KeyId& key) const {
  return std::ranges::any_of(blocked_, [&](const std::shared_ptr<Work>& work) {
    const auto* const request = dynamic_cast<const Request*>(work.get());
    return work->changed_key() == key &&
           (request == nullptr || request->state == Request::State::Accepted);
  });
}

bool Keys::take_gates(const Work& work) {
  const auto used = work.used_key(), changed = work.changed_key();
  if (used && (gates_[*used].is_changing || is_change_waiting(*used))) return false;
  if (changed && (gates_[*changed].is_changing || gates_[*changed].uses > 0)) return false;
  if (used) ++gates_[*used].uses;
  if (changed) gates_[*changed].is_changing = true;
  return true;
}

std::vector<std::shared_ptr<Keys::Work>> Keys::open_gates(const Work& work) {
  if (const auto used = work.used_key()) --gates_[*used].uses;
  if (const auto changed = work.changed_key()) gates_[*changed].is_changing = false;
  std::erase_if(gates_,
                [](const auto& gate) { return gate.second.uses == 0 && !gate.second.is_changing; });
  return std::exchange(blocked_, {});
}

std::shared_ptr<std::shared_mutex> Keys::lock_of(const custody::KeyId& key) {
  std::erase_if(locks_, [](const auto& lock) { return lock.second.use_count() == 1; });
  auto& lock = locks_[key];
  if (!lock) lock = std::make_shared<std::shared_mutex>();
  return lock;
}

// At the leading party, under the lock of the Scheduler.
bool Keys::begins(Work& work, wire::KeyStart& start) {
  if (is_stopping_ || has_peer_cheated_) {
    if (const auto key = work.changed_key()) settling_.erase(*key);
    return false;
  }
  auto* const request = dynamic_cast<Request*>(&work);
  if (request != nullptr) {
    if (request->state != Request::State::Accepted) return false;
    if (const auto reason = refusal_to_start(*request)) {
      finish(std::static_pointer_cast<Request>(request->shared_from_this()),
             failed(KeyFailure::Refused, *reason));
      return false;
    }
  }
  if (!take_gates(work)) {
    blocked_.push_back(work.shared_from_this());
    return false;
  }
  ++work.attempts;
  work.group = start.group();
  work.is_running = true;
  if (const auto changed = work.changed_key()) changed_since_.insert(*changed);
  if (const auto used = work.used_key()) {
    const auto at = connections_.find(work.group);
    const auto connection = at == connections_.end() ? nullptr : at->second.lock();
    work.is_loaded = connection && connection->session.has_loaded(*used);
  }
  start.set_is_loaded(work.is_loaded);
  work.name_in(start);
  wire::Message message;
  *message.mutable_key_start() = start;
  link_.send(message);
  return true;
}

void Keys::work_ended(const std::shared_ptr<Work>& work, const std::optional<JobError>& outcome) {
  std::vector<std::shared_ptr<Work>> to_queue;
  Lock lock(mutex_);
  work->is_running = false;
  if (settings_.leads()) to_queue = open_gates(*work);
  // Of an epoch that was dropped on whichever connection: with what the peer had of it then, it
  // would be the key.
  for (const auto& key : {work->used_key(), work->changed_key()})
    if (key)
      for (const auto& connection : open_connections()) connection->session.forget_unusable(*key);
  const auto request = std::dynamic_pointer_cast<Request>(work);
  const auto settling = std::dynamic_pointer_cast<Settling>(work);
  const bool may_repeat = outcome && may_be_repeated(work->error, outcome) && is_linked_ &&
                          !is_stopping_ && !has_peer_cheated_ && !work->is_done_at_peer;
  if (request && request->state == Request::State::Accepted) {
    // It is in the logs once, and so is its result: the requester, whose connection was lost, asks
    // anew. Whoever ends it after its result and before the last check gets no second one.
    std::optional<Failure> failure;
    if (outcome) failure = Failure{work->error, outcome->message};
    if (outcome && !work->error)
      failure->error = std::make_exception_ptr(
          KeyFailed(KeyFailure::Unavailable, outcome->message + "; repeat the request"));
    request->may_be_asked_anew = may_repeat;
    finish(request, std::move(failure));
    if (outcome && changes_key(request->terms().operation)) to_settle_.insert(request->terms().key);
  }
  if (settling && settings_.leads() && may_repeat && work->attempts < Work::kAttemptsMax) {
    to_queue.push_back(work);
  } else if (settling) {
    settling_.erase(settling->key);
    if (outcome) to_settle_.insert(settling->key);
    if (outcome)
      log_event(LogLevel::Warning, "key not settled",
                {{"peer", settings_.name},
                 {"key", custody::text_of(settling->key)},
                 {"reason", outcome->message}});
  }
  lock.unlock();
  if (const auto changed = work->changed_key()) {
    errors_.run([&] { deactivate_as_logged(*changed); });
    announce(*changed);
  }
  queue(to_queue);
}

void Keys::queue(const std::vector<std::shared_ptr<Work>>& works) {
  for (const std::shared_ptr<Work>& work : works)
    scheduler_.queue(work, [this, key = work->loaded_key()] { return groups_with(key); });
}

std::shared_ptr<KeyConnection> Keys::connection(Evaluator& evaluator, std::uint64_t group) {
  const Lock lock(mutex_);
  auto connection = std::make_shared<KeyConnection>(evaluator, files_, backups_, link_number_);
  std::erase_if(connections_, [](const auto& at) { return at.second.expired(); });
  connections_[group] = connection;
  return connection;
}

std::vector<std::uint64_t> Keys::groups_with(const custody::KeyId& key) {
  const Lock lock(mutex_);
  std::vector<std::uint64_t> groups;
  for (const auto& [group, at] : connections_)
    if (const auto connection = at.lock(); connection && connection->session.has_loaded(key))
      groups.push_back(group);
  return groups;
}

std::vector<std::shared_ptr<KeyConnection>> Keys::open_connections() const {
  std::vector<std::shared_ptr<KeyConnection>> open;
  for (const auto& [group, at] : connections_)
    if (auto connection = at.lock()) open.push_back(std::move(connection));
  return open;
}

void Keys::forget(const custody::KeyId& key) {
  for (const auto& connection : open_connections()) connection->session.forget(key);
}

KeyCircuits::Cost Keys::cost_to_settle(const custody::KeyId& key) {
  return circuits_.cost_of(circuits_to_settle(key, files_), settings_.high.ands)
      .value_or(KeyCircuits::Cost{});
}

// A peer that always says something new of a key would have its material spent.
bool Keys::may_settle(const custody::KeyId& key) {
  const auto now = Clock::now();
  Settled& settled = settled_[key];
  if (settled.since + kSettlePause <= now) settled = {now, 0};
  return ++settled.times <= Work::kAttemptsMax;
}

// What the parties have said of the key; the peer's messages have been checked.
bool Keys::needs_settling(const custody::KeyId& key) const {
  const auto takes_both = [](custody::SettleKind kind) {
    return kind == custody::SettleKind::Erase || kind == custody::SettleKind::Load;
  };
  const auto at = peers_.find(key);
  if (at == peers_.end()) return false;
  const auto mine = files_.have(key);
  return takes_both(custody::settle_step(mine, at->second).kind) ||
         takes_both(custody::settle_step(at->second, mine).kind);
}

// Of the leading party: what the parties have said of the key may need a step of both.
void Keys::settle_if_needed(const custody::KeyId& key,
                            std::vector<std::shared_ptr<Work>>& to_queue) {
  if (!settings_.leads() || !is_linked_ || is_stopping_ || has_peer_cheated_ ||
      settling_.contains(key))
    return;
  if (!may_settle(key)) {
    to_settle_.insert(key);
    return;
  }
  to_settle_.erase(key);
  auto work = std::make_shared<Settling>(*this, cost_to_settle(key), key);
  settling_.emplace(key, work);
  to_queue.push_back(std::move(work));
}

}  // namespace tinyot::service
