#include "service/key_allowances.h"

#include <algorithm>

#include "base/error.h"
#include "base/hex.h"
#include "custody/coded.h"
#include "key_allowance.pb.h"
#include "service/event_log.h"
#include "service/key_failed.h"
#include "service/key_message.h"
#include "system/clock.h"

namespace tinyot::service {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

constexpr std::string_view kFile = "allowances";

bool is_by(const KeyAllowance& allowance, const Caller& caller) {
  const auto* const by = std::get_if<Caller>(&allowance.by);
  return by != nullptr && (by->user || !by->name.empty()) && is_same_client(*by, caller);
}

bool fits(const KeyAllowance& allowance, const KeyRequestTerms& terms) {
  const auto* const caller = std::get_if<Caller>(&terms.by);
  return (caller == nullptr ? std::holds_alternative<FromPeer>(allowance.by)
                            : is_by(allowance, *caller)) &&
         allowance.operation == terms.operation &&
         fits_key(allowance.key, terms.key, terms.label) &&
         (!terms.parent || fits_key(allowance.key, terms.parent->first, terms.parent->second));
}

std::string text_of(const KeyAllowance& allowance) {
  const auto* const caller = std::get_if<Caller>(&allowance.by);
  return name_of(allowance.operation) + " with " + allowance.key + " by " +
         (caller == nullptr ? "the peer" : text_of(*caller)) + ", " +
         std::to_string(allowance.uses_left) + " uses until " + system::utc_text(allowance.expires);
}

void put(const KeyAllowance& from, allowances::Allowance& to) {
  custody::put_bytes(from.id, *to.mutable_id());
  const auto* const caller = std::get_if<Caller>(&from.by);
  to.set_by_peer(caller == nullptr);
  if (caller != nullptr && caller->user) to.set_user(*caller->user);
  if (caller != nullptr) to.set_client(caller->name);
  to.set_operation(name_of(from.operation));
  to.set_key(from.key);
  to.set_uses_left(from.uses_left);
  to.set_expires_unix_ms(
      std::chrono::duration_cast<milliseconds>(from.expires.time_since_epoch()).count());
  to.set_granted_by(from.granted_by);
  to.set_peer_identity(from.peer_identity);
}

bool take(const allowances::Allowance& from, KeyAllowance& to) {
  const auto operation = key_operation_named(from.operation());
  if (!custody::take_bytes(from.id(), to.id) || !operation || !is_key_pattern(from.key()) ||
      from.by_peer() == (from.has_user() || !from.client().empty()))
    return false;
  if (!from.by_peer()) {
    Caller caller;
    if (from.has_user()) caller.user = from.user();
    caller.name = from.client();
    to.by = caller;
  }
  to.operation = *operation;
  to.key = from.key();
  to.uses_left = from.uses_left();
  to.expires = system_clock::time_point(milliseconds(from.expires_unix_ms()));
  to.granted_by = from.granted_by();
  to.peer_identity = from.peer_identity();
  return true;
}

auto found(auto& all, const custody::RequestId& id) {
  return std::ranges::find(all, id, &KeyAllowance::id);
}

void log(KeyAudit& audit, const Caller& officer, const char* operation,
         const KeyAllowance& allowance) {
  audit.append({.event = AuditLine::Event::Alone,
                .request = hex_of(random_request()),
                .client = text_of(officer),
                .operation = operation,
                .key = {},
                .outcome = "allowance " + hex_of(allowance.id) + ": " + text_of(allowance)});
}

}  // namespace

KeyAllowances::KeyAllowances(const custody::KeyFiles& files, KeyAudit& audit)
    : files_(files), audit_(audit) {
  const auto content = files_.read_sealed(kFile);
  if (!content) return;
  allowances::Record record;
  bool is_right = record.ParseFromArray(content->data(), static_cast<int>(content->size()));
  for (const auto& each : record.allowance())
    is_right = is_right && take(each, all_.emplace_back());
  if (!is_right)
    throw StoreError("what officers have allowed ahead is not of this version: remove the file " +
                     std::string(kFile) + " beside the keys, and nothing is allowed ahead");
  // Who has another TLS key may be another one.
  const auto dropped = std::erase_if(all_, [&](const KeyAllowance& each) {
    return std::holds_alternative<FromPeer>(each.by) &&
           each.peer_identity != files_.owner().peer_identity;
  });
  if (dropped == 0) return;
  log_event(system::LogLevel::Warning, "what was allowed to the peer's former TLS key is gone",
            {{"allowances", static_cast<std::uint64_t>(dropped)}});
  // If the disk does not take it, they are there again with that TLS key alone.
  try {
    write(all_);
  } catch (const StoreError&) {
  }
}

void KeyAllowances::write(const std::vector<KeyAllowance>& all) const {
  allowances::Record record;
  for (const KeyAllowance& each : all) put(each, *record.add_allowance());
  files_.write_sealed(kFile, custody::serialised(record));
}

KeyAllowance KeyAllowances::grant(const Caller& officer, KeyAllowance allowance,
                                  Clock::time_point now) {
  if (!is_key_pattern(allowance.key))
    throw UsageError("key '" + allowance.key +
                     "' is neither an id of 32 hex digits nor a label, which may end with '*'");
  if (allowance.uses_left < 1 || allowance.uses_left > kUsesMax)
    throw UsageError("uses are out of range: 1 to " + std::to_string(kUsesMax));
  if (allowance.expires <= now || allowance.expires > now + kTimeMax)
    throw UsageError("the time is out of range: 1 second to 366 days");
  if (const auto* const by = std::get_if<Caller>(&allowance.by);
      by != nullptr &&
      (by->user.has_value() != by->name.empty() || by->name.size() > kClientNameMax))
    throw UsageError("it is for the peer, for a user, or for a client, whose name has at most " +
                     std::to_string(kClientNameMax) + " characters");
  if (is_by(allowance, officer))
    throw KeyFailed(KeyFailure::Refused, "who asks does not approve the request, nor ahead of it");
  allowance.id = random_request();
  allowance.granted_by = service::text_of(officer);
  if (std::holds_alternative<FromPeer>(allowance.by))
    allowance.peer_identity = files_.owner().peer_identity;
  const std::lock_guard writing(writing_);
  std::vector<KeyAllowance> next = all(now);
  if (next.size() >= kMax)
    throw KeyFailed(KeyFailure::Full, "there are " + std::to_string(kMax) +
                                          " of what officers have allowed ahead already");
  next.push_back(allowance);
  log(audit_, officer, "allow", allowance);
  write(next);
  const std::lock_guard lock(mutex_);
  all_ = std::move(next);
  return allowance;
}

bool KeyAllowances::withdraw(const Caller& officer, const custody::RequestId& id) {
  const std::lock_guard writing(writing_);
  std::vector<KeyAllowance> next;
  {
    const std::lock_guard lock(mutex_);
    next = all_;
  }
  const auto at = found(next, id);
  if (at == next.end()) return false;
  log(audit_, officer, "withdraw", *at);
  next.erase(at);
  {
    const std::lock_guard lock(mutex_);
    all_ = next;
  }
  write(next);
  return true;
}

// The one that expires first.
std::optional<custody::RequestId> KeyAllowances::use(const KeyRequestTerms& terms,
                                                     Clock::time_point now) {
  const std::lock_guard writing(writing_);
  std::vector<KeyAllowance> next;
  custody::RequestId id{};
  {
    const std::lock_guard lock(mutex_);
    KeyAllowance* best = nullptr;
    for (KeyAllowance& each : all_)
      if (each.uses_left > 0 && now < each.expires && fits(each, terms) &&
          (best == nullptr || each.expires < best->expires))
        best = &each;
    if (best == nullptr) return std::nullopt;
    --best->uses_left;
    id = best->id;
    next = all_;
  }
  write(next);
  return id;
}

bool KeyAllowances::holds(const custody::RequestId& id, Clock::time_point now) const {
  const std::lock_guard lock(mutex_);
  const auto at = found(all_, id);
  return at != all_.end() && now < at->expires;
}

std::vector<KeyAllowance> KeyAllowances::all(Clock::time_point now) const {
  const std::lock_guard lock(mutex_);
  std::vector<KeyAllowance> valid;
  std::ranges::copy_if(all_, std::back_inserter(valid),
                       [&](const KeyAllowance& each) { return now < each.expires; });
  return valid;
}

}  // namespace tinyot::service
