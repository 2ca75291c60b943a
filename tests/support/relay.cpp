#include "tests/support/relay.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
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
    case Fault::Flood:
      return "flood";
  }
  return "?";
}

Relay::Change inverting(std::uint64_t from, std::uint64_t to) {
  return [from, to](const Relay::Chunk& chunk) {
    std::string bytes = chunk.bytes;
    if (chunk.direction == Direction::FromListening) return bytes;
    for (std::size_t i = 0; i < bytes.size(); ++i)
      if (chunk.at + i >= from && chunk.at + i < to) bytes[i] = static_cast<char>(~bytes[i]);
    return bytes;
  };
}

Relay::Relay(std::string target_port, Plan plan)
    : target_port_(std::move(target_port)), plan_(std::move(plan)), random_(plan_.seed),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  thread_ = std::thread([this] { work(); });
}

Relay::~Relay() {
  is_over_ = true;
  wake();
  thread_.join();
}

void Relay::wake() { ::eventfd_write(wake_.get(), 1); }

bool Relay::holds() const {
  return plan_.hold_at && !is_resumed_ && passed_from_connecting_ >= *plan_.hold_at;
}

void Relay::wait_until_held() {
  std::unique_lock lock(mutex_);
  EXPECT_TRUE(changed_.wait_for(lock, 45s, [&] { return is_held_; }))
      << "the connecting party never sent " << plan_.hold_at.value_or(0) << " bytes";
}

void Relay::resume() {
  is_resumed_ = true;
  wake();
}

void Relay::cut(Which which) {
  std::unique_lock lock(mutex_);
  is_cut_ = std::move(which);
  is_cut_wanted_ = true;
  wake();
  changed_.wait(lock, [&] { return !is_cut_wanted_; });
}

void Relay::cut_if_wanted() {
  const std::lock_guard lock(mutex_);
  if (!is_cut_wanted_) return;
  std::erase_if(connections_, [&](const Connection& each) { return is_cut_(each.number); });
  is_cut_wanted_ = false;
  changed_.notify_all();
}

void Relay::work() {
  while (!is_over_) {
    cut_if_wanted();
    admit();
    bool has_moved = false;
    for (Connection& connection : connections_) {
      if (is_due(connection)) inject(connection);
      for (const Direction direction : kBothDirections) has_moved |= move(connection, direction);
    }
    std::erase_if(connections_, [&](const Connection& each) { return is_over(each); });
    if (holds()) {
      const std::lock_guard lock(mutex_);
      is_held_ = true;
      changed_.notify_all();
    }
    if (!has_moved) await();
  }
}

void Relay::admit() {
  Socket client = listener_.accept(0ms);
  if (!client.valid()) return;
  Socket server = connect_to(target_port_, plan_.patience);
  if (!server.valid()) return;
  prepare(client);
  prepare(server);
  const int ends[] = {client.get(), server.get()};
  connections_.push_back({admitted_++,
                          {std::move(client), std::move(server)},
                          {{ends[0], ends[1], {}}, {ends[1], ends[0], {}}}});
}

// Waits until a socket is ready, a chunk is due, or wake() is called.
void Relay::await() {
  std::vector<pollfd> entries = {{wake_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
  std::optional<Clock::time_point> until;
  for (const Connection& connection : connections_)
    for (const Flow& flow : connection.flows) {
      if (holds() || flow.state == Flow::State::Ended || flow.state == Flow::State::Stalled)
        continue;
      if (flow.pending.empty())
        entries.push_back({flow.from, POLLIN, 0});
      else if (flow.due > Clock::now())
        until = std::min(until.value_or(flow.due), flow.due);
      else
        entries.push_back({flow.to, POLLOUT, 0});
    }
  int patience_ms = -1;
  if (until) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*until - Clock::now());
    patience_ms = static_cast<int>(std::max<long>(left.count(), 0));
  }
  ::poll(entries.data(), entries.size(), patience_ms);
  eventfd_t ignored;
  ::eventfd_read(wake_.get(), &ignored);
}

// Reads or writes one chunk; false if there is nothing to do.
bool Relay::move(Connection& connection, Direction direction) {
  if (holds()) return false;
  Flow& flow = connection.flows[static_cast<std::size_t>(direction)];
  if (flow.state == Flow::State::Ended || flow.state == Flow::State::Stalled) return false;
  return flow.pending.empty() ? take(connection, direction)
                              : flow.due <= Clock::now() && give(connection, flow);
}

bool Relay::take(Connection& connection, Direction direction) {
  Flow& flow = connection.flows[static_cast<std::size_t>(direction)];
  if (flow.state == Flow::State::Flooding) {
    flow.pending.assign(plan_.chunk_bytes_max, '\xEE');
    return true;
  }
  std::uint64_t wanted = 1 + random_() % plan_.chunk_bytes_max;
  const auto& point = plan_.fault_point;
  if (point && !is_injected_ && connection.number == point->connection &&
      direction == point->direction)
    wanted = std::min(wanted, point->at - flow.passed);
  if (plan_.hold_at && !is_resumed_ && direction == Direction::FromConnecting)
    wanted = std::min(wanted, *plan_.hold_at - passed_from_connecting_);
  std::string chunk(wanted, '\0');
  const ssize_t count = ::recv(flow.from, chunk.data(), chunk.size(), 0);
  if (count < 0 && would_block()) return false;
  if (count < 0) {
    reset(connection);
  } else if (count == 0) {
    end(flow);
  } else if (flow.state == Flow::State::Open) {
    chunk.resize(static_cast<std::size_t>(count));
    if (plan_.change)
      chunk = plan_.change({connection.number, direction, flow.passed, std::move(chunk)});
    flow.pending = std::move(chunk);
    flow.due =
        Clock::now() + std::chrono::microseconds(
                           plan_.delay_max.count() == 0
                               ? 0
                               : random_() % static_cast<std::uint64_t>(plan_.delay_max.count()));
  }
  return true;
}

bool Relay::give(Connection& connection, Flow& flow) {
  const ssize_t count = ::send(flow.to, flow.pending.data(), flow.pending.size(), MSG_NOSIGNAL);
  if (count < 0 && would_block()) return false;
  if (count < 0) {
    reset(connection);
    return true;
  }
  flow.pending.erase(0, static_cast<std::size_t>(count));
  flow.passed += static_cast<std::uint64_t>(count);
  const auto direction = static_cast<std::size_t>(&flow - connection.flows);
  if (direction == static_cast<std::size_t>(Direction::FromConnecting))
    passed_from_connecting_ += static_cast<std::uint64_t>(count);
  if (connection.number == 0) bytes_[direction] = flow.passed;
  return true;
}

bool Relay::is_due(const Connection& connection) const {
  if (!plan_.fault_point || is_injected_ || connection.number != plan_.fault_point->connection)
    return false;
  return connection.flows[static_cast<std::size_t>(plan_.fault_point->direction)].passed ==
         plan_.fault_point->at;
}

void Relay::inject(Connection& connection) {
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
    case Fault::Flood:
      for (Flow& flow : connection.flows) flow.state = Flow::State::Stalled;
      faulty.state = Flow::State::Flooding;
      break;
  }
}

bool Relay::is_swallowed(const Connection& connection) const {
  return is_injected_ && plan_.fault_point->fault == Fault::Swallow &&
         connection.number == plan_.fault_point->connection;
}

bool Relay::is_over(const Connection& connection) const {
  return !is_swallowed(connection) && std::ranges::all_of(connection.flows, [](const Flow& flow) {
    return flow.state == Flow::State::Ended;
  });
}

// Passes the end of the stream on, unless it is dropped or was passed on before.
void Relay::end(Flow& flow) {
  if (flow.state == Flow::State::Open) ::shutdown(flow.to, SHUT_WR);
  flow.state = Flow::State::Ended;
}

// Resets both ends of the connection, unless its data are swallowed.
void Relay::reset(Connection& connection) {
  const linger at_once{1, 0};
  for (Flow& flow : connection.flows) flow.state = Flow::State::Ended;
  if (is_swallowed(connection)) return;
  for (Socket& end : connection.ends) {
    ::setsockopt(end.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    end.close();
  }
}

}  // namespace tinyot::test
