// Links of a given round-trip time and rate: transfers take the computed time, to 2 %, and never
// less; bytes and ends of connections pass through.
#include "net/shaped_link.h"

#include <fstream>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/error.h"
#include "tests/net/stream_pair.h"
#include "tests/support/becomes_true.h"

namespace tinyot {
namespace {

using namespace tinyot::test;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int kTries = 20;

// Two streams that are connected over a link; `b` connects.
class Linked {
 public:
  explicit Linked(const LinkShape& shape, std::size_t connections = 1)
      : here_(free_address()), there_(free_address()), listener_(there_, kLongTimeouts),
        link_(shape, here_, there_) {
    for (std::size_t i = 0; i < connections; ++i) {
      b.push_back(tcp_connect(here_, kLongTimeouts));
      a.push_back(listener_.accept());
    }
  }

 private:
  Address here_, there_;
  TcpListener listener_;
  ShapedLink link_;

 public:
  std::vector<std::unique_ptr<ByteStream>> a, b;
};

// The machine may delay any try, but makes none faster than the link is.
void expect_takes(double computed_s, const std::function<void()>& transfer) {
  double least = 1e9;
  for (int i = 0; i < kTries && least > 1.02 * computed_s; ++i) {
    const auto begin = Clock::now();
    transfer();
    const double taken = Seconds(Clock::now() - begin).count();
    EXPECT_GE(taken, 0.999 * computed_s);
    least = std::min(least, taken);
  }
  EXPECT_LE(least, 1.02 * computed_s);
}

constexpr std::size_t kPart = 50'000;

// In parts, so that no time is spent on memory that is used for the first time.
void write_all(ByteStream& stream, std::size_t parts) {
  const std::vector<std::byte> part(kPart, std::byte{7});
  for (std::size_t i = 0; i < parts; ++i) stream.write(part);
  stream.flush();
}
void read_all(ByteStream& stream, std::size_t parts) {
  const std::vector<std::byte> part(kPart, std::byte{7});
  std::vector<std::byte> received(kPart);
  for (std::size_t i = 0; i < parts; ++i) {
    stream.read(received);
    ASSERT_EQ(received, part);
  }
}

void transfer(ByteStream& from, ByteStream& to, std::size_t parts) {
  std::jthread sender([&] { write_all(from, parts); });
  read_all(to, parts);
}

TEST(ShapedLink, RoundTripTakesTheRoundTripTime) {
  Linked linked({.rtt = 40ms});
  std::jthread echo([&] {
    std::byte byte;
    for (int i = 0; i < kTries; ++i) {
      try {
        linked.a[0]->read({&byte, 1});
      } catch (const NetworkError&) {
        return;
      }
      linked.a[0]->write({&byte, 1});
    }
  });
  expect_takes(0.040, [&] {
    std::byte byte{};
    linked.b[0]->write({&byte, 1});
    linked.b[0]->read({&byte, 1});
  });
  linked.b.clear();
}

TEST(ShapedLink, BulkTakesItsBytesAtTheRateAndHalfARoundTrip) {
  Linked linked({.rtt = 20ms, .bits_per_s = 100e6});
  const std::size_t parts = 50;
  expect_takes(0.210, [&] { transfer(*linked.b[0], *linked.a[0], parts); });
  expect_takes(0.210, [&] { transfer(*linked.a[0], *linked.b[0], parts); });
}

TEST(ShapedLink, DirectionsAreIndependent) {
  Linked linked({.rtt = 20ms, .bits_per_s = 100e6}, 2);
  expect_takes(0.210, [&] {
    std::jthread other([&] { transfer(*linked.a[1], *linked.b[1], 50); });
    transfer(*linked.b[0], *linked.a[0], 50);
  });
}

TEST(ShapedLink, ConnectionsShareTheRate) {
  Linked linked({.rtt = 20ms, .bits_per_s = 100e6}, 2);
  expect_takes(0.210, [&] {
    std::jthread other([&] { transfer(*linked.b[1], *linked.a[1], 25); });
    transfer(*linked.b[0], *linked.a[0], 25);
  });
}

TEST(ShapedLink, BytesInFlightAreNotLimitedByAWindow) {
  Linked linked({.rtt = 100ms, .bits_per_s = 1e9});
  expect_takes(0.250, [&] { transfer(*linked.b[0], *linked.a[0], 500); });
}

TEST(ShapedLink, BoundsWhatAReceiverThatDoesNotReadLeavesInIt) {
  Linked linked({.rtt = 10ms, .bits_per_s = 1e9});
  linked.b[0]->set_deadline(Clock::now() + 1s);
  const std::vector<std::byte> part(std::size_t{1} << 20);
  std::size_t written = 0;
  const auto write_until_stopped = [&] {
    for (; written < std::size_t{1} << 30; written += part.size()) linked.b[0]->write(part);
  };
  EXPECT_THROW(write_until_stopped(), NetworkError);
  EXPECT_LT(written, std::size_t{64} << 20);  // with the buffers of three sockets
}

TEST(ShapedLink, EndsArriveAfterTheBytesBeforeThem) {
  Linked linked({.rtt = 20ms, .bits_per_s = 100e6});
  linked.b[0]->write(payload_of(100'000));
  linked.b[0]->flush();
  linked.b.clear();
  std::vector<std::byte> received(100'000);
  linked.a[0]->read(received);
  EXPECT_EQ(received, payload_of(100'000));
  EXPECT_THROW(linked.a[0]->read(received), NetworkError);
}

// Connections of this machine that were refused before they were made.
std::uint64_t failed_attempts() {
  std::ifstream table("/proc/net/snmp");
  std::string names, values, name;
  while (std::getline(table, names) && !names.starts_with("Tcp:")) continue;
  std::getline(table, values);
  std::istringstream of_names(names), of_values(values);
  of_names >> name, of_values >> name;
  for (std::int64_t value = 0; of_names >> name && of_values >> value;)
    if (name == "AttemptFails") return static_cast<std::uint64_t>(value);
  throw std::runtime_error("the kernel does not count refused connections");
}

TEST(ShapedLink, ConnectsBeforeTheTargetListens) {
  const Address here = free_address(), there = free_address();
  const std::uint64_t before = failed_attempts();
  const ShapedLink link({.rtt = 2ms}, here, there);
  const auto connected = tcp_connect(here, kLongTimeouts);
  connected->write(payload_of(10));
  connected->flush();
  // The link has tried in vain, if no other program of this machine has.
  EXPECT_TRUE(becomes_true([&] { return failed_attempts() > before; }));
  TcpListener listener(there, kLongTimeouts);
  std::vector<std::byte> received(10);
  listener.accept()->read(received);
  EXPECT_EQ(received, payload_of(10));
}

TEST(ShapedLink, RefusesMoreBytesInFlightThanItsMemory) {
  EXPECT_THROW(ShapedLink({.rtt = 10s, .bits_per_s = 10e9}, free_address(), free_address()),
               UsageError);
}

}  // namespace
}  // namespace tinyot
