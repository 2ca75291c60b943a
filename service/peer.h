// One peer of a daemon: it puts the parts together that know one thing each, and hands each message
// of the peer to the part that it is for.
//
//     Link         the connection for messages: connects again, sends, receives
//     Sessions     the stores of the sessions with the peer, and the record of what they have cost
//     Evaluations  the workers, each with a connection of its own
//     Stock        what is left at both parties, and which sessions can be used
//     Scheduler    which job begins when, in which session and on which worker; which runs are
//                  prepared before their inputs, while no job waits
//     Refills      the thread that fills the stock
//     Keys         custody: keys in two shares, and the requests for them
//
// Each knows only parts that stand above it. The others are reached by Link's listener, which is
// this class, and by the function that a worker calls at the end of a job; both are called without
// a lock.
//
// Locks are taken in the order Scheduler or Refills (never both), Stock, Keys, then one of the
// others: Link, Evaluations, Sessions, Jobs, RefillSlots and DaemonMetrics, none of which takes
// another of these while it holds its own. An evaluation or a refill runs without a lock. The files
// of jobs are written without the lock of Jobs, and with the Scheduler's only for a job that fails
// or is cancelled.
//
// Party A leads: it begins each job, each refill and each run that is prepared, once both parties
// have what it takes.
//
// How a job runs:
//  1. Api receives v1::SubmitRequest messages. Submission makes the values of the inputs of them,
//     and Jobs a Job of these, the circuit and its terms (JobRequest), with a file (JobFiles).
//  2. Scheduler::submit() offers the job to the peer (wire::Offer). Once the peer has offered it,
//     too, match() compares the terms and puts it into the queue of both parties.
//  3. At the leading party, begin_what_can() chooses a session of Stock and a worker that is free,
//     if there is one, with a prepared run of the job's circuit; begin() sends wire::Start and
//     gives Evaluations an Order: the job, its inputs, the group of the connection and the session.
//     At the other party, started() checks what the leading party has chosen and does the same.
//  4. The worker's thread erases the inputs on the disk (Jobs::begin), so that no later process
//     begins the job again, evaluates with Evaluator, and makes a JobResult of its report.
//  5. Scheduler::ended() writes the JobResult to the disk (Jobs::keep_result), moves it into the
//     Job (Jobs::finish), which from then on drops the inputs, and gives the worker the next job.
//  6. Api, which waits for the end of the job, copies the values of its outputs into v1::ResultPart
//     messages (write_outputs), each of which is wiped once it has been sent.
// Its values pass seven types: v1::SubmitRequest, Submission, Job, Evaluations::Order, the engine's
// RunResult, JobResult, v1::ResultPart. They are copied at the two ends alone, out of and into
// messages; in between they are shared or moved.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "service/evaluations.h"
#include "service/keys.h"
#include "service/link.h"
#include "service/peer_settings.h"
#include "service/refills.h"
#include "service/scheduler.h"
#include "service/sessions.h"
#include "service/stock.h"

namespace tinyot::service {

// The state of a peer, for operators.
struct PeerStatus {
  std::string name;
  Party party = Party::A;
  Link::Status link;
  Stock::Status stock;
  Refills::Status refills;
  JobCounts jobs;
  std::vector<PreparedCount> prepared;
  std::string jobs_held;  // why no job begins; empty if they do
};

class Peer final : private Link::Listener {
 public:
  // Fails: UsageError, StoreError, NetworkError if the configuration cannot be used.
  Peer(const config::Peer& config, Shared& shared);
  ~Peer();

  const std::string& name() const { return settings_.name; }
  const PeerSettings& settings() const { return settings_; }

  // Reads what the configuration names. Fails: UsageError.
  static void check(const config::Peer& config);

  // What a reload changes, while jobs and refills go on.
  struct Renewal {
    Policy policy;
    std::optional<KeyPolicy> key_policy;
    std::shared_ptr<const net::TlsAdmission> tls;
  };
  // Fails: UsageError if a file cannot be used, or if a key is another one.
  Renewal read_renewal(const config::Peer& config) const;
  void renew(Renewal renewal);

  // Why the stock never has enough for this circuit; empty if it can.
  std::optional<std::string> too_large(const engine::LoadedCircuit& circuit) const;
  // Fails: UsageError for a phase that a job with this peer cannot name.
  void check_phase(const std::string& online) const;
  // Of this party's clients; see Scheduler.
  std::optional<std::string> refusal(const std::string& job, const wire::Terms& terms) {
    return scheduler_.refusal(job, terms);
  }
  void note_unkept(const std::string& job, const std::string& reason) {
    scheduler_.note_unkept(job, reason);
  }
  void submit(const SharedJob& job) { scheduler_.submit(job); }
  void cancel(const SharedJob& job) { scheduler_.cancel(job); }
  void give_up(const SharedJob& job) { scheduler_.give_up(job); }

  // What has to be done after a time; called now and then.
  void keep_up();
  // Null without custody.
  Keys* keys() { return keys_.get(); }

  // Takes the locks of Link, Stock, Refills and Scheduler, so that a deadlock of one shows.
  PeerStatus status();
  PeerGauges gauges();
  // What jobs with this peer lack now; empty if it is linked and has at least `low` in stock.
  std::string lacking();
  // Of this party, and of the peer once it has connected; none without TLS.
  std::vector<CertificateEnd> certificates() const;
  // Ends the current session; a new one begins. Fails: StoreError if there is none.
  std::string retire() { return stock_.retire(); }
  void resume_refills() { refills_.resume(); }

  // From now on no job begins and the peer gets no more messages; a refill ends after its unit.
  void stop_beginning();
  // Whether evaluations or a refill are in progress.
  bool is_busy();
  // What clients still wait for fails.
  void give_up_requests();

 private:
  void restore_jobs(const std::filesystem::path& directory);
  std::optional<std::string> refusal_of_restored(const Job& job);
  void peer_cheated();
  void link_is_up() override;
  void link_is_down() override;
  void link_has_room() override;
  void received(const wire::Message& message) override;
  bool received_about_keys(const wire::Message& message);

  const PeerSettings settings_;
  Shared& shared_;
  Link link_;
  Sessions sessions_;
  Evaluations evaluations_;
  Stock stock_;
  Scheduler scheduler_;
  Refills refills_;
  std::unique_ptr<Keys> keys_;
};

}  // namespace tinyot::service
