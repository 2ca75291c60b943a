// One peer of a daemon: the link, the jobs that both parties want, the stock of material and its
// refills. Party A leads: it begins each job and each refill once both parties have what it takes.
//
// A job is evaluated once this party's client has submitted it, the peer has offered it on the same
// terms, and the policy allows it. A job that fails after it began is never begun again by the
// daemon: the peer may have learnt its outputs, and a second evaluation could use other inputs.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "config.pb.h"
#include "tinyot/preprocess.h"
#include "service/daemon_metrics.h"
#include "service/evaluations.h"
#include "service/jobs.h"
#include "service/log_rate.h"
#include "service/peer_link.h"
#include "service/policy.h"
#include "service/refill_slots.h"
#include "service/sessions.h"

namespace tinyot::service {

// What the peers of a daemon share.
struct Shared {
  const config::Daemon& config;
  std::optional<StoreKey> store_key;
  Jobs& jobs;
  DaemonMetrics& metrics;
  RefillSlots refill_slots;
};

// The state of a peer, for operators.
struct PeerStatus {
  std::string name, last_error;
  Party party = Party::A;
  bool is_connected = false, is_refilling = false;
  std::uint64_t revoked = 0;    // sessions since the daemon started
  std::string refills_stopped;  // why; empty if they are not
  double risk = 0;              // of all sessions with the peer, also of those that have ended
  std::vector<SessionStock> stock;
  std::uint64_t current = 0;  // number of the session that the next job uses; 0 if there is none
};

class Peer {
 public:
  // Fails: UsageError, StoreError, NetworkError if the configuration cannot be used.
  Peer(const config::Peer& config, Shared& shared);
  ~Peer();

  const std::string& name() const { return config_.name(); }
  Party me() const { return me_; }

  // Reads what the configuration names. Fails: UsageError.
  static void check(const config::Peer& config);

  // Why a job of these terms may not be submitted, which is logged; empty if it may.
  std::optional<std::string> refusal(const std::string& job, const wire::Terms& terms);
  // Why the stock never has enough for this circuit; empty if it can.
  std::optional<std::string> too_large(const engine::LoadedCircuit& circuit) const;
  const engine::Work& low() const { return low_; }
  const engine::Work& high() const { return high_; }
  // The job is among the daemon's jobs.
  void submit(const SharedJob& job);
  void cancel(const SharedJob& job);
  // It has not begun within its time.
  void give_up(const SharedJob& job);

  PeerStatus status();
  PeerGauges gauges();
  // Ends the current session; a new one begins. Fails: StoreError if there is none.
  std::string retire();
  // The operator has found the cause: refills that a limit has stopped go on.
  void resume_refills();

  // From now on no job begins and the peer gets no more messages; a refill ends after its unit.
  void stop_beginning();
  // Whether evaluations or a refill are in progress.
  bool is_busy();

 private:
  using Clock = std::chrono::steady_clock;
  using Lock = std::unique_lock<std::mutex>;
  struct Running {
    SharedJob job;
    std::uint64_t session = 0;
  };
  struct Offered {
    wire::Terms terms;
    std::size_t bytes = 0;
  };
  // A refill's share of what the peers have in common.
  struct RefillTurn {
    ByteCount moved = 0;
    std::stop_source after_unit, broken;
    std::unique_ptr<RefillSlots::Slot> slot;
  };
  // The connection of a worker as the leading party sees it.
  struct Connection {
    std::uint64_t group = 0, session = 0;
  };

  bool leads() const { return me_ == Party::A; }

  // peer_messages.cpp: the link and its messages.
  void keep_linked(const std::stop_token& stop);
  void link_is_up(std::shared_ptr<PeerLink> link);
  void link_is_down(const std::string& why);
  std::vector<net::Parameter> parameters() const;
  void handle(const wire::Message& message);
  void send(const wire::Message& message);
  void offer_waiting();
  void offer(const Job& job);
  void withdraw(const Job& job);
  void refuse(const std::string& job, const std::string& reason);
  void log_refusal(const std::string& job, const std::string& reason, LogRate& lines);
  void forget_offer(const std::string& job);
  void rejected(const std::string& connection);
  void offered(const wire::Offer& offer);
  void refused(const wire::Refuse& refuse);
  void started(const wire::Start& start);

  // peer_jobs.cpp: jobs.
  void match(const SharedJob& job, wire::Terms theirs);
  void dispatch();
  std::optional<SessionStock> session_for(const Job& job);
  void begin(const SharedJob& job, std::size_t worker, const SessionStock& session);
  void ended(std::size_t worker, const Evaluations::Order& order, Evaluations::Outcome outcome);
  void fail(const SharedJob& job, JobError error);
  bool leave_queue(const Job& job);
  std::vector<SessionStock> common_of(std::vector<SessionStock> stock) const;
  engine::Work left_at_both();

  // peer_refills.cpp: refills.
  void keep_stocked(const std::stop_token& stop);
  void keep_stocked_once(const std::stop_token& stop);
  void end_old_sessions();
  void end_revoked_sessions();
  bool is_refill_due();
  void lead_refill(const std::stop_token& stop);
  std::optional<wire::Refill> agree_on_refill(const std::stop_token& stop);
  void follow_refill(const wire::Refill& order, const std::stop_token& stop);
  wire::Refill next_refill();
  PreprocessRequest refill_request(std::uint64_t session) const;
  bool has_all_but_for_claims(const engine::Work& own);
  std::optional<std::string> refusal_to_refill(std::uint64_t session);
  void set_local_failure(const std::string& message);
  void note_peers_answer(const std::string& reason);
  void stop_refills(const std::string& reason);
  BeginsBy cause_of_new_session();
  std::uint64_t last_session();
  bool has_session(std::uint64_t number);
  bool take_slot(RefillTurn& turn);
  void refill(const wire::Refill& order, const std::stop_token& stop, RefillTurn& turn);
  void send_stock();

  const config::Peer config_;
  Shared& shared_;
  const Party me_;
  const Profile profile_;
  const engine::Work low_, high_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::shared_ptr<PeerLink> link_;  // null: not connected
  // Before the port, which rejects connections on a thread of its own.
  std::string last_error_, last_rejection_;
  // Of this party's clients; of the peer.
  LogRate submission_lines_, refusal_lines_, rejection_lines_, link_lines_, stock_lines_;
  StreamPort port_;
  Sessions sessions_;
  Policy policy_;
  bool is_stopping_ = false;
  std::map<std::string, Offered> offers_;  // of the peer, by job
  std::size_t offers_bytes_ = 0;
  std::deque<SharedJob> to_offer_;  // as soon as the link has room
  std::map<std::string, Clock::time_point> matched_;
  std::deque<SharedJob> queue_;             // that both parties want, on the same terms
  std::map<std::size_t, Running> running_;  // by worker
  std::vector<Connection> connections_;     // by worker
  std::uint64_t last_group_ = 0;
  wire::Stock peers_stock_;
  bool is_stock_awaited_ = false;  // the peer will send its stock
  std::uint64_t current_ = 0;      // the session of the last job that began
  std::uint64_t revoked_ = 0;
  bool is_starved_ = false;  // the next job takes more than is left
  bool is_to_look_ = false;  // at the stock

  std::optional<wire::Refill> refill_order_;  // of the leading party, to be begun
  std::optional<wire::RefillAnswer> refill_answer_;
  bool is_refilling_ = false;
  std::uint64_t refill_session_ = 0;
  std::stop_source refill_stop_, refill_break_;  // after the unit, and at once
  Clock::time_point next_refill_{};
  std::chrono::milliseconds refill_pause_{0};
  std::string refills_stopped_;                  // why; empty if they are not
  std::string peers_refusal_;                    // of the last order of a refill
  std::optional<Clock::time_point> busy_since_;  // the peer, with refills of others
  // Why the last refill failed at this party, until free space or the operator changes that.
  struct LocalFailure {
    std::string message;
    std::uint64_t free_bytes = 0;
  };
  std::optional<LocalFailure> local_failure_;

  std::unique_ptr<Evaluations> evaluations_;
  std::jthread stocker_, linker_;
};

}  // namespace tinyot::service
