// The network between two programs on loopback: it can hold, split, delay and change what is sent,
// and cut, reset, stall, swallow or flood a connection at a known byte.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <random>
#include <string>
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
  Flood,    // the receiver of the direction gets data without end, and what it sends is not read
};
// Those of a network; a flood is that of a peer.
inline constexpr std::array kNetworkFaults = {Fault::Cut, Fault::CutHalf, Fault::Reset,
                                              Fault::Stall, Fault::Swallow};
const char* name_of(Fault fault);

enum class Direction { FromConnecting, FromListening };
inline constexpr std::array kBothDirections = {Direction::FromConnecting, Direction::FromListening};

struct FaultPoint {
  Fault fault;
  Direction direction;
  std::uint64_t at;            // bytes of this direction that arrive before the fault
  std::size_t connection = 0;  // number of the connection, in order of acceptance
};

class Relay {
 public:
  // What a party has sent.
  struct Chunk {
    std::size_t connection;
    Direction direction;
    std::uint64_t at;  // bytes of this direction before it
    std::string bytes;
  };

  // Returns what arrives in place of a chunk; called by the thread of the relay.
  using Change = std::function<std::string(const Chunk&)>;

  struct Plan {
    std::size_t chunk_bytes_max = 65536;     // a chunk has 1 to chunk_bytes_max bytes, at random
    std::chrono::microseconds delay_max{0};  // a chunk waits up to delay_max, at random
    std::optional<FaultPoint> fault_point = std::nullopt;
    // Bytes that the connecting party sends, on all connections together, before everything is held
    // until resume(): a slow machine makes a job use more connections.
    std::optional<std::uint64_t> hold_at = std::nullopt;
    Change change = nullptr;
    // How long the relay waits for a process to listen at the target.
    std::chrono::milliseconds patience = std::chrono::seconds(10);
    std::uint64_t seed = 1;
  };

  // Forwards connections to port() to `target_port`.
  Relay(std::string target_port, Plan plan);
  // Closes all connections.
  ~Relay();

  const std::string& port() const { return listener_.port(); }
  bool is_injected() const { return is_injected_; }
  // Fails the test if it does not happen in time.
  void wait_until_held();
  void resume();
  // Closes all connections, or those of which `which` is true; new ones are possible. It is called
  // by the thread of the relay.
  using Which = std::function<bool(std::size_t connection)>;
  void cut(Which which = [](std::size_t) { return true; });
  // That have been made so far.
  std::size_t connections() const { return admitted_; }
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
    enum class State { Open, Stalled, Dropping, Flooding, Ended } state = State::Open;
  };
  struct Connection {
    std::size_t number;
    Socket ends[2];  // of the connecting and of the listening party
    Flow flows[2];
  };

  void work();
  bool holds() const;
  void cut_if_wanted();
  void admit();
  void await();
  void wake();
  bool move(Connection& connection, Direction direction);
  bool take(Connection& connection, Direction direction);
  bool give(Connection& connection, Flow& flow);
  void inject(Connection& connection);
  bool is_due(const Connection& connection) const;
  bool is_swallowed(const Connection& connection) const;
  bool is_over(const Connection& connection) const;
  static void end(Flow& flow);
  void reset(Connection& connection);

  const std::string target_port_;
  const Plan plan_;
  std::mt19937_64 random_;
  Listener listener_;
  Socket wake_;  // an eventfd that ends the thread's wait for events of sockets
  std::list<Connection> connections_;
  std::atomic<std::size_t> admitted_ = 0;
  std::array<std::atomic<std::uint64_t>, 2> bytes_{};
  std::uint64_t passed_from_connecting_ = 0;  // on all connections
  std::atomic<bool> is_injected_{false}, is_resumed_{false}, is_over_{false};
  std::mutex mutex_;
  std::condition_variable changed_;  // one of these:
  bool is_held_ = false, is_cut_wanted_ = false;
  Which is_cut_;
  std::thread thread_;
};

// Inverts bytes [from, to) that the connecting party sends.
Relay::Change inverting(std::uint64_t from, std::uint64_t to);

}  // namespace tinyot::test
