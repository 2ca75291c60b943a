// The evidence of what keys of custody were used for: a file of lines, each a JSON object that has
// the hash of the line before. A line is durable before the operation goes on, and has what the
// peer has signed about it, so that both parties' logs have each use, even if one of them
// disconnects.
//
// Lines have no payload, result, share or check value.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "crypto/digest.h"
#include "net/tls/signature.h"
#include "system/file.h"

namespace tinyot::service {

// A line of a log: its number, counted from 1, and its hash. 0 of an empty log.
struct AuditHead {
  std::uint64_t sequence = 0;
  crypto::Digest hash;
};

// A keys.Said of a party, and its signature.
struct SignedMessage {
  std::vector<std::byte> message;
  net::Signature signature;
};
inline constexpr std::string_view kCustodyDomain = "tinyot custody 1";

struct AuditLine {
  // Alone: what an officer of this party does without the peer.
  enum class Event : std::uint8_t { Begin, End, Alone };
  Event event = Event::Begin;
  std::string request;    // 32 hex digits
  bool is_own = true;     // this party has asked
  std::string client;     // of the requester
  std::string operation;  // "encrypt", "create" ...
  std::string key;        // its id: 32 hex digits
  std::uint64_t bytes = 0, aad_bytes = 0;
  // An end has "done" or why not, an approval the request that it is for.
  std::string outcome = {};
  // What the peer has signed: the request when it begins, if it is the peer's; the answer when a
  // request of this party ends, with what this party had asked.
  std::optional<SignedMessage> signed_by_peer = {};
  std::vector<std::byte> asked = {};
};

// Thread-safe. Fails: StoreError; the operation must then not go on.
class KeyAudit {
 public:
  // Continues the file, or begins it (mode 0600); no other object, of any process, writes to it. A
  // line that was cut off by a crash is removed: the operation has not gone on. Fails: StoreError
  // if a whole line is not one of such a file. The file is read line by line, whatever its size.
  // `wants`: which requests take_requests() returns, of those that its lines begin.
  explicit KeyAudit(std::filesystem::path file,
                    const std::function<bool(const std::string& request)>& wants = {});

  // At the start. Once.
  std::vector<std::string> take_requests() { return std::move(requests_); }
  // The last line that is durable.
  AuditHead head() const;
  // Durable on return. Lines of several threads are synced together. Fails: StoreError. A line that
  // the disk had no room for is not there, and later ones may be; after a sync that has failed
  // there are none until a restart, which reads what is there.
  AuditHead append(const AuditLine& line);
  // Whether only a restart helps.
  bool has_failed() const;
  // Whether an officer has deactivated the key: 32 hex digits.
  bool has_deactivated(const std::string& key) const;

 private:
  void note(const AuditLine& line);  // under the lock
  void take_back();                  // under the lock
  void require_whole() const;        // under the lock
  void sync_up_to(std::uint64_t sequence);

  const std::filesystem::path path_;
  mutable std::mutex mutex_;
  std::mutex sync_mutex_;
  system::File file_;
  std::uint64_t end_ = 0;  // bytes of whole lines
  AuditHead head_;         // written
  AuditHead synced_;       // durable
  bool has_failed_ = false;
  std::vector<std::string> requests_;
  std::set<std::string> deactivated_;
};

// What is wrong with a log; empty if nothing is. With the peer's log, for both logs together: the
// lines that each party's signatures name are in its log, and each request that was accepted is in
// both, once. Takes some 200 bytes of memory for a line, and reports 1,000 problems at most. Fails:
// UsageError if a file cannot be read.
struct FormerKey {
  net::Fingerprint key;
  // No line of a later time is signed with it. A day, as 2026-01-31, at whose begin it ended, or a
  // time in the form of RFC 3339 in UTC, as 2026-01-31T23:59:59Z; may be empty.
  std::string until = {};
};
// Whether a text is such a day or time.
bool is_audit_time(std::string_view text);
struct AuditParties {
  net::Fingerprint own_key, peers_key;
  std::optional<std::filesystem::path> peers_log = {};
  // What the parties had before, the oldest first. What a party has signed with a key, it signs
  // with no earlier one afterwards: that may be with others.
  std::vector<FormerKey> former_own_keys = {}, former_peers_keys = {};
};
struct AuditReport {
  std::uint64_t lines = 0, requests = 0;
  std::vector<std::string> problems;
};
AuditReport verify_audit(const std::filesystem::path& log, const AuditParties& parties);

}  // namespace tinyot::service
