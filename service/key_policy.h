// Who may do what with which keys of custody: requests of the peer, and those of this party's own
// clients. What no rule allows is refused.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config.pb.h"
#include "custody/key.h"
#include "service/access.h"

namespace tinyot::service {

// Of what is encrypted, signed ...; the most that any rule can allow.
inline constexpr std::uint32_t kPayloadBytesMax = 65536;

// Names of the fields of config::KeyOperation in small letters, as they stand in audit logs.
std::string name_of(config::KeyOperation operation);
std::optional<config::KeyOperation> key_operation_named(std::string_view name);

struct FromPeer {};

// What a request asks for, as far as policies know it.
struct KeyRequestTerms {
  std::variant<FromPeer, Caller> by;
  config::KeyOperation operation = config::ENCRYPT;
  custody::KeyId key;  // of a derivation, and of a key that is made, the new one
  std::string label;
  // Of a derivation: a rule names it, too.
  std::optional<std::pair<custody::KeyId, std::string>> parent = {};
  custody::NonceMode nonces = custody::NonceMode::Joint;
  std::uint64_t bytes = 0;  // of the payload and the associated data
  std::optional<std::vector<std::byte>> shown_aad = {};
};

// Not thread-safe.
class KeyPolicy {
 public:
  using Clock = std::chrono::system_clock;

  // Checked by parse_key_policy(). Fails: UsageError for a user that does not exist, with the
  // number of the rule.
  explicit KeyPolicy(config::KeyPolicy policy);

  bool is_empty() const { return policy_.allow().empty(); }
  // The requests that began under `before` count for the rates of the same rules, whose limits may
  // be others.
  void take_counts_of(const KeyPolicy& before);

  struct Verdict {
    std::string refusal;          // empty: it is allowed
    bool needs_approval = false;  // by an officer of this party
  };
  // If several rules allow it, one that takes no approval decides. A refusal says what is nearest
  // to allowing it.
  Verdict verdict(const KeyRequestTerms& terms, Clock::time_point now) const;
  // The same for a request that begins, which counts for the rate of the rule that allows it.
  Verdict begin(const KeyRequestTerms& terms, Clock::time_point now);
  // The same for a request that has begun before, whose rate has been counted.
  Verdict recheck(const KeyRequestTerms& terms) const;
  // Whether a rule for the caller names the key.
  bool names(const Caller& caller, const custody::KeyId& key, std::string_view label) const;
  // Whether both parties may encrypt or decrypt with the key: then its nonces are not a caller's.
  bool both_seal(const custody::KeyId& key, std::string_view label) const;

 private:
  struct Finding {
    std::optional<std::size_t> rule;  // that allows it
    std::string refusal;              // otherwise
  };
  // Rates are those at `now`; without it they do not apply.
  Finding find(const KeyRequestTerms& terms, std::optional<Clock::time_point> now) const;
  Verdict verdict_of(const Finding& found) const;
  const config::KeyRule& rule(std::size_t i) const { return policy_.allow(static_cast<int>(i)); }
  bool is_of(std::size_t rule, const Caller& caller) const;

  config::KeyPolicy policy_;
  std::vector<std::vector<uid_t>> users_;             // by rule
  std::vector<std::deque<Clock::time_point>> begun_;  // by rule, as many as its rate allows
};

}  // namespace tinyot::service
