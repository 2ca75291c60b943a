// Loopback ports for tests whose parties are separate processes.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <string>

#include "tests/support/layers.h"

namespace tinyot::test {

// An unused port, below the range of ephemeral ports.
inline std::string quiet_port() {
  static std::atomic<int> next = 0;
  for (;;) {
    const int port = 20000 + (::getpid() * 37 + next++) % 10000;
    const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in name{};
    name.sin_family = AF_INET, name.sin_port = htons(static_cast<std::uint16_t>(port)),
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const bool is_free = ::bind(descriptor, reinterpret_cast<sockaddr*>(&name), sizeof name) == 0;
    ::close(descriptor);
    if (is_free) return std::to_string(port);
  }
}

}  // namespace tinyot::test
