// The stock of material with a peer: what is left in each session at both parties, which sessions
// can be used, and the end of those that cannot.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "service/evaluations.h"
#include "service/link.h"
#include "service/log_rate.h"
#include "service/peer_settings.h"
#include "service/sessions.h"

namespace tinyot::service {

// Thread-safe. Its lock is taken after those of Scheduler and of Refills (peer.h).
class Stock {
 public:
  struct Status {
    std::vector<SessionStock> sessions;  // of this party
    std::uint64_t current = 0;           // number of the session that the next job uses; 0: none
    std::uint64_t revoked = 0;           // sessions since the daemon started
    double risk = 0;  // of all sessions with the peer, also of those that have ended
  };
  // What this party has, whatever the peer says: in all sessions, and in one.
  struct Own {
    engine::Demand all;
    MaterialCounts of_session;
  };

  Stock(const PeerSettings& settings, Shared& shared, Sessions& sessions, Evaluations& evaluations,
        Link& link);

  // What can be used: of each session that both parties have, oldest first, what is left at both.
  std::vector<SessionStock> common();
  engine::Demand left_at_both();
  Own own(std::uint64_t session);
  // Whether this party has the session, and it has not been retired.
  bool has(std::uint64_t session);
  // A job begins in the session: from now on older ones are not filled, and end. False if the
  // session has been retired, after which common() does not have it.
  bool use(std::uint64_t session);

  // The link, and messages of the peer.
  void link_is_up();
  void link_is_down();
  void received(const wire::Stock& stock);
  // What the peer has said is old: it will send its stock.
  void await_peers();
  void send();

  // Tells the peer as the disk of this party fills up, and as there is room again; called now and
  // then.
  void tell_room();
  bool is_disk_full() const;  // of this party
  // Why no job can begin, since a party could not record what it takes; empty if one can.
  std::string disk_shortage();

  // Whether less is left than the low watermark, or the next job takes more, as far as is known
  // without the stock that the peer will send.
  bool is_low();
  // The next job takes more than is left, until the peer's stock changes; is_low() is to be looked
  // at.
  void set_starved(bool is_starved);
  void note_change();
  // Returns when something has changed since the last call, at a stop, or after the time.
  void wait_for_change(const std::stop_token& stop, std::chrono::milliseconds time);

  // Of the leading party: the session that the next refill fills, which may be a new one.
  std::uint64_t session_to_fill();
  // Why the session that the leading party names is not filled; empty if it is. The peer may have
  // lost its disk, but decides no number that this party could not use up.
  std::optional<std::string> refusal_to_fill(std::uint64_t session);
  // A session of its own account replaces one that this party cannot fill any further.
  BeginsBy cause_of_new_session();
  // A refill begins: `broken` is requested once its session ends. False if it has been retired.
  bool begin_filling(std::uint64_t session, const std::stop_source& broken);
  // Whether the session has ended in the meantime.
  bool end_filling();

  // Ends sessions that can no longer be used: those that a check or an operator has ended, those
  // older than the oldest that both parties can use, and all but the newest few, whatever the peer
  // claims.
  void end_old();
  // Ends those that a check has ended, for all that use them.
  void end_revoked();
  // Ends all sessions, for an operator. Returns the name of the newest. Fails: StoreError if there
  // is none.
  std::string retire();

  Status status();

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct Filling {
    std::uint64_t session = 0;
    std::stop_source broken;
    bool has_ended = false;
  };

  // Whether units of this configuration fit into the session.
  bool can_be_filled(const SessionStock& session) const;

  // All under the lock.
  std::vector<SessionStock> common_of(std::vector<SessionStock> stock) const;
  engine::Demand left() const;
  std::uint64_t last_session() const;
  std::uint64_t oldest_to_fill() const;
  void end_revoked_ones();
  void send_own();

  const PeerSettings& settings_;
  Shared& shared_;
  Sessions& sessions_;
  Evaluations& evaluations_;
  Link& link_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  bool has_changed_ = false;
  wire::Stock peers_;
  bool are_peers_awaited_ = true;
  bool out_of_stock_ = false;
  bool is_told_full_ = false;  // the peer, of this party's disk
  LogRate full_lines_;
  std::uint64_t current_ = 0;  // the newest session in which a job has begun
  std::uint64_t revoked_ = 0;
  std::optional<Filling> filling_;
};

}  // namespace tinyot::service
