#include "tests/service/link_relay.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace tinyot::test {
namespace {

// What daemons send first: "tinyotd1", the group, whose highest bit is that of links, and a number.
constexpr std::size_t kConnectionHeader = 24, kGroupEnd = 16;
// Then messages: a length of 8 bytes, tag and sequence number, payload.
constexpr std::size_t kMessageHeader = 16, kFewBytes = 4;

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
  if (from == 0) bytes = connection.is_lost ? std::string() : pass(connection, bytes);
  return connection.ends[1 - from].send_all(bytes);
}

std::string LinkRelay::pass(Connection& connection, const std::string& bytes) const {
  std::string passed;
  for (const char byte : bytes) {
    if (connection.left > 0) {
      const bool is_last = --connection.left == 0;
      const Openings openings = connection.is_short ? openings_.load() : Openings::kPassedOn;
      if (openings == Openings::kLost) {
        connection.is_lost = true;
        return passed;
      }
      const bool is_changed = openings == Openings::kChanged && is_last;
      passed += static_cast<char>(byte ^ (is_changed ? 1 : 0));
      continue;
    }
    passed += byte;
    std::string& header = connection.header;
    header += byte;
    if (header.size() < (connection.is_open ? kMessageHeader : kConnectionHeader)) continue;
    if (connection.is_open) {
      std::memcpy(&connection.left, header.data(), sizeof connection.left);
      connection.is_short = !connection.is_link && connection.left <= kFewBytes;
    } else {
      connection.is_open = true;
      connection.is_link = (static_cast<unsigned char>(header[kGroupEnd - 1]) & 0x80) != 0;
    }
    header.clear();
  }
  return passed;
}

}  // namespace tinyot::test
