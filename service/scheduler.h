// The jobs with one peer, from their submission until they have ended: which of them both parties
// want on the same terms, in which order, session and connection they begin, and how they end.
//
// A job begins once this party's client has submitted it, the peer has offered it on the same
// terms, and the policy allows it. The leading party (peer.h) chooses the job, the session and the
// worker, and names them to the other. A job that fails after it began is never begun again by the
// daemon: the peer may have learnt its outputs, and a second evaluation could use other inputs.
//
// Work of custody (key_work.h) comes before jobs. While nothing waits, runs are prepared, one at a
// time, of the circuits that both configurations name (PreparedStock). A job of such a circuit
// takes one.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "service/error_log.h"
#include "service/evaluations.h"
#include "service/failure_pause.h"
#include "service/link.h"
#include "service/log_rate.h"
#include "service/peer_offers.h"
#include "service/peer_settings.h"
#include "service/policy.h"
#include "service/prepared_stock.h"
#include "service/stock.h"

namespace tinyot::service {

// The groups of the connections on which the key of a work is loaded.
using KeyPlaces = std::function<std::vector<std::uint64_t>()>;

// Thread-safe. What one call does to a job is done under one lock, with which Stock and what is
// below it are called (peer.h).
class Scheduler {
 public:
  Scheduler(const PeerSettings& settings, Shared& shared, Policy policy, Link& link, Stock& stock,
            Evaluations& evaluations);

  // In place of the policy so far, whose jobs count for the rates of the same rules. Jobs that have
  // not begun are checked against it.
  void set_policy(Policy policy);
  // Of this party's clients. Why a job of these terms may not be submitted, which is logged; empty
  // if it may.
  std::optional<std::string> refusal(const std::string& job, const wire::Terms& terms);
  // Of this party's clients: the job cannot be kept.
  void note_unkept(const std::string& job, const std::string& reason);
  // The job is among the daemon's jobs.
  void submit(const SharedJob& job);
  // A job of an earlier process does not wait again.
  void give_up_restored(const SharedJob& job, JobError error);
  void cancel(const SharedJob& job);
  // It has not begun within its time.
  void give_up(const SharedJob& job);
  // Of the leading party: the work begins as soon as it has what it takes, on a connection on which
  // `key` is loaded if one is free. Dropped without a word if its link ends before.
  void queue(const SharedKeyWork& work, const KeyPlaces& loaded);
  // The work, which waits in the queue, is not wanted any more; or ends if it has begun.
  void cancel(const SharedKeyWork& work);
  // Of the other party: the leading one has begun the work there. Returns why it does not begin
  // here; empty if it does. Fails: NetworkError if the peer may not name this connection.
  std::optional<std::string> begin(const SharedKeyWork& work, const wire::KeyStart& start);

  // From now on no job begins; those that wait fail, unless they are kept for the next process.
  void stop_beginning();
  // Of the jobs with this peer that have not ended, none of them between two states.
  JobCounts counts();
  // Why nothing begins; empty if it does. Without the lock.
  std::string disk_shortage() { return stock_.disk_shortage(); }
  // The stock of prepared runs, by circuit.
  std::vector<PreparedCount> prepared();

  // The link, and messages of the peer. Fail: NetworkError if the peer may not send such a message.
  void link_is_up();
  void link_is_down();
  void link_has_room();
  void offered(const wire::Offer& offer);
  void withdrawn(const wire::Withdraw& withdraw);
  void refused(const wire::Refuse& refuse);
  void started(const wire::Start& start);  // to the party that does not lead
  void kept(const wire::Kept& kept);
  void prepare_ordered(const wire::Prepare& order);          // to the party that does not lead
  void prepare_answered(const wire::PrepareAnswer& answer);  // to the leading party

  // Begins as many jobs as have what they take, and prepares a run if none waits; of the leading
  // party. Tells the peer how many runs this party keeps, if that has changed with the time.
  void dispatch();
  // Of a worker that is free from now on.
  void ended(std::size_t worker, const Evaluations::Order& order, Evaluations::Outcome outcome);

 private:
  using Clock = std::chrono::steady_clock;
  using Lock = std::unique_lock<std::mutex>;
  // What takes material of a session.
  struct Taking {
    std::function<MaterialCounts(AndMaterial form)> material;  // empty: nothing does
    std::uint64_t ands = 0;
    bool in_advance = false;
    std::optional<AndMaterial> form = {};  // of the session, if not any will do
  };
  static Taking taking_of(const engine::LoadedCircuit& circuit, std::uint64_t ands, bool in_advance,
                          std::optional<AndMaterial> form = {});
  static Taking taking_of(const SharedKeyWork& work);
  struct Running {
    bool is_preparation = false;
    std::uint64_t group = 0, session = 0;
    Taking taking;
  };
  struct QueuedKeyWork {
    SharedKeyWork work;
    KeyPlaces loaded;
  };
  // A run that is prepared once the peer has agreed.
  struct Asked {
    std::size_t worker = 0;
    Evaluations::Order order;
    Clock::time_point until;
  };
  // Where a job begins, and the prepared run that it takes, if any.
  struct Place {
    std::size_t worker = 0;
    std::uint64_t session = 0;
    std::optional<Evaluations::PreparedRun> prepared;
  };

  // All under the lock.
  SharedJob find(const std::string& id) const;
  void match(const SharedJob& job, wire::Terms theirs);
  void go_on();
  void begin_what_can();
  void begin_queued();
  void begin_key_work(bool& is_starved);
  std::optional<Place> place_for(const QueuedKeyWork& queued, bool& is_starved);
  std::optional<Place> place_for(const Job& job, bool& is_starved);
  std::optional<Evaluations::PreparedRun> prepared_for(const Job& job);
  std::optional<SessionStock> session_for(const Taking& taking, bool& is_starved);
  // One that is free, with the fewest prepared runs; if it is given, with none of other sessions.
  std::optional<std::size_t> free_worker(std::optional<std::uint64_t> session = {});
  bool begin(const SharedJob& job, const Place& place);
  std::optional<std::string> refusal_to_start(const wire::Start& start, const SharedJob& job);
  std::optional<std::string> refusal_of_session(std::uint64_t session);
  void end_job(const Evaluations::Order& order, Evaluations::Outcome outcome);
  void note_lost();
  void tell_kept();
  std::optional<std::string> refusal_to_prepare(const PreparedCircuit& circuit) const;
  void close_unusable();
  void prepare_next(bool& is_starved);
  void give_up_asking();
  void note_prepared(const Evaluations::Order& order, const Evaluations::Outcome& outcome);
  void log_refusal_to_prepare(const std::string& reason, RefusedBy by);
  bool leave_queue(const Job& job);
  void forget(const SharedJob& job);
  void fail(const SharedJob& job, JobError error);
  void finish(const SharedJob& job, JobResult result);
  void offer_waiting();
  void withdraw(const Job& job);
  void refuse(const std::string& job, const std::string& reason);
  void send_refusal(const std::string& job, const std::string& reason);
  void log_refusal(const std::string& job, const std::string& reason, LogRate& lines);

  const PeerSettings& settings_;
  Shared& shared_;
  Link& link_;
  Stock& stock_;
  Evaluations& evaluations_;
  std::mutex mutex_;
  Policy policy_;
  bool is_linked_ = false, is_stopping_ = false;
  PeerOffers offers_;
  std::deque<SharedJob> to_offer_;  // as soon as the link has room
  std::set<SharedJob> offered_;     // on this link, of jobs that have not ended
  std::map<std::string, Clock::time_point> matched_;
  std::deque<SharedJob> queue_;             // that both parties want, on the same terms
  Turns<QueuedKeyWork> key_queue_;          // of the leading party
  std::map<std::size_t, Running> running_;  // of the leading party, by worker
  std::optional<Asked> asked_;              // of the leading party
  PreparedStock prepared_;
  std::string told_;    // what the peer has been told that this party keeps
  FailurePause pause_;  // before the next run is prepared
  // Runs that were of no use since the last pause began; and all of which none that was used has
  // made up.
  std::size_t useless_ = 0, owed_ = 0;
  // Of this party's clients; of the peer.
  LogRate submission_lines_, refusal_lines_, kept_lines_, lost_lines_;
  ErrorLog errors_;
};

}  // namespace tinyot::service
