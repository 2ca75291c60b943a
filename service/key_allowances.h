// What an officer of this party has approved ahead: so many requests for an operation, of a client
// or the peer, with the keys of a pattern, until a time. Each takes the place of an approval of one
// request whose rule wants one; policies and states count as before.
//
// They are durable, sealed as the records of keys. A use is taken off the disk before its request
// goes on: no crash gives it back. Whoever sets the disk back sets them back, too, as a file of a
// policy; the logs tell.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "custody/key_files.h"
#include "service/key_audit.h"
#include "service/key_policy.h"

namespace tinyot::service {

struct KeyAllowance {
  custody::RequestId id{};
  std::variant<FromPeer, Caller> by = {};  // of a caller the user or the name
  config::KeyOperation operation = config::ENCRYPT;
  std::string key = {};  // label, label with "*" at its end, or id
  std::uint64_t uses_left = 0;
  std::chrono::system_clock::time_point expires = {};
  std::string granted_by = {};
  std::string peer_identity = {};  // of the peer: the fingerprint of its TLS key
};

// Thread-safe. What is written to the disk is waited for by those who grant, use and withdraw
// alone.
class KeyAllowances {
 public:
  using Clock = std::chrono::system_clock;
  static constexpr std::uint64_t kUsesMax = 1'000'000;
  static constexpr std::chrono::seconds kTimeMax = std::chrono::hours(24 * 366);

  // Both outlive it. Those of the peer are for the TLS key that it had: with another one, they are
  // not there. Fails: StoreError if the file is damaged, or not of these keys.
  KeyAllowances(const custody::KeyFiles& files, KeyAudit& audit);

  // The number, and the TLS key of the peer, are given to it. Who asks does not allow it. Fails:
  // KeyFailed; UsageError; StoreError, and then it may be there after a restart.
  KeyAllowance grant(const Caller& officer, KeyAllowance allowance, Clock::time_point now);
  // Returns false if there is none with this number. Fails: StoreError; it is withdrawn until a
  // restart at least.
  bool withdraw(const Caller& officer, const custody::RequestId& id);

  // Takes a use of one that fits; durable on return. Empty if none fits. Fails: StoreError; the use
  // is gone.
  std::optional<custody::RequestId> use(const KeyRequestTerms& terms, Clock::time_point now);
  // Whether what was used still counts: it has neither expired nor been withdrawn.
  bool holds(const custody::RequestId& id, Clock::time_point now) const;

  std::vector<KeyAllowance> all(Clock::time_point now) const;

 private:
  void write(const std::vector<KeyAllowance>& all) const;

  static constexpr std::size_t kMax = 256;

  const custody::KeyFiles& files_;
  KeyAudit& audit_;
  std::mutex writing_;  // taken before mutex_
  mutable std::mutex mutex_;
  std::vector<KeyAllowance> all_;
};

}  // namespace tinyot::service
