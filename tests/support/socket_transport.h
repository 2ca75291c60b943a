// A transport over one end of a pair of sockets, as a caller of the library would supply it.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "tinyot/endpoint.h"

namespace tinyot::test {

class SocketTransport : public Transport {
 public:
  explicit SocketTransport(int descriptor) : descriptor_(descriptor) {}
  ~SocketTransport() override { ::close(descriptor_); }

  void write(std::span<const std::byte> bytes) override {
    while (!bytes.empty())
      bytes = bytes.subspan(checked(::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL)));
  }
  std::size_t read(std::span<std::byte> bytes) override {
    return checked(::recv(descriptor_, bytes.data(), bytes.size(), 0));
  }
  void shut_down() noexcept override { ::shutdown(descriptor_, SHUT_RDWR); }

 private:
  static std::size_t checked(ssize_t result) {
    if (result < 0) throw std::system_error(errno, std::generic_category(), "socket");
    return static_cast<std::size_t>(result);
  }
  int descriptor_;
};

inline std::pair<int, int> socket_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
    throw std::system_error(errno, std::generic_category(), "socketpair");
  return {ends[0], ends[1]};
}

}  // namespace tinyot::test
