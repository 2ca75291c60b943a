#include "tests/support/sockets.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

using Clock = std::chrono::steady_clock;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

Socket new_socket() {
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) throw std::runtime_error("cannot make a socket");
  return socket;
}

// The parties send many small messages, none of which may be delayed.
void send_at_once(const Socket& socket) {
  const int yes = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

bool readable(int descriptor, int patience_ms) {
  pollfd entry{descriptor, POLLIN, 0};
  return ::poll(&entry, 1, patience_ms) > 0;
}

}  // namespace

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

void Socket::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

bool Socket::send_all(const std::string& bytes) const {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t count = ::send(descriptor_, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (count <= 0) return false;
    at += static_cast<std::size_t>(count);
  }
  return true;
}

Listener::Listener() : socket_(new_socket()) {
  sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket_.get(), generic, length) != 0 || ::listen(socket_.get(), 4) != 0 ||
      ::getsockname(socket_.get(), generic, &length) != 0)
    throw std::runtime_error("cannot listen on a free port");
  port_ = std::to_string(ntohs(address.sin_port));
}

Socket Listener::accept(std::chrono::milliseconds patience) const {
  if (!readable(socket_.get(), static_cast<int>(patience.count()))) return Socket();
  return Socket(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
}

Socket connect_to(const std::string& port, std::chrono::milliseconds patience) {
  const sockaddr_in address = loopback(static_cast<std::uint16_t>(std::stoi(port)));
  for (const auto deadline = Clock::now() + patience; Clock::now() < deadline;
       std::this_thread::sleep_for(std::chrono::milliseconds(10))) {
    Socket socket = new_socket();
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
      return socket;
  }
  return Socket();
}

Relay::Relay(const std::string& target_port, const Plan& plan) : plan_(plan) {
  thread_ = std::thread([this, target_port] { work(target_port); });
}

Relay::~Relay() { drop(); }

void Relay::drop() {
  dropped_ = true;
  if (thread_.joinable()) thread_.join();
}

void Relay::wait_until_held() const {
  const auto deadline = Clock::now() + std::chrono::seconds(45);
  while (!held_ && Clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_TRUE(held_) << "the parties never sent " << plan_.hold_at << " bytes";
}

// The parties read while they write, so a forwarded chunk never waits for long.
void Relay::work(const std::string& target_port) {
  Socket client, server;
  while (!dropped_ && !client.valid()) client = listener_.accept(std::chrono::milliseconds(50));
  if (!dropped_) server = connect_to(target_port);
  send_at_once(client);
  send_at_once(server);
  bool from_client = server.valid(), from_server = server.valid();
  while (!dropped_ && (from_client || from_server)) {
    if (held_ && !released_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      continue;
    }
    pollfd entries[2] = {{from_client ? client.get() : -1, POLLIN, 0},
                         {from_server ? server.get() : -1, POLLIN, 0}};
    if (::poll(entries, 2, 50) <= 0) continue;
    if (entries[0].revents != 0) from_client = forward(client, server, true);
    if (entries[1].revents != 0) from_server = forward(server, client, false);
  }
}

void Relay::keep_last_bytes(const std::string& chunk) {
  constexpr std::size_t kKept = 64;
  last_bytes_ += chunk;
  if (last_bytes_.size() > kKept) last_bytes_.erase(0, last_bytes_.size() - kKept);
}

// One chunk; at its end the direction is closed, and false is returned.
bool Relay::forward(const Socket& from, const Socket& to, bool counted) {
  std::string chunk(65536, '\0');
  std::uint64_t wanted = chunk.size();
  if (counted && !held_) wanted = std::min(wanted, plan_.hold_at - count_);
  const ssize_t count = ::recv(from.get(), chunk.data(), wanted, 0);
  if (count > 0) {
    chunk.resize(static_cast<std::size_t>(count));
    for (std::size_t i = 0; counted && i < chunk.size(); ++i)
      if (count_ + i >= plan_.garble_from && count_ + i < plan_.garble_to)
        chunk[i] = static_cast<char>(~chunk[i]);
    if (counted) count_ += chunk.size();
    if (!counted) keep_last_bytes(chunk);
    if (counted && count_ == plan_.hold_at) held_ = true;
    if (to.send_all(chunk)) return true;
  }
  ::shutdown(to.get(), SHUT_WR);
  return false;
}

}  // namespace tinyot::test
