#include "service/stock.h"

#include <algorithm>

#include "base/error.h"
#include "service/disk_room.h"
#include "service/event_log.h"

namespace tinyot::service {
namespace {

// By so many sessions a peer may be ahead of this party, which may have lost its disk.
constexpr std::uint64_t kSessionsAhead = std::uint64_t{1} << 20;
// Sessions whose stores are kept: the one that is filled, and those before that still have
// material.
constexpr std::size_t kSessionsKept = 3;

}  // namespace

Stock::Stock(const PeerSettings& settings, Shared& shared, Sessions& sessions,
             Evaluations& evaluations, Link& link)
    : settings_(settings), shared_(shared), sessions_(sessions), evaluations_(evaluations),
      link_(link) {}

bool Stock::can_be_filled(const SessionStock& session) const {
  return session.has_room && session.profile == settings_.profile &&
         session.sigma == settings_.sigma && session.form == settings_.material;
}

std::vector<SessionStock> Stock::common_of(std::vector<SessionStock> stock) const {
  std::vector<SessionStock> common;
  for (SessionStock& session : stock) {
    const auto theirs =
        std::ranges::find(peers_.sessions(), session.number, &wire::Session::number);
    if (theirs == peers_.sessions().end() || theirs->id() != session.id ||
        session.number < sessions_.first_active_session())
      continue;
    session.left.ands = std::min(session.left.ands, theirs->ands());
    session.left.inputs = std::min(session.left.inputs, theirs->inputs());
    session.has_room = theirs->has_room() && can_be_filled(session);
    common.push_back(std::move(session));
  }
  return common;
}

engine::Demand Stock::left() const {
  engine::Demand left;
  for (const SessionStock& session : common_of(sessions_.stock())) {
    left.ands += session.left.ands;
    left.inputs += session.left.inputs;
  }
  return left;
}

// The highest number that this party has used: those of sessions that have ended are not used
// again.
std::uint64_t Stock::last_session() const {
  return std::max({sessions_.record().last_number(), current_, sessions_.first_active_session()});
}

std::uint64_t Stock::oldest_to_fill() const {
  return std::max(current_, sessions_.first_active_session());
}

void Stock::send_own() {
  wire::Message message;
  wire::Stock& stock = *message.mutable_stock();
  for (const SessionStock& session : sessions_.stock()) {
    if (session.number < sessions_.first_active_session()) continue;
    wire::Session& sent = *stock.add_sessions();
    sent.set_number(session.number);
    sent.set_id(session.id);
    sent.set_ands(session.left.ands);
    sent.set_inputs(session.left.inputs);
    sent.set_has_room(session.has_room);
  }
  stock.set_last_session(last_session());
  is_told_full_ = is_disk_full();
  stock.set_is_disk_full(is_told_full_);
  link_.send(message);
}

std::vector<SessionStock> Stock::common() {
  const Lock lock(mutex_);
  return common_of(sessions_.stock());
}

engine::Demand Stock::left_at_both() {
  const Lock lock(mutex_);
  return left();
}

Stock::Own Stock::own(std::uint64_t session) {
  const Lock lock(mutex_);
  Own own;
  for (const SessionStock& stock : sessions_.stock()) {
    if (stock.number < sessions_.first_active_session()) continue;
    own.all.ands += stock.left.ands;
    own.all.inputs += stock.left.inputs;
    if (stock.number == session) own.of_session = stock.counts;
  }
  return own;
}

bool Stock::has(std::uint64_t session) {
  if (session < sessions_.first_active_session()) return false;
  const auto stock = sessions_.stock();
  return std::ranges::find(stock, session, &SessionStock::number) != stock.end();
}

bool Stock::use(std::uint64_t session) {
  const Lock lock(mutex_);
  if (session < sessions_.first_active_session()) return false;
  current_ = std::max(current_, session);
  return true;
}

void Stock::link_is_up() {
  const Lock lock(mutex_);
  send_own();
}

void Stock::link_is_down() {
  const Lock lock(mutex_);
  peers_.Clear();
  are_peers_awaited_ = true;
}

void Stock::received(const wire::Stock& stock) {
  const Lock lock(mutex_);
  if (stock.is_disk_full() && !peers_.is_disk_full())
    if (const auto suppressed = full_lines_.admit(LogRate::Clock::now()))
      log_event(LogLevel::Warning, "the peer's disk is full; jobs wait",
                {{"peer", settings_.name}, {"suppressed", *suppressed}});
  peers_ = stock;
  are_peers_awaited_ = false;
  out_of_stock_ = false;  // as was known with the stock before
}

void Stock::await_peers() {
  const Lock lock(mutex_);
  are_peers_awaited_ = true;
}

void Stock::send() {
  const Lock lock(mutex_);
  send_own();
}

void Stock::tell_room() {
  const Lock lock(mutex_);
  if (is_disk_full() != is_told_full_) send_own();
}

bool Stock::is_disk_full() const { return !full_disk(shared_.config.directory()).empty(); }

std::string Stock::disk_shortage() {
  std::string mine = full_disk(shared_.config.directory());
  const Lock lock(mutex_);
  if (mine.empty() && peers_.is_disk_full()) return "the peer's disk is full";
  return mine;
}

bool Stock::is_low() {
  const Lock lock(mutex_);
  if (are_peers_awaited_) return false;
  const engine::Demand both = left();
  return both.ands < settings_.low.ands || both.inputs < settings_.low.inputs || out_of_stock_;
}

void Stock::set_starved(bool is_starved) {
  {
    const Lock lock(mutex_);
    out_of_stock_ = is_starved;
    has_changed_ = true;
  }
  changed_.notify_all();
}

void Stock::note_change() {
  {
    const Lock lock(mutex_);
    has_changed_ = true;
  }
  changed_.notify_all();
}

void Stock::wait_for_change(const std::stop_token& stop, std::chrono::milliseconds time) {
  Lock lock(mutex_);
  changed_.wait_for(lock, stop, time, [&] { return has_changed_; });
  has_changed_ = false;
}

std::uint64_t Stock::session_to_fill() {
  const Lock lock(mutex_);
  const auto common = common_of(sessions_.stock());
  if (!common.empty() && common.back().has_room) return common.back().number;
  return std::clamp(peers_.last_session(), last_session(), last_session() + kSessionsAhead) + 1;
}

std::optional<std::string> Stock::refusal_to_fill(std::uint64_t session) {
  const Lock lock(mutex_);
  if (session < oldest_to_fill())
    return "session " + std::to_string(session) + " has been replaced or retired";
  if (session > last_session() + kSessionsAhead + 1)
    return "session " + std::to_string(session) + " is too far ahead";
  const auto stock = sessions_.stock();
  const auto own = std::ranges::find(stock, session, &SessionStock::number);
  if (own != stock.end() && own->retired != nullptr)
    return "session " + std::to_string(session) + " cannot be filled: " + own->retired->refusal();
  return std::nullopt;
}

BeginsBy Stock::cause_of_new_session() {
  const Lock lock(mutex_);
  const auto stock = sessions_.stock();
  const bool can_one_be_filled = std::ranges::any_of(stock, [&](const SessionStock& session) {
    return session.number >= sessions_.first_active_session() && can_be_filled(session);
  });
  return can_one_be_filled ? BeginsBy::PeersClaim : BeginsBy::OwnAccount;
}

bool Stock::begin_filling(std::uint64_t session, const std::stop_source& broken) {
  const Lock lock(mutex_);
  if (session < sessions_.first_active_session()) return false;
  filling_ = {session, broken};
  return true;
}

bool Stock::end_filling() {
  const Lock lock(mutex_);
  const bool has_ended = filling_ && filling_->has_ended;
  filling_.reset();
  return has_ended;
}

void Stock::end_revoked() {
  const Lock lock(mutex_);
  (void)sessions_.stock();
  end_revoked_ones();
}

// All that uses their keys ends before anything is said of it, which may fail.
void Stock::end_revoked_ones() {
  const std::vector<RevokedSession> ended = sessions_.take_revoked();
  for (const RevokedSession& session : ended) {
    ++revoked_;
    if (filling_ && filling_->session == session.number) {
      filling_->has_ended = true;
      filling_->broken.request_stop();
    }
    evaluations_.end_session(session.number, "the session is revoked: " + session.reason);
  }
  for (const RevokedSession& session : ended) {
    shared_.metrics.session_ended(settings_.name, SessionEnd::Revoked);
    log_event(LogLevel::Error, "session revoked",
              {{"peer", settings_.name}, {"number", session.number}, {"reason", session.reason}});
  }
  if (!ended.empty()) send_own();
}

void Stock::end_old() {
  const Lock lock(mutex_);
  const std::vector<SessionStock> all = sessions_.stock();
  end_revoked_ones();
  std::uint64_t below = oldest_to_fill();
  for (const SessionStock& session : common_of(all))
    if (session.left.ands > 0) {
      below = std::max(below, session.number);
      break;
    }
  if (all.size() > kSessionsKept) below = std::max(below, all[all.size() - kSessionsKept].number);
  if (all.empty() || all.front().number >= below) return;
  evaluations_.close_below(below);
  for (const std::uint64_t number : sessions_.retire_below(below)) {
    const SessionEnd reason =
        number < sessions_.first_active_session() ? SessionEnd::Retired : SessionEnd::Replaced;
    shared_.metrics.session_ended(settings_.name, reason);
    log_event(LogLevel::Info, "session ended",
              {{"peer", settings_.name}, {"number", number}, {"reason", name_of(reason)}});
  }
  send_own();
}

std::string Stock::retire() {
  const Lock lock(mutex_);
  const auto stock = sessions_.stock();
  if (stock.empty()) throw StoreError("there is no session with " + settings_.name);
  const std::uint64_t below = stock.back().number + 1;
  sessions_.record().set_first_active_session(below);
  evaluations_.close_below(below);
  if (filling_) {
    filling_->has_ended = true;
    filling_->broken.request_stop();
  }
  has_changed_ = true;
  changed_.notify_all();
  send_own();
  return stock.back().id;
}

Stock::Status Stock::status() {
  const Lock lock(mutex_);
  Status status;
  status.sessions = sessions_.stock();
  status.revoked = revoked_;
  status.risk = as_double(sessions_.record().total(sessions_.open_risk()));
  for (const SessionStock& session : common_of(status.sessions)) {
    if (session.left.ands == 0) continue;
    status.current = session.number;
    break;
  }
  return status;
}

}  // namespace tinyot::service
