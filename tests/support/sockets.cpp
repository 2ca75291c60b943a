#include "tests/support/sockets.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

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

bool is_listening(const std::string& port) {
  constexpr const char* kListening = "0A";
  char address[sizeof "0100007F:FFFF"];
  std::snprintf(address, sizeof address, "0100007F:%04X",
                static_cast<unsigned>(static_cast<std::uint16_t>(std::stoi(port))));
  std::ifstream table("/proc/net/tcp");
  std::string line;
  while (std::getline(table, line)) {
    std::istringstream fields(line);
    std::string number, local, remote, state;
    if (fields >> number >> local >> remote >> state && local == address && state == kListening)
      return true;
  }
  return false;
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

}  // namespace tinyot::test
