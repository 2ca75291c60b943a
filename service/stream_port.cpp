#include "service/stream_port.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.h"
#include "crypto/rng.h"
#include "net/tcp_stream.h"
#include "service/event_log.h"

namespace tinyot::service {
namespace {

constexpr std::size_t kArrivedMax = 128, kAbandonedMax = 1024;
constexpr std::chrono::milliseconds kPauseTime{50};
constexpr auto kHeaderTime = std::chrono::seconds(5);
constexpr std::uint64_t kMagic = 0x3164746F796E6974;  // "tinyotd1"

struct Header {
  std::uint64_t magic, group;
  std::uint32_t number, zero;
};
static_assert(sizeof(Header) == 24);

}  // namespace

StreamPort::StreamPort(engine::PeerOptions options, std::function<void(std::uint64_t)> link_arrived,
                       std::chrono::milliseconds claim_time)
    : options_(std::move(options)), link_arrived_(std::move(link_arrived)), claim_time_(claim_time),
      last_group_(crypto::Rng::from_system().below(kLinkBit / 2)) {
  if (!options_.listen) return;
  listener_.emplace(options_.address, options_.timeouts, options_.rejected);
  acceptor_ = std::jthread([this](const std::stop_token& stop) { accept_all(stop); });
}

StreamPort::~StreamPort() = default;

engine::PeerOptions StreamPort::options() const {
  const std::lock_guard lock(options_mutex_);
  return options_;
}

void StreamPort::renew(std::shared_ptr<const net::TlsAdmission> tls) {
  const std::lock_guard lock(options_mutex_);
  options_.tls.swap(tls);
}

std::unique_ptr<net::PendingStream> StreamPort::CurrentAdmission::begin(
    std::unique_ptr<net::TcpStream> stream, net::Side side) const {
  const auto tls = port_.options().tls;
  const net::Admission& current =
      tls ? static_cast<const net::Admission&>(*tls) : net::open_admission();
  return current.begin(std::move(stream), side);
}

void StreamPort::accept_all(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    try {
      admit(listener_->accept(admission_, stop));
    } catch (const std::exception&) {
      // None arrived, or this one is not the peer's, or there is no memory or descriptor for it;
      // the next may be.
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, stop, kPauseTime, [] { return false; });
    }
  }
}

void StreamPort::admit(std::unique_ptr<net::ByteStream> stream) {
  Header header{};
  stream->set_deadline(Clock::now() + kHeaderTime);
  stream->read(std::as_writable_bytes(std::span(&header, 1)));
  stream->set_deadline(Clock::time_point::max());
  if (header.magic != kMagic || header.zero != 0)
    throw NetworkError("the connection does not begin as one of a daemon");
  const StreamName name{header.group, header.number};
  {
    const std::lock_guard lock(mutex_);
    if (std::ranges::find(abandoned_, name.group) != abandoned_.end()) return;
    const auto now = Clock::now();
    std::erase_if(arrived_, [&](const Arrived& other) {
      return other.name == name || other.at + claim_time_ < now;
    });
    if (arrived_.size() == kArrivedMax) arrived_.pop_front();
    arrived_.push_back({name, std::move(stream), now});
  }
  changed_.notify_all();
  if ((name.group & kLinkBit) != 0) link_arrived_(name.group);
}

std::unique_ptr<net::ByteStream> StreamPort::take(const StreamName& name) {
  for (auto at = arrived_.begin(); at != arrived_.end(); ++at) {
    if (at->name != name) continue;
    auto stream = std::move(at->stream);
    arrived_.erase(at);
    return stream;
  }
  return nullptr;
}

void StreamPort::abandon(std::uint64_t group) {
  const std::lock_guard lock(mutex_);
  std::erase_if(arrived_, [&](const Arrived& stream) { return stream.name.group == group; });
  if (abandoned_.size() == kAbandonedMax) abandoned_.pop_front();
  abandoned_.push_back(group);
}

template <class Attempt>
auto StreamPort::wait_for(const std::stop_token& cancel, const Attempt& attempt) {
  std::unique_lock lock(mutex_);
  auto found = attempt();
  changed_.wait_for(lock, cancel, options_.timeouts.connect,
                    [&] { return found || (found = attempt()); });
  if (found) return std::move(*found);
  if (cancel.stop_requested()) throw Cancelled();
  throw NetworkError("no connection of the peer within the connect timeout");
}

std::unique_ptr<net::ByteStream> StreamPort::open(const StreamName& name,
                                                  const std::stop_token& cancel) {
  if (listens()) {
    try {
      return wait_for(cancel, [&]() -> std::optional<std::unique_ptr<net::ByteStream>> {
        auto stream = take(name);
        if (!stream) return std::nullopt;
        return stream;
      });
    } catch (const Error&) {
      abandon(name.group);
      throw;
    }
  }
  auto stream = net::tcp_connect(options_.address, options_.timeouts, admission_, cancel);
  const Header header{kMagic, name.group, name.number, 0};
  stream->write(std::as_bytes(std::span(&header, 1)));
  stream->flush();
  return stream;
}

StreamPort::LinkStreams StreamPort::accept_link(const std::stop_token& cancel) {
  return wait_for(cancel, [&]() -> std::optional<LinkStreams> {
    for (auto at = arrived_.rbegin(); at != arrived_.rend(); ++at) {
      const std::uint64_t group = at->name.group;
      if ((group & kLinkBit) == 0 || at->name.number != 1) continue;
      LinkStreams link{group, {take({group, 0}), nullptr}};
      if (!link.streams[0]) continue;
      link.streams[1] = take({group, 1});
      std::erase_if(arrived_,
                    [](const Arrived& other) { return (other.name.group & kLinkBit) != 0; });
      return link;
    }
    return std::nullopt;
  });
}

}  // namespace tinyot::service
