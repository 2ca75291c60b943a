// What several officers of this party have to agree to (config.Custody.quorum): to import,
// deactivate, destroy or restore a key, to bind keys to other TLS keys, and to resume one or all of
// a peer.
//
// The call of the first officer waits until the others have confirmed it, and keeps what it was
// given, such as the bytes of a key; nothing of it is anywhere else. The others confirm what they
// are shown, which cannot change. Once as many different officers as it takes have confirmed it,
// the first one among them, the call goes on, and does it once.
//
// An officer is a user of the socket, or a name in a certificate: who has both counts twice.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "custody/key_files.h"
#include "service/key_audit.h"
#include "service/key_call.h"

namespace tinyot::service {

// Thread-safe. Waits with no lock of others held.
class KeyQuorum {
 public:
  using Clock = std::chrono::system_clock;

  // As it is shown. Nothing of it is secret.
  struct Step {
    std::string operation;                   // "import", "destroy", "resume_peer" ...
    std::optional<custody::KeyId> key = {};  // absent: all with the peer
    std::string label = {};
    std::uint64_t bytes = 0;   // of what was given with it
    std::string details = {};  // the rest of what tells it from others
  };
  struct Waiting {
    custody::RequestId id{};
    Step step;
    std::vector<Caller> officers;  // who have confirmed it; who has asked is the first
    std::uint32_t quorum = 0;
    Clock::time_point expires;
  };

  // The log outlives it.
  KeyQuorum(std::string peer, std::uint32_t officers, std::chrono::seconds time, KeyAudit& audit)
      : peer_(std::move(peer)), quorum_(officers), time_(time), audit_(audit) {}

  // Returns once enough officers have confirmed it: its number, for the line of the log that says
  // that it is done. Empty if the one who asks is enough. Each confirmation is in the log before it
  // counts. Fails: KeyFailed if one of them denies it, nobody confirms it in time, or the client
  // has gone; StoreError.
  std::optional<custody::RequestId> await(const KeyCall& call, const Step& step);

  // Of another officer. Returns false if nothing with this number waits. Who denies may be any of
  // them. Fails: KeyFailed if the officer has confirmed it; UsageError if it ends meanwhile;
  // StoreError.
  bool decide(const Caller& officer, const custody::RequestId& id, bool is_approved);

  std::vector<Waiting> waiting() const;
  // What waits fails, and later steps do.
  void stop();

 private:
  struct Pending {
    Waiting waiting;
    bool is_denied = false;
  };
  void require_room(const Caller& officer) const;  // under the lock
  std::size_t confirmed(const Pending& pending, const KeyCall& call) const;
  void log(const Caller& officer, const char* operation, const custody::RequestId& id,
           const Step& step);

  static constexpr std::size_t kWaitingMax = 16, kWaitingOfOfficerMax = 4;

  const std::string peer_;
  const std::uint32_t quorum_;
  const std::chrono::seconds time_;
  KeyAudit& audit_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<custody::RequestId, Pending> pending_;
  bool is_stopping_ = false;
};

}  // namespace tinyot::service
