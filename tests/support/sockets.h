// Loopback sockets for tests: free ports, peers that do not speak the protocol, and a relay that
// stops or garbles the connection of two parties at a known byte.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>

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
  // The next connection; an invalid socket if none comes in time.
  Socket accept(std::chrono::milliseconds patience) const;

 private:
  Socket socket_;
  std::string port_;
};

// Connects to 127.0.0.1, retrying until a process listens there; an invalid socket if none does in
// time.
Socket connect_to(const std::string& port,
                  std::chrono::milliseconds patience = std::chrono::seconds(10));

// Forwards connections to port() to another port, both ways. Counts the bytes that the connecting
// side sends, and keeps the last bytes that the other side sends.
class Relay {
 public:
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
  struct Plan {
    std::uint64_t hold_at = kNever;                          // stop forwarding here, both ways
    std::uint64_t garble_from = kNever, garble_to = kNever;  // invert these bytes
  };

  Relay(const std::string& target_port, const Plan& plan);
  ~Relay();
  const std::string& port() const { return listener_.port(); }

  // Fails the test if it does not happen in time.
  void wait_until_held() const;
  void release() { released_ = true; }
  // Closes both connections.
  void drop();
  // After drop(): how many bytes the connecting side has sent, and the last bytes that the other
  // side has sent.
  std::uint64_t count() const { return count_; }
  const std::string& last_bytes() const { return last_bytes_; }

 private:
  void work(const std::string& target_port);
  bool forward(const Socket& from, const Socket& to, bool counted);
  void keep_last_bytes(const std::string& chunk);

  const Plan plan_;
  Listener listener_;
  std::uint64_t count_ = 0;
  std::string last_bytes_;
  std::atomic<bool> held_{false}, released_{false}, dropped_{false};
  std::thread thread_;
};

}  // namespace tinyot::test
