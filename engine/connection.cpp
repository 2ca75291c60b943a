#include "engine/connection.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "net/latency.h"

namespace tinyot::engine {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kJoinTime = std::chrono::seconds(5);
constexpr auto kAbortTime = std::chrono::seconds(1);

}  // namespace

Connector::Connector(const Endpoint& endpoint, std::stop_token cancel)
    : Connector(options_of(endpoint), std::move(cancel)) {}

Connector::Connector(const PeerOptions& options, std::stop_token cancel)
    : options_(options), cancel_(std::move(cancel)) {
  require_usable(options);
  if (options.listen && !options.open_stream)
    listener_.emplace(
        options.address, options.timeouts,
        options.rejected ? options.rejected : [](const std::string&, Remedy) {});
}

std::unique_ptr<net::Channel> Connector::open() {
  if (options_.open_stream) return net::make_framed_channel(options_.open_stream());
  const net::Admission& admission =
      options_.tls ? static_cast<const net::Admission&>(*options_.tls) : net::plain_admission();
  return net::make_framed_channel(
      listener_ ? listener_->accept(admission, cancel_)
                : net::tcp_connect(options_.address, options_.timeouts, admission, cancel_));
}

std::unique_ptr<net::Channel> Connector::open_worker(const checks::SessionIds& ids, Party me,
                                                     std::uint64_t worker) {
  const auto give_up = Clock::now() + options_.timeouts.connect;
  for (;;) {
    auto channel = open();
    const CancelsWaits guard(cancel_, *channel);
    channel->set_phase("joining worker " + std::to_string(worker));
    channel->set_deadline(Clock::now() + kJoinTime);
    try {
      checks::join_session(*channel, ids, me, worker);
      channel->set_deadline(Clock::time_point::max());
      return channel;
    } catch (const Error&) {
      if (cancel_.stop_requested()) throw Cancelled();
      // This was not the peer, and nothing about the session was sent to it.
      if (!listener_ || Clock::now() >= give_up)
        throw NetworkError("worker " + std::to_string(worker) +
                           " of the peer did not join the session");
    }
  }
}

void within_session(std::span<storage::Store> stores, net::Channel& channel,
                    const std::function<void()>& work) {
  const auto revoke = [&](const std::string& reason) {
    for (const storage::Store& store : stores) store.announce_revocation();
    for (storage::Store& store : stores) {
      try {
        store.revoke(reason);
      } catch (const StoreError&) {
        // The keys are erased even if the reason could not be written; the failed check is what to
        // report.
      }
    }
  };
  try {
    work();
  } catch (const PeerCheated& error) {
    revoke("the peer cheated, check: " + error.check());
    channel.set_deadline(Clock::now() + kAbortTime);
    channel.send_abort();
    throw;
  } catch (const PeerAborted&) {
    revoke("the peer aborted the session");
    throw;
  }
}

std::chrono::nanoseconds latency_of(net::Channel& channel) {
  constexpr int kMeasurementsMax = 16;
  constexpr auto kCertainlyLong = 5 * kLongLatency;
  auto least = net::measure_latency(channel);
  for (int i = 1; i < kMeasurementsMax && least >= kLongLatency && least < kCertainlyLong; ++i)
    least = std::min(least, net::measure_latency(channel));
  return least;
}

SessionId session_id_of(const storage::Manifest& manifest) {
  SessionId id;
  static_assert(sizeof id.bytes == sizeof manifest.session_id);
  std::memcpy(id.bytes.data(), manifest.session_id.data(), sizeof id.bytes);
  return id;
}

}  // namespace tinyot::engine
