// The stock of material with a peer: refills, new sessions, and the end of old ones.
#include <sys/resource.h>

#include <algorithm>

#include "base/error.h"
#include "engine/connection.h"
#include "engine/disk_space.h"
#include "engine/preprocess.h"
#include "service/breakable_stream.h"
#include "service/event_log.h"
#include "service/foreign_text.h"
#include "service/peer.h"

namespace tinyot::service {
namespace {

constexpr auto kStockInterval = std::chrono::seconds(1), kAnswerTime = std::chrono::seconds(30);
constexpr std::chrono::milliseconds kRefillPauseMin{1000}, kRefillPauseMax{300'000};
constexpr int kRefillPauseLess = 4;  // by so much a refill that succeeds shortens the pause
constexpr auto kSlotTime = std::chrono::seconds(5);
// For so long a peer that is busy with others keeps its place.
constexpr auto kBusyTime = std::chrono::seconds(60);
constexpr std::chrono::milliseconds kSlotInterval{100};
constexpr int kRefillNice = 10;
// By so many sessions a peer may be ahead of this party, which may have lost its disk.
constexpr std::uint64_t kSessionsAhead = std::uint64_t{1} << 20;
// Sessions whose stores are kept: the one that is filled, and those before that still have
// material.
constexpr std::size_t kSessionsKept = 3;
// A peer that claims to have less than this party has makes it store at most so many times `high`.
constexpr std::uint64_t kStockMax = 2;
// Free space that has to come back before a refill that failed at this party is tried again.
constexpr std::uint64_t kSpaceGained = std::uint64_t{1} << 20;

// Lowers the priority of this thread and its children: evaluations come first.
class LowPriority {
 public:
  LowPriority() { ::setpriority(PRIO_PROCESS, 0, kRefillNice); }
};

}  // namespace

void Peer::send_stock() {
  wire::Message message;
  wire::Stock& stock = *message.mutable_stock();
  for (const SessionStock& session : sessions_.stock()) {
    if (session.number < sessions_.retired_below()) continue;
    wire::Session& sent = *stock.add_sessions();
    sent.set_number(session.number);
    sent.set_id(session.id);
    sent.set_ands(session.left.ands);
    sent.set_inputs(session.left.inputs);
    sent.set_has_room(session.has_room);
  }
  stock.set_last_session(last_session());
  send(message);
}

void Peer::keep_stocked(const std::stop_token& stop) {
  const LowPriority here;
  while (!stop.stop_requested()) {
    try {
      keep_stocked_once(stop);
    } catch (const std::exception& error) {
      // Such as a full disk; the other peers are not concerned.
      shared_.refill_slots.leave(name());
      Lock lock(mutex_);
      if (const auto suppressed = stock_lines_.admit(Clock::now()))
        log_event(LogLevel::Error, "stock cannot be kept",
                  {{"peer", name()}, {"error", error.what()}, {"suppressed", *suppressed}});
      changed_.wait_for(lock, stop, kStockInterval, [] { return false; });
    }
  }
}

void Peer::keep_stocked_once(const std::stop_token& stop) {
  std::optional<wire::Refill> order;
  bool is_due = false;
  {
    Lock lock(mutex_);
    changed_.wait_for(lock, stop, kStockInterval, [&] { return refill_order_ || is_to_look_; });
    if (stop.stop_requested()) return;
    is_to_look_ = false;
    end_old_sessions();
    order.swap(refill_order_);
    is_due = is_refill_due();
  }
  if (order)
    follow_refill(*order, stop);
  else if (is_due)
    lead_refill(stop);
}

// A session that a check has ended is given up for all that use it.
void Peer::end_revoked_sessions() {
  for (const RevokedSession& session : sessions_.take_revoked()) {
    ++revoked_;
    shared_.metrics.session_ended(name(), SessionEnd::Revoked);
    log_event(LogLevel::Error, "session revoked",
              {{"peer", name()}, {"number", session.number}, {"reason", session.reason}});
    evaluations_->end_session(session.number, "the session is revoked: " + session.reason);
    for (Connection& connection : connections_)
      if (connection.session == session.number) connection = {};
    if (is_refilling_ && refill_session_ == session.number) refill_break_.request_stop();
    send_stock();
  }
}

// Sessions that can no longer be used are retired: those that an operator has retired, those older
// than the oldest that both parties can use, and all but the newest few, whatever the peer claims.
void Peer::end_old_sessions() {
  const std::vector<SessionStock> all = sessions_.stock();
  end_revoked_sessions();
  std::uint64_t below = std::max(current_, sessions_.retired_below());
  for (const SessionStock& session : common_of(all))
    if (session.left.ands > 0) {
      below = std::max(below, session.number);
      break;
    }
  if (all.size() > kSessionsKept) below = std::max(below, all[all.size() - kSessionsKept].number);
  if (all.empty() || all.front().number >= below) return;
  evaluations_->close_below(below);
  for (Connection& connection : connections_)
    if (connection.session < below) connection = {};
  for (const std::uint64_t number : sessions_.retire_below(below)) {
    const SessionEnd reason =
        number < sessions_.retired_below() ? SessionEnd::Retired : SessionEnd::Replaced;
    shared_.metrics.session_ended(name(), reason);
    log_event(LogLevel::Info, "session ended",
              {{"peer", name()}, {"number", number}, {"reason", name_of(reason)}});
  }
  send_stock();
}

// Of the leading party.
bool Peer::is_refill_due() {
  if (!leads() || !link_ || is_stopping_ || is_stock_awaited_ || Clock::now() < next_refill_)
    return false;
  const engine::Work left = left_at_both();
  return left.ands < low_.ands || left.inputs < low_.inputs || is_starved_;
}

// The highest number that this party has used: those of sessions that have ended are not used
// again.
std::uint64_t Peer::last_session() {
  return std::max({sessions_.record().last_number(), current_, sessions_.retired_below()});
}

bool Peer::has_session(std::uint64_t number) {
  const auto stock = sessions_.stock();
  return std::ranges::find(stock, number, &SessionStock::number) != stock.end();
}

wire::Refill Peer::next_refill() {
  const auto common = common_of(sessions_.stock());
  wire::Refill order;
  order.set_group(++last_group_);
  order.set_session(!common.empty() && common.back().has_room
                        ? common.back().number
                        : std::clamp(peers_stock_.last_session(), last_session(),
                                     last_session() + kSessionsAhead) +
                              1);
  order.set_ands(high_.ands);
  order.set_inputs(high_.inputs);
  return order;
}

// Without its connection.
engine::PreprocessRequest Peer::refill_request(std::uint64_t session) const {
  engine::PreprocessRequest request;
  request.party = me_;
  request.store = sessions_.path_of(session);
  request.store_key = sessions_.store_key();
  request.amount = Amount::Left;
  request.ands = high_.ands;
  request.inputs = high_.inputs;
  request.threads = shared_.config.refill_threads();
  request.parameters.profile = profile_;
  request.parameters.sigma = config_.sigma();
  return request;
}

// A session of its own account replaces one that this party cannot fill any further.
BeginsBy Peer::cause_of_new_session() {
  const auto stock = sessions_.stock();
  const auto can_be_filled = [&](const SessionStock& session) {
    return session.number >= sessions_.retired_below() && session.has_room &&
           session.profile == profile_ && session.sigma == config_.sigma();
  };
  return std::ranges::any_of(stock, can_be_filled) ? BeginsBy::PeersClaim : BeginsBy::OwnAccount;
}

// Whether this party has so much that only the peer's claims make it store more: of both kinds, or
// of one that the peer claims to lack.
bool Peer::has_all_but_for_claims(const engine::Work& own) {
  const engine::Work both = left_at_both();
  const bool has_ands = own.ands >= kStockMax * high_.ands,
             has_inputs = own.inputs >= kStockMax * high_.inputs;
  if (has_ands && both.ands < high_.ands) return true;
  if (has_inputs && both.inputs < high_.inputs) return true;
  return has_ands && has_inputs;
}

// Why this party takes part in no refill of this session now; empty if it does. The peer decides
// neither how often sessions begin, nor how soon a refill follows one that it has broken off.
std::optional<std::string> Peer::refusal_to_refill(std::uint64_t session) {
  if (is_stopping_) return "the daemon is stopping";
  if (local_failure_) {
    std::error_code error;
    const auto space = std::filesystem::space(shared_.config.directory(), error);
    if (error || space.available < local_failure_->free_bytes + kSpaceGained)
      return "the last refill failed at this party: " + local_failure_->message;
    local_failure_.reset();
  }
  engine::Work own;
  MaterialCounts left;  // of this session
  for (const SessionStock& stock : sessions_.stock()) {
    if (stock.number < sessions_.retired_below()) continue;
    own.ands += stock.left.ands;
    own.inputs += stock.left.inputs;
    if (stock.number == session) left = stock.counts;
  }
  if (has_all_but_for_claims(own))
    return "this party has " + std::to_string(own.ands) + " ANDs and " +
           std::to_string(own.inputs) + " inputs in stock, more than the peer claims to have";
  const engine::PreprocessRequest request = refill_request(session);
  if (const auto shortage = engine::disk_shortage(request.store, engine::space_for(request, left)))
    return shortage->what();
  if (auto reason = sessions_.record().refusal_to_refill(sessions_.open_risk())) return reason;
  if (session > sessions_.record().last_number())
    return sessions_.record().refusal_to_begin(cause_of_new_session(), SessionRecord::Clock::now());
  if (!has_session(session)) return "session " + std::to_string(session) + " has ended";
  return std::nullopt;
}

void Peer::set_local_failure(const std::string& message) {
  std::error_code error;
  const auto space = std::filesystem::space(shared_.config.directory(), error);
  local_failure_ = {message, error ? 0 : space.available};
}

void Peer::stop_refills(const std::string& reason) {
  if (refills_stopped_.empty())
    log_event(LogLevel::Error, "refills stopped", {{"peer", name()}, {"reason", reason}});
  refills_stopped_ = reason;
}

bool Peer::take_slot(RefillTurn& turn) {
  turn.slot = shared_.refill_slots.take(
      name(), turn.moved,
      [after_unit = turn.after_unit, broken = turn.broken](RefillSlots::End end) mutable {
        (end == RefillSlots::End::AtOnce ? broken : after_unit).request_stop();
      },
      Clock::now());
  return turn.slot != nullptr;
}

void Peer::note_peers_answer(const std::string& reason) {
  std::string clean = foreign_text(reason);
  if (!clean.empty() && peers_refusal_.empty())
    if (const auto suppressed = refusal_lines_.admit(Clock::now()))
      log_event(LogLevel::Warning, "refill declined by the peer",
                {{"peer", name()}, {"reason", clean}, {"suppressed", *suppressed}});
  peers_refusal_ = std::move(clean);
}

// Keeps this peer's place for a slot while the peer answers, and for some time while it is busy
// with others, but no slot from the others.
void Peer::lead_refill(const std::stop_token& stop) {
  if (!shared_.refill_slots.is_turn_of(name(), Clock::now())) return;
  const std::optional<wire::Refill> order = agree_on_refill(stop);
  RefillTurn turn;
  if (order) {
    const auto until = Clock::now() + kSlotTime;
    while (!take_slot(turn) && Clock::now() < until && !stop.stop_requested()) {
      Lock lock(mutex_);
      changed_.wait_for(lock, stop, kSlotInterval, [] { return false; });
    }
  }
  if (turn.slot) return refill(*order, stop, turn);
  if (busy_since_ && Clock::now() < *busy_since_ + kBusyTime) return;
  busy_since_.reset();
  shared_.refill_slots.leave(name());
}

// The order that the peer begins; empty if there is none.
std::optional<wire::Refill> Peer::agree_on_refill(const std::stop_token& stop) {
  Lock lock(mutex_);
  const wire::Refill order = next_refill();
  const auto busy_since = std::exchange(busy_since_, std::nullopt);
  if (const auto reason = refusal_to_refill(order.session())) {
    stop_refills(*reason);
    return std::nullopt;
  }
  refills_stopped_.clear();
  refill_answer_.reset();
  wire::Message message;
  *message.mutable_refill() = order;
  send(message);
  const auto is_answered = [&] {
    return !link_ || (refill_answer_ && refill_answer_->group() == order.group());
  };
  changed_.wait_for(lock, stop, kAnswerTime, is_answered);
  const bool begins = link_ && refill_answer_ && refill_answer_->group() == order.group() &&
                      refill_answer_->begins();
  if (!begins) next_refill_ = Clock::now() + kRefillPauseMin;
  const bool is_busy = refill_answer_ && refill_answer_->is_busy() && !begins;
  if (is_busy) busy_since_ = busy_since.value_or(Clock::now());
  note_peers_answer(begins || !refill_answer_ ? "" : refill_answer_->reason());
  return begins ? std::optional(order) : std::nullopt;
}

void Peer::follow_refill(const wire::Refill& order, const std::stop_token& stop) {
  wire::Message message;
  wire::RefillAnswer& answer = *message.mutable_refill_answer();
  answer.set_group(order.group());
  RefillTurn turn;
  {
    const Lock lock(mutex_);
    std::optional<std::string> reason;
    if (order.ands() != high_.ands || order.inputs() != high_.inputs || order.group() == 0 ||
        (order.group() & StreamPort::kLinkBit) != 0)
      reason = "the order is not that of a refill up to high";
    else if (order.session() < std::max(current_, sessions_.retired_below()))
      reason = "session " + std::to_string(order.session()) + " has been replaced or retired";
    else if (order.session() > last_session() + kSessionsAhead + 1)
      reason = "session " + std::to_string(order.session()) + " is too far ahead";
    else if (Clock::now() < next_refill_)
      reason = "a refill has failed, and the next one has to wait";
    else if ((reason = refusal_to_refill(order.session())))
      stop_refills(*reason);
    else if (!take_slot(turn)) {
      reason = "other peers are being refilled";
      answer.set_is_busy(true);
    }
    if (!reason) refills_stopped_.clear();
    answer.set_begins(!reason);
    answer.set_reason(reason.value_or(""));
    send(message);
  }
  if (turn.slot) refill(order, stop, turn);
}

void Peer::refill(const wire::Refill& order, const std::stop_token& stop, RefillTurn& turn) {
  std::stop_source& cancel = turn.after_unit;
  const std::stop_callback end(stop, [&] { cancel.request_stop(); });
  const std::stop_callback give_up(turn.broken.get_token(), [&] { cancel.request_stop(); });
  engine::PreprocessRequest request = refill_request(order.session());
  request.endpoint = endpoint_of(port_, order.group(), cancel.get_token());
  request.endpoint.open_stream = [&, open = request.endpoint.open_stream] {
    std::unique_ptr<net::ByteStream> stream =
        std::make_unique<BreakableStream>(open(), turn.broken.get_token(), turn.moved);
    if (shared_.config.has_refill_bytes_per_s())
      stream->limit_rate(shared_.config.refill_bytes_per_s());
    return stream;
  };
  const bool is_new = !storage::Store::exists(request.store);
  BeginsBy cause{};
  {
    const Lock lock(mutex_);
    if (is_stopping_ || order.session() < sessions_.retired_below()) return;
    cause = cause_of_new_session();
    is_refilling_ = true;
    refill_session_ = order.session();
    refill_stop_ = cancel;
    refill_break_ = turn.broken;
  }
  log_event(LogLevel::Info, "refill begins", {{"peer", name()}, {"number", order.session()}});
  std::optional<engine::PreprocessResult> result;
  std::optional<JobError> error;
  try {
    // A session that is broken off at any time after that has been counted.
    request.before_new_store = [&] {
      sessions_.record().begin(order.session(), cause, SessionRecord::Clock::now());
    };
    Observer observer;
    result = engine::preprocess(request, observer, cancel.get_token());
  } catch (const std::exception&) {
    error = current_error();
  }
  sessions_.refilled(order.session());
  const Lock lock(mutex_);
  is_refilling_ = false;
  const std::uint64_t revoked_before = revoked_;
  (void)sessions_.stock();
  end_revoked_sessions();
  if (is_new && has_session(order.session())) shared_.metrics.session_begun(name());
  shared_.metrics.refill(name(), result ? RefillOutcome::Done : RefillOutcome::Failed,
                         result ? result->ands : 0);
  if (result) {
    shared_.metrics.traffic(name(), TrafficOf::Refill, traffic_of(result->phases));
    // A peer could let some refills end well, to have the pause after broken ones forgotten.
    if (result->ands > 0) refill_pause_ /= kRefillPauseLess;
    log_event(LogLevel::Info, "stock refilled",
              {{"peer", name()},
               {"session", short_name(engine::session_id_of(result->store))},
               {"ands", result->ands},
               {"seconds", result->wall_s}});
  } else if (!cancel.stop_requested() || turn.broken.stop_requested()) {
    if (error->error_class == ErrorClass::PeerCheated) shared_.metrics.cheating(name());
    if (error->error_class == ErrorClass::Store && revoked_ == revoked_before)
      set_local_failure(error->message);
    refill_pause_ = std::min(kRefillPauseMax, std::max(kRefillPauseMin, 2 * refill_pause_));
    log_event(error->error_class == ErrorClass::PeerCheated ? LogLevel::Error : LogLevel::Warning,
              "refill failed", {{"peer", name()}, {"error", error->message}});
  }
  next_refill_ = Clock::now() + std::max(refill_pause_, kRefillPauseMin);
  end_old_sessions();
  send_stock();
  dispatch();
}

}  // namespace tinyot::service
