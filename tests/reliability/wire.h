// A faulty network between two parties: a proxy on loopback that splits and delays data, and cuts,
// resets, stalls or swallows a connection at a given byte of one direction.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <list>
#include <optional>
#include <random>
#include <thread>

#include "tests/support/layers.h"
#include "tests/support/sockets.h"

namespace tinyot::test {

enum class Fault {
  Cut,      // both parties see the connection end
  CutHalf,  // only the receiver of the direction does; the other direction continues
  Reset,    // both parties see it reset
  Stall,    // no more data are read in this direction
  Swallow,  // data are dropped in both directions, but the connection does not end
};
inline constexpr std::array kAllFaults = {Fault::Cut, Fault::CutHalf, Fault::Reset, Fault::Stall,
                                          Fault::Swallow};
const char* name_of(Fault fault);

enum class Direction { FromConnecting, FromListening };
inline constexpr std::array kBothDirections = {Direction::FromConnecting, Direction::FromListening};

struct FaultPoint {
  Fault fault;
  Direction direction;
  std::uint64_t at;            // bytes of this direction that arrive before the fault
  std::size_t connection = 0;  // number of the connection, in order of acceptance
};

struct WirePlan {
  std::size_t chunk_bytes_max = 65536;     // a chunk has 1 to chunk_bytes_max bytes, at random
  std::chrono::microseconds delay_max{0};  // a chunk waits up to delay_max, at random
  std::optional<FaultPoint> fault_point = std::nullopt;
  // Bytes that the connecting party sends on the first connection before everything is held until
  // resume().
  std::optional<std::uint64_t> hold_at = std::nullopt;
  std::uint64_t seed = 1;
};

class Wire {
 public:
  // Forwards connections to port() to `target_port`.
  Wire(const std::string& target_port, const WirePlan& plan);
  // Closes all connections.
  ~Wire();

  const std::string& port() const { return listener_.port(); }
  bool is_injected() const { return is_injected_; }
  bool holds() const {
    return plan_.hold_at && !is_resumed_ && bytes(Direction::FromConnecting) >= *plan_.hold_at;
  }
  void resume() { is_resumed_ = true; }
  // Bytes forwarded on the first connection.
  std::uint64_t bytes(Direction direction) const {
    return bytes_[static_cast<std::size_t>(direction)];
  }

 private:
  using Clock = std::chrono::steady_clock;

  // One direction of a connection.
  struct Flow {
    int from, to;
    std::string pending;  // read, to be sent once it is `due`
    Clock::time_point due{};
    std::uint64_t passed = 0;
    enum class State { Open, Stalled, Dropping, Ended } state = State::Open;
  };
  struct Connection {
    std::size_t number;
    Socket ends[2];  // of the connecting and of the listening party
    Flow flows[2];
  };

  void work();
  void admit();
  void await();
  bool move(Connection& connection, Direction direction);
  bool take(Connection& connection, Direction direction);
  bool give(Connection& connection, Flow& flow);
  void inject(Connection& connection);
  bool is_due(const Connection& connection) const;
  static void end(Flow& flow);
  void reset(Connection& connection);

  const std::string target_port_;
  const WirePlan plan_;
  std::mt19937_64 random_;
  Listener listener_;
  std::list<Connection> connections_;
  std::size_t admitted_ = 0;
  std::array<std::atomic<std::uint64_t>, 2> bytes_{};
  std::atomic<bool> is_injected_{false}, is_resumed_{false}, is_over_{false};
  std::thread thread_;
};

}  // namespace tinyot::test
