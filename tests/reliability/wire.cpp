#include "tests/reliability/wire.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

using namespace std::chrono_literals;

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

// Every chunk is sent at once, and calls do not block.
void prepare(const Socket& socket) {
  const int yes = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  ::fcntl(socket.get(), F_SETFL, ::fcntl(socket.get(), F_GETFL) | O_NONBLOCK);
}

}  // namespace

const char* name_of(Fault fault) {
  switch (fault) {
    case Fault::Cut:
      return "cut";
    case Fault::CutHalf:
      return "cut of one direction";
    case Fault::Reset:
      return "reset";
    case Fault::Stall:
      return "stall";
    case Fault::Swallow:
      return "half-open";
  }
  return "?";
}

Wire::Wire(const std::string& target_port, const WirePlan& plan)
    : target_port_(target_port), plan_(plan), random_(plan.seed) {
  thread_ = std::thread([this] { work(); });
}

Wire::~Wire() {
  is_over_ = true;
  thread_.join();
}

void Wire::work() {
  while (!is_over_) {
    admit();
    if (holds()) {
      std::this_thread::sleep_for(1ms);
      continue;
    }
    bool has_moved = false;
    for (Connection& connection : connections_) {
      if (is_due(connection)) inject(connection);
      for (const Direction direction : kBothDirections) has_moved |= move(connection, direction);
    }
    if (!has_moved) await();
  }
}

void Wire::admit() {
  Socket client = listener_.accept(0ms);
  if (!client.valid()) return;
  Socket server = connect_to(target_port_, 3s);
  if (!server.valid()) return;
  prepare(client);
  prepare(server);
  const int ends[] = {client.get(), server.get()};
  connections_.push_back({admitted_++,
                          {std::move(client), std::move(server)},
                          {{ends[0], ends[1], {}}, {ends[1], ends[0], {}}}});
}

// Waits until a socket is ready, a chunk is due, or 20 ms have passed.
void Wire::await() {
  std::vector<pollfd> entries;
  auto until = Clock::now() + 20ms;
  for (const Connection& connection : connections_)
    for (const Flow& flow : connection.flows) {
      if (flow.state == Flow::State::Ended || flow.state == Flow::State::Stalled) continue;
      if (flow.pending.empty())
        entries.push_back({flow.from, POLLIN, 0});
      else if (flow.due > Clock::now())
        until = std::min(until, flow.due);
      else
        entries.push_back({flow.to, POLLOUT, 0});
    }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  ::poll(entries.data(), entries.size(), static_cast<int>(std::max<long>(left.count(), 0)));
}

// Reads or writes one chunk; false if there is nothing to do.
bool Wire::move(Connection& connection, Direction direction) {
  if (holds()) return false;
  Flow& flow = connection.flows[static_cast<std::size_t>(direction)];
  if (flow.state == Flow::State::Ended || flow.state == Flow::State::Stalled) return false;
  return flow.pending.empty() ? take(connection, direction)
                              : flow.due <= Clock::now() && give(connection, flow);
}

bool Wire::take(Connection& connection, Direction direction) {
  Flow& flow = connection.flows[static_cast<std::size_t>(direction)];
  std::uint64_t wanted = 1 + random_() % plan_.chunk_bytes_max;
  const auto& point = plan_.fault_point;
  if (point && !is_injected_ && connection.number == point->connection &&
      direction == point->direction)
    wanted = std::min(wanted, point->at - flow.passed);
  std::string chunk(wanted, '\0');
  const ssize_t count = ::recv(flow.from, chunk.data(), chunk.size(), 0);
  if (count < 0 && would_block()) return false;
  if (count < 0) {
    reset(connection);
  } else if (count == 0) {
    end(flow);
  } else if (flow.state == Flow::State::Open) {
    chunk.resize(static_cast<std::size_t>(count));
    flow.pending = std::move(chunk);
    flow.due =
        Clock::now() + std::chrono::microseconds(
                           plan_.delay_max.count() == 0
                               ? 0
                               : random_() % static_cast<std::uint64_t>(plan_.delay_max.count()));
  }
  return true;
}

bool Wire::give(Connection& connection, Flow& flow) {
  const ssize_t count = ::send(flow.to, flow.pending.data(), flow.pending.size(), MSG_NOSIGNAL);
  if (count < 0 && would_block()) return false;
  if (count < 0) {
    reset(connection);
    return true;
  }
  flow.pending.erase(0, static_cast<std::size_t>(count));
  flow.passed += static_cast<std::uint64_t>(count);
  if (connection.number == 0)
    bytes_[static_cast<std::size_t>(&flow - connection.flows)] = flow.passed;
  return true;
}

bool Wire::is_due(const Connection& connection) const {
  if (!plan_.fault_point || is_injected_ || connection.number != plan_.fault_point->connection)
    return false;
  return connection.flows[static_cast<std::size_t>(plan_.fault_point->direction)].passed ==
         plan_.fault_point->at;
}

void Wire::inject(Connection& connection) {
  is_injected_ = true;
  Flow& faulty = connection.flows[static_cast<std::size_t>(plan_.fault_point->direction)];
  const auto drop = [](Flow& flow) {
    flow.pending.clear();
    if (flow.state == Flow::State::Open) flow.state = Flow::State::Dropping;
  };
  switch (plan_.fault_point->fault) {
    case Fault::Cut:
      for (Flow& flow : connection.flows) {
        ::shutdown(flow.to, SHUT_WR);
        drop(flow);
      }
      break;
    case Fault::CutHalf:
      ::shutdown(faulty.to, SHUT_WR);
      drop(faulty);
      break;
    case Fault::Reset:
      reset(connection);
      break;
    case Fault::Stall:
      faulty.state = Flow::State::Stalled;
      break;
    case Fault::Swallow:
      for (Flow& flow : connection.flows) drop(flow);
      break;
  }
}

// Passes the end of the stream on, unless it is dropped or was passed on before.
void Wire::end(Flow& flow) {
  if (flow.state == Flow::State::Open) ::shutdown(flow.to, SHUT_WR);
  flow.state = Flow::State::Ended;
}

// Resets both ends of the connection, unless its data are swallowed.
void Wire::reset(Connection& connection) {
  const linger at_once{1, 0};
  const bool is_swallowed = is_injected_ && plan_.fault_point->fault == Fault::Swallow &&
                            connection.number == plan_.fault_point->connection;
  for (Flow& flow : connection.flows) flow.state = Flow::State::Ended;
  if (is_swallowed) return;
  for (Socket& end : connection.ends) {
    ::setsockopt(end.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    end.close();
  }
}

}  // namespace tinyot::test
