// A link between two parties on one machine with the round-trip time and rate of a network: for
// measurements.
//
// The link relays TCP connections from a loopback address of its own to another one. In each
// direction it sends one piece of bytes after the other at its rate; connections that have bytes to
// send take turns. Each piece arrives half a round-trip time later. The link reads up to 4 MiB of a
// connection ahead of what it sends, as a socket buffer would. Neither congestion control nor
// losses are simulated: bytes in flight are not limited by a window.
#pragma once

#include <chrono>
#include <memory>

#include "net/tcp.h"

namespace tinyot::net {

struct LinkShape {
  std::chrono::nanoseconds rtt{0};
  double bits_per_s = 0;  // in each direction; 0: unlimited

  friend bool operator==(const LinkShape&, const LinkShape&) = default;
};

class ShapedLink {
 public:
  // Bytes on their way, in both directions: rate x rtt.
  static constexpr std::size_t kBytesMax = std::size_t{1} << 30;

  // Fails: UsageError if rate x rtt exceeds kBytesMax.
  static void check(const LinkShape& shape);

  // Relays connections to `address` to `target`, on a thread of its own, until destruction.
  // Connections are accepted before anything listens at the target.
  // Fails: as check(); NetworkError if it cannot listen.
  ShapedLink(const LinkShape& shape, const Address& address, const Address& target);
  ~ShapedLink();

 private:
  class Wire;
  class Flow;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tinyot::net
