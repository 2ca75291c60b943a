#include "service/key_policy.h"

#include <algorithm>

#include "base/error.h"
#include "service/foreign_text.h"
#include "service/key_operation.h"

namespace tinyot::service {
namespace {

// Labels and ids cannot be mixed up: a pattern of 32 hex digits is an id, and no label.
bool fits(const std::string& pattern, const custody::KeyId& key, std::string_view label) {
  if (const auto id = custody::key_id_from(pattern)) return *id == key;
  if (pattern.ends_with('*'))
    return label.starts_with(std::string_view(pattern).substr(0, pattern.size() - 1));
  return label == pattern;
}

bool names_key(const config::KeyRule& rule, const custody::KeyId& key, std::string_view label) {
  return std::ranges::any_of(rule.key(),
                             [&](const std::string& pattern) { return fits(pattern, key, label); });
}

bool allows_nonces(const config::KeyRule& rule, custody::NonceMode mode) {
  const auto of_rule = mode == custody::NonceMode::Joint ? config::JOINT : config::CALLER;
  if (rule.nonces_size() == 0) return of_rule == config::JOINT;
  return std::ranges::find(rule.nonces(), of_rule) != rule.nonces().end();
}

bool begins_with(const std::vector<std::byte>& text, const std::string& prefix) {
  const auto bytes = std::as_bytes(std::span(prefix));
  return text.size() >= bytes.size() &&
         std::ranges::equal(std::span(text).first(bytes.size()), bytes);
}

// What an operator would write for it.
std::string rule_for(const KeyRequestTerms& terms) {
  std::string by = "peer: true";
  if (const auto* const caller = std::get_if<Caller>(&terms.by)) {
    if (!caller->name.empty())
      by = "client: '" + foreign_text(caller->name) + "'";
    else if (caller->user)
      by = "user: '" + std::to_string(*caller->user) + "'";
    else
      return "it needs a certificate with a name, and the address of tls";
  }
  return "it takes allow { " + by + " key: '" + foreign_text(terms.label) +
         "' may: " + config::KeyOperation_Name(terms.operation) + " }";
}

std::string text_of(const KeyRequestTerms& terms) {
  const auto* const caller = std::get_if<Caller>(&terms.by);
  return name_of(terms.operation) + " with the key " + foreign_text(terms.label) + " by " +
         (caller == nullptr ? "the peer" : text_of(*caller));
}

struct Obstacle {
  int stage = 0;  // the higher, the nearer is the rule to allowing the request
  std::string text;
};
// Of a rule for the key, the operation, and who asks.
std::optional<Obstacle> obstacle_in(const config::KeyRule& rule, const KeyRequestTerms& terms) {
  if (makes_key(terms.operation) && !allows_nonces(rule, terms.nonces))
    return Obstacle{1, "does not allow nonces '" + name_of(terms.nonces) + "' (nonces)"};
  if (terms.bytes > rule.bytes_max())
    return Obstacle{2, "allows " + std::to_string(rule.bytes_max()) + " bytes (bytes_max), not " +
                           std::to_string(terms.bytes) + ","};
  if (rule.has_shown_prefix() &&
      !(terms.shown_aad && begins_with(*terms.shown_aad, rule.shown_prefix())))
    return Obstacle{3, "demands associated data that is shown and begins with '" +
                           foreign_text(rule.shown_prefix()) + "' (shown_prefix)"};
  return std::nullopt;
}

std::optional<Obstacle> rate_reached(const config::KeyRule& rule,
                                     const std::deque<KeyPolicy::Clock::time_point>& begun,
                                     KeyPolicy::Clock::time_point now) {
  if (!rule.has_rate() || begun.size() < rule.rate().requests() ||
      begun.front() + std::chrono::seconds(rule.rate().seconds()) <= now)
    return std::nullopt;
  return Obstacle{4, "allows " + std::to_string(rule.rate().requests()) + " requests in " +
                         std::to_string(rule.rate().seconds()) + " s (rate)"};
}

}  // namespace

std::string name_of(config::KeyOperation operation) {
  std::string name = config::KeyOperation_Name(operation);
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return name;
}

std::optional<config::KeyOperation> key_operation_named(std::string_view name) {
  for (int i = config::KeyOperation_MIN; i <= config::KeyOperation_MAX; ++i) {
    const auto operation = static_cast<config::KeyOperation>(i);
    if (config::KeyOperation_IsValid(i) && name_of(operation) == name) return operation;
  }
  return std::nullopt;
}

KeyPolicy::KeyPolicy(config::KeyPolicy policy) : policy_(std::move(policy)) {
  begun_.resize(static_cast<std::size_t>(policy_.allow_size()));
  for (std::size_t i = 0; i < begun_.size(); ++i) {
    auto& users = users_.emplace_back();
    try {
      for (const std::string& user : rule(i).user()) users.push_back(user_named(user));
    } catch (const UsageError& error) {
      throw UsageError("rule " + std::to_string(i + 1) + ": " + error.what());
    }
  }
}

void KeyPolicy::take_counts_of(const KeyPolicy& before) {
  const auto without_limits = [](config::KeyRule rule) {
    rule.clear_bytes_max();
    rule.clear_rate();
    rule.clear_approval();
    return rule.SerializeAsString();
  };
  std::vector<bool> is_taken(before.begun_.size());
  for (std::size_t i = 0; i < begun_.size(); ++i) {
    for (std::size_t old = 0; old < before.begun_.size(); ++old) {
      if (is_taken[old] || without_limits(rule(i)) != without_limits(before.rule(old))) continue;
      is_taken[old] = true;
      if (!rule(i).has_rate()) break;
      begun_[i] = before.begun_[old];
      while (begun_[i].size() > rule(i).rate().requests()) begun_[i].pop_front();
      break;
    }
  }
}

bool KeyPolicy::is_of(std::size_t i, const Caller& caller) const {
  return (caller.user && std::ranges::find(users_[i], *caller.user) != users_[i].end()) ||
         (!caller.name.empty() &&
          std::ranges::find(rule(i).client(), caller.name) != rule(i).client().end());
}

KeyPolicy::Finding KeyPolicy::find(const KeyRequestTerms& terms,
                                   std::optional<Clock::time_point> now) const {
  const std::string what = text_of(terms);
  const auto* const caller = std::get_if<Caller>(&terms.by);
  Finding found{{}, "the key policy has no rule for " + what + ": " + rule_for(terms)};
  Obstacle nearest;
  for (std::size_t i = 0; i < begun_.size(); ++i) {
    if (!(caller == nullptr ? rule(i).peer() : is_of(i, *caller)) ||
        !names_key(rule(i), terms.key, terms.label) ||
        (terms.parent && !names_key(rule(i), terms.parent->first, terms.parent->second)) ||
        std::ranges::find(rule(i).may(), terms.operation) == rule(i).may().end())
      continue;
    auto obstacle = obstacle_in(rule(i), terms);
    if (!obstacle && now) obstacle = rate_reached(rule(i), begun_[i], *now);
    if (!obstacle && !rule(i).approval()) return {i, {}};
    if (!obstacle && !found.rule) found = {i, {}};
    if (!obstacle || found.rule || obstacle->stage < nearest.stage) continue;
    nearest = *obstacle;
    found.refusal = "the key policy " + obstacle->text + " for " + what;
  }
  return found;
}

KeyPolicy::Verdict KeyPolicy::verdict_of(const Finding& found) const {
  return {found.refusal, found.rule && rule(*found.rule).approval()};
}

KeyPolicy::Verdict KeyPolicy::verdict(const KeyRequestTerms& terms, Clock::time_point now) const {
  return verdict_of(find(terms, now));
}

KeyPolicy::Verdict KeyPolicy::recheck(const KeyRequestTerms& terms) const {
  return verdict_of(find(terms, std::nullopt));
}

KeyPolicy::Verdict KeyPolicy::begin(const KeyRequestTerms& terms, Clock::time_point now) {
  const Finding found = find(terms, now);
  if (found.rule && rule(*found.rule).has_rate()) {
    auto& begun = begun_[*found.rule];
    if (begun.size() == rule(*found.rule).rate().requests()) begun.pop_front();
    begun.push_back(now);
  }
  return verdict_of(found);
}

bool KeyPolicy::both_seal(const custody::KeyId& key, std::string_view label) const {
  bool by_peer = false, by_clients = false;
  for (const config::KeyRule& rule : policy_.allow()) {
    const bool seals = std::ranges::any_of(
        rule.may(), [](int may) { return may == config::ENCRYPT || may == config::DECRYPT; });
    if (!seals || !names_key(rule, key, label)) continue;
    by_peer |= rule.peer();
    by_clients |= rule.user_size() + rule.client_size() > 0;
  }
  return by_peer && by_clients;
}

bool KeyPolicy::names(const Caller& caller, const custody::KeyId& key,
                      std::string_view label) const {
  for (std::size_t i = 0; i < begun_.size(); ++i)
    if (is_of(i, caller) && names_key(rule(i), key, label)) return true;
  return false;
}

}  // namespace tinyot::service
