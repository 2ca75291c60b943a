// The stock of material with a peer: refills, new sessions, and the end of old ones.
#include <sys/resource.h>

#include <algorithm>

#include "base/error.h"
#include "engine/connection.h"
#include "engine/preprocess.h"
#include "service/breakable_stream.h"
#include "service/event_log.h"
#include "service/peer.h"

namespace tinyot::service {
namespace {

constexpr auto kStockInterval = std::chrono::seconds(1), kAnswerTime = std::chrono::seconds(30);
constexpr std::chrono::milliseconds kRefillPauseMin{1000}, kRefillPauseMax{300'000};
constexpr int kRefillNice = 10;
// By so many sessions a peer may be ahead of this party, which may have lost its disk.
constexpr std::uint64_t kSessionsAhead = std::uint64_t{1} << 20;

// Of this thread and those that it starts: evaluations go first.
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
}

void Peer::end_old_sessions() {
  std::vector<std::string> reasons;
  const std::vector<SessionStock> all = sessions_.stock(&reasons);
  for (const std::string& reason : reasons) {
    ++revoked_;
    shared_.metrics.session_ended(name(), "revoked");
    log_event(LogLevel::Error, "session revoked", {{"peer", name()}, {"reason", reason}});
  }
  // Sessions older than those that can be used at both parties are of no use.
  std::uint64_t below = std::max(current_, sessions_.retired_below());
  for (const SessionStock& session : common_of(all))
    if (session.left.ands > 0) {
      below = std::max(below, session.number);
      break;
    }
  if (all.empty() || all.front().number >= below) {
    if (!reasons.empty()) send_stock();
    return;
  }
  evaluations_->close_idle();
  connections_.assign(connections_.size(), {});
  for (const std::uint64_t number : sessions_.retire_below(below)) {
    const char* const reason = number < sessions_.retired_below() ? "retired" : "replaced";
    shared_.metrics.session_ended(name(), reason);
    log_event(LogLevel::Info, "session ended",
              {{"peer", name()}, {"number", number}, {"reason", reason}});
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
std::uint64_t Peer::last_session() const {
  return std::max({sessions_.last_number(), current_, sessions_.retired_below()});
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

void Peer::lead_refill(const std::stop_token& stop) {
  if (shared_.is_refilling.test_and_set()) return;
  wire::Refill order;
  bool begins = false;
  {
    Lock lock(mutex_);
    order = next_refill();
    refill_answer_.reset();
    wire::Message message;
    *message.mutable_refill() = order;
    send(message);
    const auto is_answered = [&] {
      return !link_ || (refill_answer_ && refill_answer_->group() == order.group());
    };
    changed_.wait_for(lock, stop, kAnswerTime, is_answered);
    begins = link_ && refill_answer_ && refill_answer_->group() == order.group() &&
             refill_answer_->begins();
    if (!begins) next_refill_ = Clock::now() + kRefillPauseMin;
    is_stock_awaited_ = begins;
  }
  if (begins) refill(order, stop);
  shared_.is_refilling.clear();
}

void Peer::follow_refill(const wire::Refill& order, const std::stop_token& stop) {
  wire::Message message;
  wire::RefillAnswer& answer = *message.mutable_refill_answer();
  answer.set_group(order.group());
  const bool is_free = !shared_.is_refilling.test_and_set();
  {
    const Lock lock(mutex_);
    answer.set_begins(is_free && !is_stopping_ && order.ands() == high_.ands &&
                      order.inputs() == high_.inputs &&
                      order.session() >= std::max(current_, sessions_.retired_below()) &&
                      order.session() <= last_session() + kSessionsAhead + 1 &&
                      order.group() != 0 && (order.group() & StreamPort::kLinkBit) == 0);
    send(message);
  }
  if (answer.begins()) refill(order, stop);
  if (is_free) shared_.is_refilling.clear();
}

void Peer::refill(const wire::Refill& order, const std::stop_token& stop) {
  std::stop_source cancel, broken;
  const std::stop_callback end(stop, [&] { cancel.request_stop(); });
  const std::stop_callback give_up(broken.get_token(), [&] { cancel.request_stop(); });
  engine::PreprocessRequest request;
  request.party = me_;
  request.endpoint = endpoint_of(port_, order.group(), cancel.get_token());
  request.endpoint.open_stream = [&, open = request.endpoint.open_stream] {
    std::unique_ptr<net::ByteStream> stream =
        std::make_unique<BreakableStream>(open(), broken.get_token());
    if (shared_.config.has_refill_bytes_per_s())
      stream->limit_rate(shared_.config.refill_bytes_per_s());
    return stream;
  };
  request.store = sessions_.path_of(order.session());
  request.store_key = sessions_.store_key();
  request.amount = Amount::Left;
  request.ands = order.ands();
  request.inputs = order.inputs();
  request.threads = shared_.config.refill_threads();
  request.parameters.profile = profile_;
  request.parameters.sigma = config_.sigma();
  const bool is_new = !storage::Store::exists(request.store);
  {
    const Lock lock(mutex_);
    if (is_stopping_ || order.session() < sessions_.retired_below()) return;
    is_refilling_ = true;
    refill_stop_ = cancel;
    refill_break_ = broken;
  }
  log_event(LogLevel::Info, "refill begins", {{"peer", name()}, {"number", order.session()}});
  std::optional<engine::PreprocessResult> result;
  std::optional<JobError> error;
  try {
    Observer quiet;
    result = engine::preprocess(request, quiet, cancel.get_token());
  } catch (const std::exception&) {
    error = current_error();
  }
  const Lock lock(mutex_);
  is_refilling_ = false;
  shared_.metrics.refill(name(), result.has_value(), result ? result->ands : 0);
  if (result) {
    shared_.metrics.traffic(name(), "refill", traffic_of(result->phases));
    if (is_new) shared_.metrics.session_begun(name());
    refill_pause_ = {};
    log_event(LogLevel::Info, "stock refilled",
              {{"peer", name()},
               {"session", short_name(engine::session_id_of(result->store))},
               {"ands", result->ands},
               {"seconds", result->wall_s}});
  } else if (!cancel.stop_requested()) {
    if (error->error_class == ErrorClass::PeerCheated) shared_.metrics.cheating(name());
    refill_pause_ = std::min(kRefillPauseMax, std::max(kRefillPauseMin, 2 * refill_pause_));
    log_event(error->error_class == ErrorClass::PeerCheated ? LogLevel::Error : LogLevel::Warning,
              "refill failed", {{"peer", name()}, {"error", error->message}});
  }
  next_refill_ = Clock::now() + refill_pause_;
  end_old_sessions();
  send_stock();
  dispatch();
}

}  // namespace tinyot::service
