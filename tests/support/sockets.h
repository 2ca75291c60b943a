// Loopback sockets for tests: free ports, and peers that do not speak the protocol.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "tests/support/layers.h"

namespace tinyot::test {

class Socket {
 public:
  explicit Socket(int descriptor = -1) : descriptor_(descriptor) {}
  ~Socket() { close(); }
  Socket(Socket&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  Socket& operator=(Socket&& other) noexcept;

  int get() const { return descriptor_; }
  bool valid() const { return descriptor_ >= 0; }
  bool send_all(const std::string& bytes) const;
  void close();

 private:
  int descriptor_;
};

// A socket that listens on a free port of 127.0.0.1.
class Listener {
 public:
  Listener();
  const std::string& port() const { return port_; }
  int get() const { return socket_.get(); }
  // The next connection; an invalid socket if none comes in time.
  Socket accept(std::chrono::milliseconds patience) const;

 private:
  Socket socket_;
  std::string port_;
};

// Whether a process listens on this port of 127.0.0.1.
bool is_listening(const std::string& port);

// Connects to 127.0.0.1, retrying until a process listens there; an invalid socket if none does in
// time.
Socket connect_to(const std::string& port,
                  std::chrono::milliseconds patience = std::chrono::seconds(10));

}  // namespace tinyot::test
