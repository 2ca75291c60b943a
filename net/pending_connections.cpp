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

void PendingConnections::add(std::unique_ptr<TcpStream> stream, const Admission& admission) {
  if (peers_.size() == kPendingMax)
    reject(peers_.begin(), "it did not authenticate before " + std::to_string(kPendingMax) +
                               " further connections arrived");
  PendingPeer peer{stream->descriptor(), stream->remote(), Clock::now() + timeout_, nullptr};
  peer.pending = admission.begin(std::move(stream), Side::Listens);
  peers_.push_back(std::move(peer));
}

std::unique_ptr<ByteStream> PendingConnections::admit() {
  for (auto peer = peers_.begin(); peer != peers_.end();) {
    try {
      if (auto stream = peer->pending->advance()) {
        peers_.erase(peer);
        return stream;
      }
      if (Clock::now() < peer->until)
        ++peer;
      else
        peer = reject(peer, "it did not authenticate within " + seconds_of(timeout_));
    } catch (const NetworkError& error) {
      peer = reject(peer, error.what(), error.remedy());
    }
  }
  return nullptr;
}

void PendingConnections::wait(int listener, Clock::time_point until) const {
  std::vector<pollfd> descriptors = {{listener, POLLIN, 0}};
  for (const PendingPeer& peer : peers_) {
    descriptors.push_back({peer.descriptor, POLLIN, 0});
    until = std::min(until, peer.until);
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  ::poll(descriptors.data(), descriptors.size(),
         static_cast<int>(std::clamp<long>(left.count(), 0, 1000)));
}

NetworkError PendingConnections::timed_out(const std::string& message) const {
  if (rejected_ == 0) return NetworkError(message, {}, Remedy::AllowLongerConnect);
  return NetworkError(message + "; connections rejected: " + std::to_string(rejected_) +
                          ", the last one from " + last_rejection_,
                      {}, remedy_ != Remedy::None ? remedy_ : Remedy::AllowLongerConnect);
}

PendingConnections::Iterator PendingConnections::reject(Iterator peer, const std::string& reason,
                                                        Remedy remedy) {
  last_rejection_ = peer->from + ": " + reason;
  remedy_ = remedy;
  if (++rejected_ <= kLogLinesMax)
    log_("rejected a connection from " + last_rejection_ +
             (rejected_ == kLogLinesMax ? " (further rejections are not logged)" : ""),
         remedy);
  return peers_.erase(peer);
}

}  // namespace tinyot::net
