#include "service/refills.h"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "engine/connection.h"
#include "engine/disk_space.h"
#include "service/cancellable_stream.h"
#include "service/disk_room.h"
#include "service/event_log.h"
#include "service/foreign_text.h"

namespace tinyot::service {
namespace {

constexpr auto kStockInterval = std::chrono::seconds(1), kAnswerTime = std::chrono::seconds(30);
constexpr auto kSlotTime = std::chrono::seconds(5);
constexpr std::chrono::milliseconds kSlotInterval{100};
constexpr int kRefillNice = 10;
// A peer that claims to have less than this party has makes it store at most so many times `high`.
constexpr std::uint64_t kStockMax = 2;

// Lowers the priority of this thread and its children: evaluations come first.
class LowPriority {
 public:
  LowPriority() { ::setpriority(PRIO_PROCESS, 0, kRefillNice); }
};

// The peer is told no path of this party's.
std::string for_peer(std::string reason, const std::string& directory) {
  constexpr std::string_view kShown = "its directory";
  for (std::size_t at = 0; (at = reason.find(directory, at)) != std::string::npos;
       at += kShown.size())
    reason.replace(at, directory.size(), kShown);
  return reason;
}

}  // namespace

Refills::Refills(const PeerSettings& settings, Shared& shared, Sessions& sessions, Stock& stock,
                 Scheduler& scheduler, Link& link, std::function<void()> peer_cheated)
    : settings_(settings), shared_(shared), sessions_(sessions), stock_(stock),
      scheduler_(scheduler), link_(link), call_peer_cheated_(std::move(peer_cheated)),
      thread_([this](const std::stop_token& stop) { run_refills(stop); }) {}

void Refills::request_stop() {
  thread_.request_stop();
  const Lock lock(mutex_);
  is_stopping_ = true;
  broken_.request_stop();
}

void Refills::stop() {
  request_stop();
  if (thread_.joinable()) thread_.join();
}

void Refills::stop_beginning() {
  const Lock lock(mutex_);
  is_stopping_ = true;
  after_unit_.request_stop();
}

bool Refills::is_refilling() {
  const Lock lock(mutex_);
  return is_refilling_;
}

Refills::Status Refills::status() {
  const Lock lock(mutex_);
  return {is_refilling_, stopped_, peers_refusal_};
}

void Refills::resume() {
  {
    const Lock lock(mutex_);
    sessions_.record().resume(sessions_.open_risk());
    local_failure_.reset();
    stopped_.clear();
    pause_ = {};
  }
  stock_.note_change();
  log_event(LogLevel::Info, "refills resumed", {{"peer", settings_.name}});
}

void Refills::link_is_down() {
  const Lock lock(mutex_);
  order_.reset();
  asked_ = 0;
  changed_.notify_all();
}

void Refills::ordered(const wire::Refill& order) {
  {
    const Lock lock(mutex_);
    order_ = order;
  }
  stock_.note_change();
}

void Refills::answered(const wire::RefillAnswer& answer) {
  if (answer.begins()) stock_.await_peers();  // after the refill
  const Lock lock(mutex_);
  if (asked_ == 0 || answer.group() != asked_) return;
  answer_ = answer;
  changed_.notify_all();
}

void Refills::run_refills(const std::stop_token& stop) {
  const LowPriority here;
  while (!stop.stop_requested()) {
    // Such as a full disk; the other peers are not concerned.
    if (errors_.run([&] { refill_once(stop); })) continue;
    shared_.refill_slots.leave(settings_.name);
    Lock lock(mutex_);
    changed_.wait_for(lock, stop, kStockInterval, [] { return false; });
  }
}

void Refills::refill_once(const std::stop_token& stop) {
  stock_.wait_for_change(stop, kStockInterval);
  if (stop.stop_requested()) return;
  stock_.end_old();
  std::optional<wire::Refill> order;
  bool may_lead = false;
  {
    const Lock lock(mutex_);
    order.swap(order_);
    may_lead = settings_.leads() && !is_stopping_ && pause_.is_over(Clock::now());
  }
  if (order)
    follow(*order, stop);
  else if (may_lead && stock_.is_low())
    lead(stop);
}

// Without its connection.
PreprocessRequest Refills::request_for(std::uint64_t session) const {
  PreprocessRequest request;
  request.party = settings_.me;
  request.store = sessions_.path_of(session);
  request.store_key = sessions_.store_key();
  request.amount = Amount::Left;
  request.ands = settings_.high.ands;
  request.inputs = settings_.high.inputs;
  request.threads = shared_.config.refill_threads();
  request.parameters.profile = settings_.profile;
  request.parameters.sigma = settings_.sigma;
  request.parameters.material = settings_.material;
  request.parameters.base_ot = settings_.base_ot;
  return request;
}

// Whether this party has so much that only the peer's claims make it store more: of both kinds, or
// of one that the peer claims to lack.
bool Refills::has_all_but_for_claims(const engine::Demand& own) {
  const engine::Demand both = stock_.left_at_both(), high = settings_.high;
  const bool has_ands = own.ands >= kStockMax * high.ands,
             has_inputs = own.inputs >= kStockMax * high.inputs;
  if (has_ands && both.ands < high.ands) return true;
  if (has_inputs && both.inputs < high.inputs) return true;
  return has_ands && has_inputs;
}

// Why this party takes part in no refill of this session now; empty if it does. The peer decides
// neither how often sessions begin, nor how soon a refill follows one that it has broken off.
std::optional<std::string> Refills::refusal(std::uint64_t session) {
  if (is_stopping_) return "the daemon is stopping";
  if (const auto failure = local_failure_.message(free_bytes_in(shared_.config.directory())))
    return "the last refill failed at this party: " + *failure;
  const Stock::Own own = stock_.own(session);
  if (has_all_but_for_claims(own.all))
    return "this party has " + std::to_string(own.all.ands) + " ANDs and " +
           std::to_string(own.all.inputs) + " inputs in stock, more than the peer claims to have";
  const PreprocessRequest request = request_for(session);
  if (const auto shortage =
          engine::disk_shortage(request.store, engine::space_for(request, own.of_session)))
    return shortage->what();
  const SessionRecord& record = sessions_.record();
  if (auto reason = record.refusal_to_refill(sessions_.open_risk())) return reason;
  if (session > record.last_number())
    return record.refusal_to_begin(stock_.cause_of_new_session(), SessionRecord::Clock::now());
  if (!stock_.has(session)) return "session " + std::to_string(session) + " has ended";
  return std::nullopt;
}

void Refills::set_stopped(const std::string& reason) {
  if (stopped_.empty())
    log_event(LogLevel::Error, "refills stopped", {{"peer", settings_.name}, {"reason", reason}});
  stopped_ = reason;
}

bool Refills::take_slot(Turn& turn) {
  turn.slot = shared_.refill_slots.take(
      settings_.name, turn.moved,
      [after_unit = turn.after_unit, broken = turn.broken](RefillSlots::End end) mutable {
        (end == RefillSlots::End::AtOnce ? broken : after_unit).request_stop();
      },
      Clock::now());
  return turn.slot != nullptr;
}

void Refills::note_peers_answer(const std::string& reason) {
  std::string clean = foreign_text(reason);
  if (!clean.empty() && peers_refusal_.empty())
    if (const auto suppressed = refusal_lines_.admit(Clock::now()))
      log_event(LogLevel::Warning, "refill declined by the peer",
                {{"peer", settings_.name}, {"reason", clean}, {"suppressed", *suppressed}});
  peers_refusal_ = std::move(clean);
}

// Keeps this peer's place for a slot while the peer answers, and for some time while it is busy
// with others, but no slot from the others.
void Refills::lead(const std::stop_token& stop) {
  if (!shared_.refill_slots.is_turn_of(settings_.name, Clock::now())) return;
  const std::optional<wire::Refill> order = agree(stop);
  Turn turn;
  if (order) {
    const auto until = Clock::now() + kSlotTime;
    while (!take_slot(turn) && Clock::now() < until && !stop.stop_requested()) {
      Lock lock(mutex_);
      changed_.wait_for(lock, stop, kSlotInterval, [] { return false; });
    }
  }
  if (turn.slot) return refill(*order, stop, turn);
  if (busy_since_ && Clock::now() < *busy_since_ + shared_.refill_slots.times().busy) return;
  busy_since_.reset();
  shared_.refill_slots.leave(settings_.name);
}

// The order that the peer begins; empty if there is none.
std::optional<wire::Refill> Refills::agree(const std::stop_token& stop) {
  wire::Message message;
  wire::Refill& order = *message.mutable_refill();
  order.set_group(link_.port().new_group());
  order.set_session(stock_.session_to_fill());
  order.set_ands(settings_.high.ands);
  order.set_inputs(settings_.high.inputs);
  Lock lock(mutex_);
  const auto busy_since = std::exchange(busy_since_, std::nullopt);
  if (const auto reason = refusal(order.session())) {
    set_stopped(*reason);
    return std::nullopt;
  }
  stopped_.clear();
  answer_.reset();
  asked_ = order.group();
  link_.send(message);
  // The end of the link is an answer, too.
  changed_.wait_for(lock, stop, kAnswerTime, [&] { return asked_ == 0 || answer_; });
  const bool is_linked = std::exchange(asked_, 0) != 0;
  const bool begins = is_linked && answer_ && answer_->begins();
  if (!begins) pause_.begin_shortest(Clock::now());
  const bool is_busy = answer_ && answer_->is_busy() && !begins;
  if (is_busy) busy_since_ = busy_since.value_or(Clock::now());
  note_peers_answer(begins || !answer_ ? "" : answer_->reason());
  return begins ? std::optional(order) : std::nullopt;
}

void Refills::follow(const wire::Refill& order, const std::stop_token& stop) {
  wire::Message message;
  wire::RefillAnswer& answer = *message.mutable_refill_answer();
  answer.set_group(order.group());
  Turn turn;
  {
    const Lock lock(mutex_);
    std::optional<std::string> reason;
    if (order.ands() != settings_.high.ands || order.inputs() != settings_.high.inputs ||
        order.group() == 0 || (order.group() & StreamPort::kLinkBit) != 0)
      reason = "the order is not that of a refill up to high";
    if (!reason) reason = stock_.refusal_to_fill(order.session());
    if (!reason && !pause_.is_over(Clock::now()))
      reason = "a refill has failed, and the next one has to wait";
    if (!reason && (reason = refusal(order.session()))) set_stopped(*reason);
    if (!reason && !take_slot(turn)) {
      reason = "other peers are being refilled";
      answer.set_is_busy(true);
    }
    if (!reason) stopped_.clear();
    answer.set_begins(!reason);
    const auto directory = std::filesystem::absolute(shared_.config.directory());
    answer.set_reason(for_peer(reason.value_or(""), directory.string()));
    link_.send(message);
  }
  if (turn.slot) refill(order, stop, turn);
}

void Refills::refill(const wire::Refill& order, const std::stop_token& stop, Turn& turn) {
  std::stop_source& cancel = turn.after_unit;
  const std::stop_callback end(stop, [&] { cancel.request_stop(); });
  const std::stop_callback give_up(turn.broken.get_token(), [&] { cancel.request_stop(); });
  PreprocessRequest request = request_for(order.session());
  engine::PeerOptions options = options_for(link_.port(), order.group(), cancel.get_token());
  options.open_stream = [&, open = options.open_stream] {
    std::unique_ptr<net::ByteStream> stream =
        std::make_unique<CancellableStream>(open(), turn.broken.get_token(), turn.moved);
    if (shared_.config.has_refill_bytes_per_s())
      stream->limit_rate(shared_.config.refill_bytes_per_s());
    return stream;
  };
  request.endpoint = engine::endpoint_with(std::move(options));
  const bool is_new = !storage::Store::exists(request.store);
  BeginsBy cause{};
  {
    const Lock lock(mutex_);
    if (is_stopping_ || !stock_.begin_filling(order.session(), turn.broken)) return;
    cause = stock_.cause_of_new_session();
    is_refilling_ = true;
    after_unit_ = cancel;
    broken_ = turn.broken;
  }
  log_event(LogLevel::Info, "refill begins",
            {{"peer", settings_.name}, {"number", order.session()}});
  std::optional<PreprocessResult> result;
  std::optional<JobError> error;
  try {
    // A session that is broken off at any time after that has been counted.
    request.before_new_store = [&] {
      sessions_.record().begin(order.session(), cause, SessionRecord::Clock::now());
    };
    result = preprocess(request, nullptr, cancel.get_token());
  } catch (const std::exception&) {
    error = current_error();
  }
  // Of a refill that has failed, too.
  shared_.metrics.traffic(settings_.name, TrafficOf::Refill,
                          {turn.moved.sent, turn.moved.received});
  sessions_.refilled(order.session());
  // Whatever fails here, the refill has ended.
  errors_.run([&] { stock_.end_revoked(); });
  if (is_new && storage::Store::exists(request.store))
    shared_.metrics.session_begun(settings_.name);
  RefillOutcome outcome{};
  {
    const Lock lock(mutex_);
    is_refilling_ = false;
    const bool has_session_ended = stock_.end_filling();
    outcome = outcome_of(order.session(), error);
    if (outcome == RefillOutcome::Done)
      note_success(*result);
    else if (outcome == RefillOutcome::Cancelled)
      log_event(LogLevel::Info, "refill cancelled",
                {{"peer", settings_.name}, {"number", order.session()}});
    else if (!cancel.stop_requested() || turn.broken.stop_requested())
      note_failure(*error, has_session_ended);
    pause_.begin(Clock::now());
  }
  shared_.metrics.refill(settings_.name, outcome, result ? result->ands : 0);
  stock_.end_old();
  stock_.send();
  scheduler_.dispatch();
  if (error && error->error_class == ErrorClass::PeerCheated) call_peer_cheated_();
}

// What the operator has ended has not failed.
RefillOutcome Refills::outcome_of(std::uint64_t session,
                                  const std::optional<JobError>& error) const {
  if (!error) return RefillOutcome::Done;
  const bool is_retired = session < sessions_.first_active_session();
  return error->error_class != ErrorClass::PeerCheated && (is_stopping_ || is_retired)
             ? RefillOutcome::Cancelled
             : RefillOutcome::Failed;
}

void Refills::note_success(const PreprocessResult& result) {
  pause_.shorten_after(result.ands);
  log_event(LogLevel::Info, "stock refilled",
            {{"peer", settings_.name},
             {"session", short_name(result.store.session)},
             {"ands", result.ands},
             {"seconds", result.wall_s}});
}

void Refills::note_failure(const JobError& error, bool has_session_ended) {
  const bool is_cheating = error.error_class == ErrorClass::PeerCheated;
  if (is_cheating) shared_.metrics.cheating(settings_.name);
  if (error.error_class == ErrorClass::Store && !has_session_ended)
    local_failure_.set(error.message, free_bytes_in(shared_.config.directory()));
  pause_.lengthen();
  log_event(is_cheating ? LogLevel::Error : LogLevel::Warning, "refill failed",
            {{"peer", settings_.name}, {"error", error.message}});
}

}  // namespace tinyot::service
