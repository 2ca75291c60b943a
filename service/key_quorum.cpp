#include "service/key_quorum.h"

#include <algorithm>

#include "base/error.h"
#include "base/hex.h"
#include "service/event_log.h"
#include "service/key_failed.h"
#include "service/key_message.h"

namespace tinyot::service {
namespace {

constexpr std::chrono::milliseconds kOfficersLookInterval{200};

bool is_among(const std::vector<Caller>& officers, const Caller& officer) {
  return std::ranges::any_of(officers,
                             [&](const Caller& each) { return is_same_client(each, officer); });
}

std::string count_text(std::uint32_t officers) {
  return std::to_string(officers) + " officers of this party";
}

}  // namespace

void KeyQuorum::require_room(const Caller& officer) const {
  if (is_stopping_)
    throw KeyFailed(KeyFailure::Unavailable, "the daemon is stopping: repeat the request");
  if (pending_.size() >= kWaitingMax)
    throw KeyFailed(KeyFailure::Full, "there are " + std::to_string(kWaitingMax) +
                                          " operations that wait for officers already");
  const auto of_officer = std::ranges::count_if(pending_, [&](const auto& each) {
    return is_same_client(each.second.waiting.officers.front(), officer);
  });
  if (static_cast<std::size_t>(of_officer) >= kWaitingOfOfficerMax)
    throw KeyFailed(KeyFailure::Full, "there are " + std::to_string(kWaitingOfOfficerMax) +
                                          " operations of this officer that wait already");
}

void KeyQuorum::log(const Caller& officer, const char* operation, const custody::RequestId& id,
                    const Step& step) {
  audit_.append({.event = AuditLine::Event::Alone,
                 .request = hex_of(random_request()),
                 .client = text_of(officer),
                 .operation = operation,
                 .key = step.key ? custody::text_of(*step.key) : "",
                 .bytes = step.bytes,
                 .outcome = "operation " + hex_of(id) + ": " + step.operation +
                            (step.details.empty() ? "" : ", " + step.details)});
}

// Those who are officers still.
std::size_t KeyQuorum::confirmed(const Pending& pending, const KeyCall& call) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(pending.waiting.officers, [&](const Caller& officer) {
        return call.may_manage_keys && call.may_manage_keys(officer);
      }));
}

std::optional<custody::RequestId> KeyQuorum::await(const KeyCall& call, const Step& step) {
  if (quorum_ <= 1) return std::nullopt;
  const custody::RequestId id = random_request();
  {
    const std::lock_guard lock(mutex_);
    require_room(call.caller);
  }
  log(call.caller, "ask", id, step);
  std::unique_lock lock(mutex_);
  require_room(call.caller);
  Pending& pending = pending_[id];
  pending.waiting = {id, step, {call.caller}, quorum_, Clock::now() + time_};
  const struct Removed {
    KeyQuorum& of;
    const custody::RequestId& id;
    ~Removed() { of.pending_.erase(id); }
  } removed{*this, id};
  log_event(LogLevel::Info, "operation waits for officers",
            {{"peer", peer_}, {"operation", step.operation}, {"request", hex_of(id)}});
  for (;; changed_.wait_for(lock, kOfficersLookInterval)) {
    if (is_stopping_)
      throw KeyFailed(KeyFailure::Unavailable, "the daemon is stopping: repeat the request");
    if (pending.is_denied)
      throw KeyFailed(KeyFailure::Refused, "an officer of this party denied it");
    if ((call.is_gone && call.is_gone()) || !call.may_manage_keys ||
        !call.may_manage_keys(call.caller))
      throw KeyFailed(KeyFailure::Unavailable, "the client has gone, or has lost its right");
    if (Clock::now() >= pending.waiting.expires)
      throw KeyFailed(KeyFailure::TimedOut,
                      "it takes " + count_text(quorum_) + ", who did not confirm it in time");
    if (confirmed(pending, call) >= quorum_) return id;
  }
}

bool KeyQuorum::decide(const Caller& officer, const custody::RequestId& id, bool is_approved) {
  Step step;
  {
    const std::lock_guard lock(mutex_);
    const auto at = pending_.find(id);
    if (at == pending_.end()) return false;
    if (is_approved && is_among(at->second.waiting.officers, officer))
      throw KeyFailed(KeyFailure::Refused,
                      text_of(officer) + " has confirmed it: it takes " + count_text(quorum_));
    step = at->second.waiting.step;
  }
  log(officer, is_approved ? "approve" : "deny", id, step);
  const std::lock_guard lock(mutex_);
  const auto at = pending_.find(id);
  if (at == pending_.end()) throw UsageError("operation " + hex_of(id) + " has ended meanwhile");
  auto& officers = at->second.waiting.officers;
  if (!is_approved)
    at->second.is_denied = true;
  else if (!is_among(officers, officer))
    officers.push_back(officer);
  changed_.notify_all();
  return true;
}

std::vector<KeyQuorum::Waiting> KeyQuorum::waiting() const {
  const std::lock_guard lock(mutex_);
  std::vector<Waiting> all;
  for (const auto& [id, pending] : pending_) all.push_back(pending.waiting);
  return all;
}

void KeyQuorum::stop() {
  const std::lock_guard lock(mutex_);
  is_stopping_ = true;
  changed_.notify_all();
}

}  // namespace tinyot::service
