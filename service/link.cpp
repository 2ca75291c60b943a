#include "service/link.h"

#include <utility>

#include "base/error.h"
#include "engine/base_ot_choice.h"
#include "engine/key_file.h"
#include "service/event_log.h"
#include "service/foreign_text.h"
#include "service/messages_version.h"
#include "system/clock.h"

namespace tinyot::service {
namespace {

constexpr auto kConnectTime = std::chrono::seconds(10);
constexpr std::chrono::milliseconds kLinkPauseMin{200}, kLinkPauseMax{10'000};

engine::PeerOptions options_from(const config::Peer& peer) {
  engine::PeerOptions options{
      .listen = peer.has_listen(),
      .address = net::parse_address(peer.has_listen() ? peer.listen() : peer.connect()),
      .timeouts = {kConnectTime, std::chrono::seconds(peer.idle_timeout_s())},
  };
  try {
    if (peer.has_key()) engine::authenticate(options, peer.key(), peer.peer_key());
    engine::require_usable(options);
  } catch (const UsageError& error) {
    throw UsageError("peer " + peer.name() + ": " + error.what());
  }
  return options;
}

engine::PeerOptions logging(engine::PeerOptions options,
                            std::function<void(const std::string&)> rejected) {
  options.rejected = [rejected = std::move(rejected)](const std::string& text, Remedy) {
    rejected(text);
  };
  return options;
}

// What the configurations of both parties must have in common.
std::vector<net::Parameter> parameters_of(const config::Daemon& daemon, const config::Peer& peer,
                                          const PeerSettings& settings) {
  const auto level = [](const engine::Demand& demand) {
    return std::to_string(demand.ands) + " ANDs, " + std::to_string(demand.inputs) + " inputs";
  };
  // As each party sees it, the peer is the other one.
  const Party listener = peer.has_listen() ? settings.me : peer_of(settings.me);
  return {{.name = "version of the daemon's messages",
           .value = std::to_string(kMessagesVersion),
           .is_version = true},
          {"listening party", name_of(listener)},
          {"profile", std::string(name_of(settings.profile))},
          {"sigma", std::to_string(settings.sigma)},
          {"material", std::string(name_of(settings.material))},
          {"online", settings.online ? std::string(name_of(*settings.online)) : "auto"},
          {"low", level(settings.low)},
          {"high", level(settings.high)},
          {"refill_threads", std::to_string(daemon.refill_threads())},
          {"evaluations", std::to_string(settings.evaluations)},
          engine::base_ot_parameter(settings.base_ot)};  // of refills
}

// That the certificate of this party, or of the peer as it was last seen, has expired; empty if it
// has not.
std::string own_expiry(const net::TlsAdmission* tls) {
  if (tls == nullptr || std::chrono::system_clock::now() < tls->valid_until()) return {};
  return "this party's certificate expired at " + system::utc_text(tls->valid_until()) +
         ": renew it and reload the configuration";
}
std::string peers_expiry(const net::TlsAdmission* tls) {
  const auto end = tls == nullptr ? std::nullopt : tls->peer_valid_until();
  if (!end || std::chrono::system_clock::now() < *end) return {};
  return "the peer's certificate expired at " + system::utc_text(*end) +
         ": the peer has to renew it";
}

}  // namespace

Link::Link(const config::Daemon& daemon, const config::Peer& peer, const PeerSettings& settings,
           Listener& listener)
    : settings_(settings), listener_(listener),
      port_(logging(options_from(peer), [this](const std::string& text) { rejected(text); }),
            [this](std::uint64_t group) { replaced_by(group); }),
      parameters_(parameters_of(daemon, peer, settings)) {}

void Link::check(const config::Peer& peer) { (void)options_from(peer); }

std::shared_ptr<const net::TlsAdmission> Link::renewed(const config::Peer& peer) const {
  const auto before = port_.options().tls;
  const auto require_same = [](const std::string& field, const net::Fingerprint& now,
                               const net::Fingerprint& then) {
    if (now != then)
      throw UsageError(field + " names another key, " + text_of(now) + " in place of " +
                       text_of(then) +
                       ": the stores are bound to the keys that they were made "
                       "with, so keys change with a restart alone");
  };
  try {
    if (peer.has_key() != (before != nullptr))
      throw UsageError("key: TLS with the peer begins and ends with a restart alone");
    if (!before) return nullptr;
    const net::Identity mine = engine::read_identity(peer.key());
    require_same("key", mine.fingerprint(), before->mine());
    require_same("peer_key", engine::peer_key_from(peer.peer_key()), before->peer());
    return std::make_shared<net::TlsAdmission>(mine, *before);
  } catch (const UsageError& error) {
    throw UsageError("peer " + peer.name() + ": " + error.what());
  }
}

void Link::renew(std::shared_ptr<const net::TlsAdmission> tls) {
  const auto before = port_.options().tls;
  const bool is_another = !before || before->certificate() != tls->certificate();
  port_.renew(std::move(tls));
  {
    const Lock lock(mutex_);
    is_renewed_ = true;
    if (is_another) end_because("this party's certificate has been renewed");
  }
  stopped_.notify_all();
}

void Link::end_because(std::string why) {
  if (!link_) return;
  ended_because_ = std::move(why);
  link_->shut_down();
}

void Link::end_expired() {
  const auto tls = port_.options().tls;
  std::string why = own_expiry(tls.get());
  if (why.empty()) why = peers_expiry(tls.get());
  const Lock lock(mutex_);
  if (!why.empty()) end_because(std::move(why));
}

void Link::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { keep(stop); });
}

void Link::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Link::keep(const std::stop_token& stop) {
  auto pause = kLinkPauseMin;
  while (!stop.stop_requested()) {
    std::string why;
    try {
      connect_and_receive(stop, pause);
    } catch (const Cancelled&) {
      break;
    } catch (const PeerCheated& error) {
      why = "the peer does not follow the protocol of the link (check: " + error.check() + ")";
    } catch (const std::exception& error) {
      why = foreign_text(error.what());
    }
    if (stop.stop_requested()) break;
    errors_.run([&] { is_down(why); });
    Lock lock(mutex_);
    const bool is_renewed =
        stopped_.wait_for(lock, stop, pause, [&] { return std::exchange(is_renewed_, false); });
    pause = is_renewed ? kLinkPauseMin : std::min(2 * pause, kLinkPauseMax);
  }
  std::shared_ptr<PeerLink> ended;  // destroyed without the lock
  const Lock lock(mutex_);
  ended.swap(link_);
}

// Returns by an exception alone. A link that was up is connected again soon.
void Link::connect_and_receive(const std::stop_token& stop, std::chrono::milliseconds& pause) {
  if (const std::string why = own_expiry(port_.options().tls.get()); !why.empty())
    throw NetworkError(why);
  const auto link = std::make_shared<PeerLink>(port_, settings_.me, parameters_, stop,
                                               [this] { listener_.link_has_room(); });
  const std::stop_callback end(stop, [&] { link->shut_down(); });
  is_up(link);
  pause = kLinkPauseMin;
  for (;;) listener_.received(link->receive());
}

void Link::is_up(std::shared_ptr<PeerLink> link) {
  {
    const Lock lock(mutex_);
    link_ = std::move(link);
    last_error_.clear();
    ended_because_.clear();
    if (const auto suppressed = link_lines_.admit(Clock::now()))
      log_event(LogLevel::Info, "peer connected",
                {{"peer", settings_.name}, {"suppressed", *suppressed}});
  }
  listener_.link_is_up();
}

void Link::is_down(std::string why) {
  std::shared_ptr<PeerLink> ended;  // destroyed without the lock
  {
    const Lock lock(mutex_);
    if (!ended_because_.empty()) why = std::exchange(ended_because_, {});
    const bool is_news = link_ || !last_error_.starts_with(why);
    if (const auto suppressed = is_news ? link_lines_.admit(Clock::now()) : std::nullopt)
      log_event(LogLevel::Warning, "peer not connected",
                {{"peer", settings_.name}, {"error", why}, {"suppressed", *suppressed}});
    ended.swap(link_);
    last_error_ = why;
    if (!last_rejection_.empty()) last_error_ += "; rejected: " + last_rejection_;
    last_rejection_.clear();
  }
  if (ended) listener_.link_is_down();
}

void Link::rejected(const std::string& connection) {
  const Lock lock(mutex_);
  last_rejection_ = foreign_text(connection);
  if (const auto suppressed = rejection_lines_.admit(Clock::now()))
    log_event(LogLevel::Warning, "connection rejected",
              {{"peer", settings_.name}, {"error", last_rejection_}, {"suppressed", *suppressed}});
}

// The peer has begun a new link, so it has lost this one.
void Link::replaced_by(std::uint64_t group) {
  const Lock lock(mutex_);
  if (link_ && link_->group() != group) link_->shut_down();
}

void Link::send(const wire::Message& message) {
  const Lock lock(mutex_);
  if (link_) link_->send(message);
}

bool Link::has_room() {
  const Lock lock(mutex_);
  return link_ && link_->has_room();
}

Link::Status Link::status() {
  const Lock lock(mutex_);
  return {link_ != nullptr, last_error_};
}

}  // namespace tinyot::service
