// The refills with one peer: a thread that fills the stock up to the high watermark whenever it is
// low. The leading party (peer.h) orders a refill, the other answers whether it begins; either of
// them refuses what would cost it more than its limits allow.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "service/error_log.h"
#include "service/failure_pause.h"
#include "service/link.h"
#include "service/local_failure.h"
#include "service/log_rate.h"
#include "service/peer_settings.h"
#include "service/scheduler.h"
#include "service/stock.h"
#include "tinyot/preprocess.h"

namespace tinyot::service {

// Thread-safe. Its lock is held while Stock and what is below it are called, but never while
// Scheduler is (peer.h), nor while a refill runs.
class Refills {
 public:
  struct Status {
    bool is_refilling = false;
    std::string stopped;           // why no refill begins here; empty if they are not stopped
    std::string declined_by_peer;  // why the last order was not begun
  };

  // `peer_cheated` is called on the thread of the refills, without a lock.
  Refills(const PeerSettings& settings, Shared& shared, Sessions& sessions, Stock& stock,
          Scheduler& scheduler, Link& link, std::function<void()> peer_cheated);
  ~Refills() { stop(); }
  Refills(const Refills&) = delete;
  Refills& operator=(const Refills&) = delete;

  // Breaks off a refill that is in progress; on return the thread has ended.
  void request_stop();
  void stop();
  // No refill begins from now on, and one in progress ends after its unit.
  void stop_beginning();
  bool is_refilling();
  Status status();
  // The operator has found the cause: refills that a limit has stopped go on.
  void resume();

  // The link, and messages of the peer.
  void link_is_down();
  void ordered(const wire::Refill& order);  // to the party that does not lead
  void answered(const wire::RefillAnswer& answer);

 private:
  using Clock = std::chrono::steady_clock;
  using Lock = std::unique_lock<std::mutex>;
  // A refill's share of what the peers have in common.
  struct Turn {
    ByteCount moved;
    std::stop_source after_unit, broken;
    std::unique_ptr<RefillSlots::Slot> slot;
  };

  void run_refills(const std::stop_token& stop);
  void refill_once(const std::stop_token& stop);
  void lead(const std::stop_token& stop);
  std::optional<wire::Refill> agree(const std::stop_token& stop);
  void follow(const wire::Refill& order, const std::stop_token& stop);
  bool take_slot(Turn& turn);
  void refill(const wire::Refill& order, const std::stop_token& stop, Turn& turn);
  PreprocessRequest request_for(std::uint64_t session) const;

  // All under the lock.
  std::optional<std::string> refusal(std::uint64_t session);
  bool has_all_but_for_claims(const engine::Demand& own);
  RefillOutcome outcome_of(std::uint64_t session, const std::optional<JobError>& error) const;
  void set_stopped(const std::string& reason);
  void note_peers_answer(const std::string& reason);
  void note_success(const PreprocessResult& result);
  void note_failure(const JobError& error, bool has_session_ended);

  const PeerSettings& settings_;
  Shared& shared_;
  Sessions& sessions_;
  Stock& stock_;
  Scheduler& scheduler_;
  Link& link_;
  const std::function<void()> call_peer_cheated_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool is_stopping_ = false, is_refilling_ = false;
  std::stop_source after_unit_, broken_;  // of the refill in progress
  std::optional<wire::Refill> order_;     // of the leading party, to be begun
  std::uint64_t asked_ = 0;               // group of the order that awaits an answer; 0: none
  std::optional<wire::RefillAnswer> answer_;
  std::optional<Clock::time_point> busy_since_;  // the peer, with refills of others
  FailurePause pause_;
  LocalFailure local_failure_;
  std::string stopped_, peers_refusal_;
  LogRate refusal_lines_;
  ErrorLog errors_{"stock cannot be kept", settings_.name};
  std::jthread thread_;  // last: it uses all other members
};

}  // namespace tinyot::service
