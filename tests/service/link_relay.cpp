#include "tests/service/link_relay.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

namespace tinyot::test {
namespace {

// Of the header that daemons send first: "tinyotd1" and the group, whose highest bit is that of
// links.
constexpr std::size_t kGroupEnd = 16;
// A message of a few bits, with its header, such as the openings of a round.
constexpr std::size_t kFrameHeader = 16, kFewBits = 20;

}  // namespace

LinkRelay::LinkRelay(std::string target_port) : target_port_(std::move(target_port)) {
  thread_ = std::thread([this] { work(); });
}

LinkRelay::~LinkRelay() {
  is_over_ = true;
  thread_.join();
}

void LinkRelay::cut() {
  const std::lock_guard lock(mutex_);
  connections_.clear();
}

void LinkRelay::work() {
  while (!is_over_) {
    if (Socket accepted = listener_.accept(std::chrono::milliseconds(0)); accepted.valid()) {
      Socket onward = connect_to(target_port_, std::chrono::milliseconds(200));
      if (onward.valid()) {
        const std::lock_guard lock(mutex_);
        connections_.emplace_back();
        connections_.back().ends[0] = std::move(accepted);
        connections_.back().ends[1] = std::move(onward);
      }
    }
    const std::lock_guard lock(mutex_);
    std::vector<pollfd> polled;
    for (const Connection& connection : connections_)
      for (const Socket& end : connection.ends) polled.push_back({end.get(), POLLIN, 0});
    if (::poll(polled.data(), polled.size(), 1) <= 0) continue;
    std::size_t next = 0;
    for (auto at = connections_.begin(); at != connections_.end();) {
      bool is_open = true;
      for (int from = 0; from < 2; ++from)
        if (polled[next++].revents != 0) is_open = is_open && forward(*at, from);
      at = is_open ? std::next(at) : connections_.erase(at);
    }
  }
}

bool LinkRelay::forward(Connection& connection, int from) {
  char buffer[65536];
  const ssize_t count = ::recv(connection.ends[from].get(), buffer, sizeof buffer, MSG_DONTWAIT);
  if (count <= 0) return count < 0 && (errno == EAGAIN || errno == EINTR);
  std::string bytes(buffer, static_cast<std::size_t>(count));
  if (from == 0) {
    if (connection.sent == 0 && bytes.size() >= kGroupEnd)
      connection.is_link = (static_cast<unsigned char>(bytes[kGroupEnd - 1]) & 0x80) != 0;
    if (changes_ && !connection.is_link && bytes.size() > kFrameHeader && bytes.size() <= kFewBits)
      bytes.back() = static_cast<char>(bytes.back() ^ 1);
    connection.sent += bytes.size();
  }
  return connection.ends[1 - from].send_all(bytes);
}

}  // namespace tinyot::test
