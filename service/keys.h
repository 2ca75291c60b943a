// Custody with one peer: requests of this party's clients and of the peer, from the policy's word
// until their evidence is in both audit logs; and settling keys when the link is up.
//
// A request goes this way (R: the requester's party, P: the other one; A of them leads):
//  1. R: policy, an officer's approval if a rule wants one, the line `begin` in the log, KeyRequest
//  2. P: the same, KeyAnswer. All that is sent is signed and names the head of the sender's log.
//  3. A: as soon as there is a worker, KeyStart: both take the steps on the worker's connection. A
//     begins a step that changes a key once nothing else is done with it, and nothing while one is
//     under way.
//  4. Both: the line `end`, KeyEnd. If the connection was lost, A begins once more.
// Policies and the key's state are checked again when it starts.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include "custody/backups.h"
#include "custody/key_files.h"
#include "service/error_log.h"
#include "service/key_audit.h"
#include "service/key_call.h"
#include "service/key_certificate.h"
#include "service/key_failed.h"
#include "service/key_message.h"
#include "service/key_operation.h"
#include "service/key_policy.h"
#include "service/key_quorum.h"
#include "service/link.h"
#include "service/scheduler.h"

namespace tinyot::service {

// Thread-safe. Its lock is taken after the Scheduler's and before those of Link and the files; it
// calls the Scheduler without.
class Keys {
 public:
  using Clock = std::chrono::system_clock;
  static constexpr Clock::time_point kAnyTime = Clock::time_point::max();

  // A key as this party has it, and what the peer has said last of its state.
  struct View {
    custody::KeyRecord record;
    std::optional<custody::KeyState> peers;
  };
  struct Waiting {
    custody::RequestId number{};  // by which officers decide
    KeyTerms terms;
    std::string label, client;
    bool is_own = false;
    std::chrono::system_clock::time_point expires;
    std::string details;  // kind of the key; of one that is made, what it is made of
  };

  // Fails: UsageError, StoreError if the configuration or the files cannot be used.
  Keys(const config::Peer& peer, const PeerSettings& settings, Shared& shared, Link& link,
       Scheduler& scheduler);
  ~Keys() { stop(); }
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;

  // Reads what the configuration names, and changes nothing. Fails: UsageError.
  static KeyPolicy read_policy(const config::Peer& peer);
  void set_policy(KeyPolicy policy);
  // Later requests fail, and those that have not begun.
  void stop_beginning();
  // Whether a request is being evaluated; and those that are not done yet fail.
  bool is_busy();
  void give_up();
  // On return no thread of this object runs.
  void stop();
  // What has to be done after a time.
  void keep_up();

  // Of clients. A request of the caller; returns when it is done. Key, operation, lengths and
  // public inputs are given in `terms`. An import waits for other officers first (KeyQuorum).
  // Fails: KeyFailed; custody::KeyError; UsageError; StoreError. It waits at most `until`.
  KeyResult ask(const KeyCall& call, KeyTerms terms, KeyPayload payload,
                Clock::time_point until = kAnyTime);
  // Why such a use of a key would fail, as far as is known here; empty if it would not. Nobody is
  // asked.
  std::string why_impossible(const KeyTerms& use);
  // By id, or by label: its newest active version, otherwise the newest. Of the keys that a rule
  // names for the caller; null: of all. Fails: KeyError(Unknown).
  custody::KeyRecord named(const std::string& name, const Caller* caller = nullptr);
  View view(const custody::KeyId& id);
  // Those that the caller's rules name, null: all; of one label, unless that is empty.
  std::vector<View> list(const Caller* caller, const std::string& label = {});
  // Of this party alone, by its officers; each is in the audit log before it is done.
  View suspend(const Caller& officer, const custody::KeyId& id);
  // Of a key that has a newer version.
  View supersede(const Caller& officer, const custody::KeyId& id);
  // The same, by several of them (KeyQuorum). Fail, besides: KeyFailed.
  View deactivate(const KeyCall& call, const custody::KeyId& id);
  // With an epoch, it alone is kept: of a key whose shares do not fit in another one. Refused
  // unless the peer has said that it has a share of it.
  View resume(const KeyCall& call, const custody::KeyId& id,
              const std::optional<custody::Epoch>& only = {});
  View destroy(const KeyCall& call, const custody::KeyId& id);
  // Whoever writes to the medium of backups can make one, since recipients have public keys: of a
  // key of which this party has neither record nor certificate, the caller says the fingerprint.
  // Fails: KeyError(Differs) if the backup is of another key. One that the audit log says was
  // deactivated is so again.
  View restore(const KeyCall& call, custody::BackedUpShare backup,
               const std::optional<crypto::Digest>& fingerprint = {});
  // Fails, besides: KeyFailed(Cheated) if a check fails meanwhile.
  void resume_peer(const KeyCall& call);
  // The key, or all: bound to the TLS keys that the parties have now. Returns those that this call
  // or an earlier one has bound and that have not been refreshed since, which the caller does once
  // both parties have bound them.
  std::vector<View> rebind(const KeyCall& call, const std::optional<custody::KeyId>& id);
  std::vector<std::filesystem::path> backups_of(const std::optional<custody::KeyId>& id) const;
  // What both parties have signed of the key, as a file: once it is there, the same one, for as
  // long as the parties have these TLS keys. Otherwise the peer is asked. Fails: KeyFailed;
  // KeyError(Unknown, State).
  std::vector<std::byte> certificate(const custody::KeyId& id,
                                     const std::function<bool()>& is_gone = {});
  KeyCounts counts();
  // What keys lack that only a restart gives; empty: nothing.
  std::string lacking() const;
  std::vector<Waiting> approvals();
  std::vector<KeyQuorum::Waiting> operations() const { return quorum_.waiting(); }
  // A request that waits, or an operation of an officer, by its number.
  void decide(const Caller& officer, const custody::RequestId& number, bool is_approved);

  // The link, and messages of the peer. Fail: NetworkError if the peer may not send such a message.
  void link_is_up();
  void link_is_down();
  void link_has_room();
  void told(const wire::KeyHaves& haves);
  void requested(const wire::KeyRequest& message);
  void answered(const wire::KeyAnswer& message);
  void waits(const wire::KeyWaits& message);
  void started(const wire::KeyStart& start);  // to the party that does not lead
  void ended(const wire::KeyEnd& end);
  void certified(const wire::KeyCertificate& message);
  // A check has failed in a run with the peer, of custody or not: its keys are suspended until an
  // officer resumes them.
  void peer_cheated();

 private:
  using Lock = std::unique_lock<std::mutex>;
  using Steady = std::chrono::steady_clock;
  class Work;
  class Request;
  class Settling;
  using SharedRequest = std::shared_ptr<Request>;
  struct Gate {
    int uses = 0;
    bool is_changing = false;
  };
  struct Failure {
    std::exception_ptr error;
    std::string text;
  };
  // A certificate for which the peer has been asked.
  struct Certifying {
    SignedMessage own;
    std::optional<KeyCertificate> certificate;
    std::optional<Failure> failure;
  };
  static Failure failed(KeyFailure why, const std::string& text) {
    return {std::make_exception_ptr(KeyFailed(why, text)), text};
  }
  // Of one party.
  static constexpr std::size_t kRequestsMax = 256, kRequestsOfClientMax = 64;
  // Between the clocks of both parties; the numbers of requests are remembered for longer.
  static constexpr std::chrono::minutes kClockDifferenceMax{10}, kRemembered{20};

  // Requests of clients.
  KeyRequestTerms policy_terms(std::variant<FromPeer, Caller> by, const KeyTerms& terms,
                               const custody::KeyAttributes& about) const;
  KeyCircuits::Cost cost_to_settle(const custody::KeyId& key);
  void await_officers_of_import(const KeyCall& call, const custody::KeyAttributes& about,
                                const custody::Share& key);
  SharedRequest make_own(const Caller& caller, const KeyTerms& terms,
                         const custody::KeyAttributes& about);
  void require_allowed(const Caller& caller, const KeyTerms& terms,
                       const custody::KeyAttributes& about);
  void begin_own(const SharedRequest& request, Lock& lock);
  void await(const SharedRequest& request, Lock& lock, const std::function<bool()>& is_over);
  bool may_have_begun(const Request& request) const;  // under the lock
  // Requests of the peer, on the threads of the desk.
  void receive(const wire::KeyRequest& message);
  void require_confirmed(const custody::KeyId& key) const;
  std::optional<std::string> refusal(const Request& request) const;
  std::string refusal_by_policy(const KeyTerms& terms, const custody::KeyAttributes& about);
  void accept(const SharedRequest& request);
  void answer(const Request& request, bool is_accepted, const std::string& reason,
              const AuditHead& head);

  // Certificates.
  std::filesystem::path certificate_of(const custody::KeyId& key) const;
  std::optional<KeyCertificate> kept_certificate(const custody::KeyRecord& record);
  void keep_certificate(const custody::KeyId& key, const KeyCertificate& certificate);
  SignedMessage own_statement(const custody::KeyRecord& record) const;
  SignedMessage peers_statement(const wire::KeyCertificate& message,
                                const custody::KeyRecord& record) const;
  KeyCertificate certificate_for_peer(const wire::KeyCertificate& message,
                                      const custody::KeyId& key);
  void answer_certificate(const wire::KeyCertificate& message, const custody::KeyId& key);

  // All under the lock.
  void end_certifying(const Failure& failure);
  void require_open() const;
  std::size_t requests_of(bool own) const;
  std::size_t requests_of_client(const std::string& client) const;
  std::size_t keys_being_made() const;
  std::optional<std::string> refusal_to_start(const Request& request) const;
  bool begins(Work& work, wire::KeyStart& start);
  bool take_gates(const Work& work);
  bool is_change_waiting(const custody::KeyId& key) const;
  std::vector<std::shared_ptr<Work>> open_gates(const Work& work);
  std::optional<std::string> refusal_of_nonces(const KeyTerms& terms,
                                               const custody::KeyAttributes& about) const;
  void finish(const SharedRequest& request, std::optional<Failure> failure);
  bool note_begun(const SharedRequest& request, const AuditHead& head);
  void log_end(const Request& request);
  void write_ends();
  void tell_haves();
  void note_missing_keys();
  void note_missing_backups(const std::vector<custody::KeyRecord>& records) const;
  void end_waiting(KeyFailure failure, const std::string& why);
  bool may_settle(const custody::KeyId& key);
  bool needs_settling(const custody::KeyId& key) const;
  std::shared_ptr<std::shared_mutex> lock_of(const custody::KeyId& key);
  void settle_if_needed(const custody::KeyId& key, std::vector<std::shared_ptr<Work>>& to_queue);
  std::vector<std::shared_ptr<KeyConnection>> open_connections() const;
  void forget(const custody::KeyId& key);

  void work_ended(const std::shared_ptr<Work>& work, const std::optional<JobError>& error);
  void queue(const std::vector<std::shared_ptr<Work>>& works);
  std::shared_ptr<KeyConnection> connection(Evaluator& evaluator, std::uint64_t group);
  std::vector<std::uint64_t> groups_with(const custody::KeyId& key);
  void note_use(const KeyTerms& terms);
  View step_alone(const Caller& officer, const char* operation, const custody::KeyId& id,
                  const std::function<void()>& step,
                  const std::optional<custody::RequestId>& agreed = {},
                  const std::string& details = {});
  void note_changed(const custody::KeyId& id);
  void deactivate_as_logged(const custody::KeyId& id);
  void require_origin(const custody::BackedUpShare& backup,
                      const std::optional<crypto::Digest>& fingerprint);
  void require_deactivatable(const custody::KeyId& id) const;
  std::string details_of(const KeyTerms& terms, const custody::KeyAttributes& about) const;
  custody::KeyRecord suspended(const custody::KeyId& id);
  struct Alone {
    std::shared_ptr<std::shared_mutex> mutex;
    std::unique_lock<std::shared_mutex> lock;
  };
  // Fails: KeyError(State).
  Alone alone_with(const custody::KeyId& id);
  void write_mark();
  void write_what_failed();
  // What the peer has destroyed (keys_destruction.cpp).
  void note_peers_share(const custody::KeyId& id);  // under the lock
  void begin_noting();                              // under the lock
  void note_next();
  void write_peers_share(const custody::KeyId& id);
  void log_destroyed_by_peer(const custody::KeyId& id);
  void require_kept_at_peer(const custody::KeyId& id, const custody::Epoch& epoch);
  void announce(const custody::KeyId& id);
  void send_end(const Work& work, const std::string& reason);
  void put_on_desk(std::function<void()> task);
  void work_at_desk(const std::stop_token& stop);
  void log_refusal(const std::string& what, const std::string& reason);

  const PeerSettings& settings_;
  Shared& shared_;
  Link& link_;
  Scheduler& scheduler_;
  const net::Identity identity_;
  const KeyParties parties_;
  const std::chrono::seconds request_time_, approval_time_;
  const std::size_t keys_max_;
  const std::filesystem::path directory_;
  custody::KeyFiles files_;
  const custody::Backups backups_;
  KeyAudit audit_;
  KeyQuorum quorum_;
  KeyCircuits circuits_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  KeyPolicy policy_;
  bool is_linked_ = false, is_stopping_ = false, has_peer_cheated_ = false;
  std::uint64_t link_number_ = 0;
  std::mutex cheated_mutex_;     // of the file with has_peer_cheated_, and taken before mutex_
  bool is_mark_written_ = true;  // the file is there if it has to be
  bool is_writing_what_failed_ = false;
  std::uint64_t failed_checks_ = 0;  // since the start
  std::map<custody::RequestId, SharedRequest> requests_;
  std::map<custody::KeyId, std::shared_ptr<Work>> settling_;
  struct Settled {
    Clock::time_point since;
    int times = 0;
  };
  std::map<custody::KeyId, Settled> settled_;             // since the link is up
  std::set<custody::KeyId> to_settle_;                    // later
  std::map<custody::RequestId, Clock::time_point> seen_;  // of the peer, until they expire
  std::map<custody::KeyId, Gate> gates_;                  // of the leading party
  std::vector<std::shared_ptr<Work>> blocked_;            // by gates
  std::map<custody::KeyId, std::shared_ptr<std::shared_mutex>> locks_;
  std::optional<std::deque<custody::KeyId>> to_tell_;  // the peer, since the link is up
  std::map<custody::KeyId, std::optional<custody::KeyHave>> peers_;
  bool has_peer_told_all_ = false;  // since the link is up
  // Keys whose records are to have what the peer says of its share, the first one first; when each
  // was looked at last; and whether one of them is on the desk.
  std::set<std::pair<Steady::time_point, custody::KeyId>> to_note_;
  std::map<custody::KeyId, Steady::time_point> noted_;
  bool is_noting_ = false;
  std::set<custody::KeyId> changed_since_;  // the peer has said last what it has of them
  std::map<std::uint64_t, std::weak_ptr<KeyConnection>> connections_;  // by group

  std::multimap<custody::KeyId, std::shared_ptr<Certifying>> certifying_;

  std::mutex certificates_mutex_;  // of their files; no other lock is taken under it

  std::mutex uses_mutex_;
  struct Uses {
    std::uint64_t count = 0;
    std::uint64_t bound = 0;  // that the record had
  };
  std::map<custody::KeyId, Uses> uses_;

  std::deque<AuditLine> ends_;  // that are not in the log yet
  Clock::time_point write_ends_at_ = kAnyTime;

  LogRate refusal_lines_, end_lines_, missing_lines_, destroyed_lines_;
  ErrorLog errors_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::jthread> desk_;
};

}  // namespace tinyot::service
