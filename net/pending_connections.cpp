#include "net/pending_connections.h"

#include <poll.h>

#include <algorithm>

#include "base/error.h"

namespace tinyot::net {
namespace {

constexpr std::size_t kLogLinesMax = 100;

}  // namespace

std::string seconds_of(std::chrono::milliseconds time) {
  return std::to_string((time.count() + 999) / 1000) + " s";
}

void PendingConnections::enter(std::unique_ptr<TcpStream> stream, const Admission& admission) {
  if (peers_.size() == kPendingMax)
    reject(peers_.begin(),
           "it had shown nothing when " + std::to_string(kPendingMax) + " others had come");
  PendingPeer guest{stream->descriptor(), stream->remote(), Clock::now() + patience_, nullptr};
  guest.pending = admission.begin(std::move(stream), Side::Listens);
  peers_.push_back(std::move(guest));
}

std::unique_ptr<ByteStream> PendingConnections::admit() {
  for (auto guest = peers_.begin(); guest != peers_.end();) {
    try {
      if (auto stream = guest->pending->advance()) {
        peers_.erase(guest);
        return stream;
      }
      if (Clock::now() < guest->until)
        ++guest;
      else
        guest = reject(guest, "it has not shown who it is within " + seconds_of(patience_));
    } catch (const NetworkError& error) {
      guest = reject(guest, error.what());
    }
  }
  return nullptr;
}

void PendingConnections::wait(int door, Clock::time_point until) const {
  std::vector<pollfd> descriptors = {{door, POLLIN, 0}};
  for (const PendingPeer& guest : peers_) {
    descriptors.push_back({guest.descriptor, POLLIN, 0});
    until = std::min(until, guest.until);
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  ::poll(descriptors.data(), descriptors.size(),
         static_cast<int>(std::clamp<long>(left.count(), 0, 1000)));
}

std::string PendingConnections::account() const {
  return rejected_ == 0 ? ""
                        : "; " + std::to_string(rejected_) + " turned away, the last one " + last_;
}

PendingConnections::Place PendingConnections::reject(Place guest, const std::string& reason) {
  last_ = guest->from + ": " + reason;
  if (++rejected_ <= kLogLinesMax)
    log_("turned away " + last_ + (rejected_ == kLogLinesMax ? " (no more of these lines)" : ""));
  return peers_.erase(guest);
}

}  // namespace tinyot::net
