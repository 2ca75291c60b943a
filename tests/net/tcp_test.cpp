// TCP over loopback: connecting, waiting, large messages, and each way in which it fails.
#include "net/tcp.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <future>
#include <thread>

#include "tests/net/raw_peer.h"

namespace tinyot {
namespace {

using namespace tinyot::test;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr TcpTimeouts kPatient{10s, 10s};

// A port that nobody uses, below the range from which the system takes the ports of those who connect.
Address free_address() {
  static std::atomic<int> next = 20000 + (getpid() * 37) % 10000;
  for (;;) {
    const int port = next++;
    const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in name{};
    name.sin_family = AF_INET, name.sin_port = htons(static_cast<std::uint16_t>(port)), name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const bool is_free = ::bind(descriptor, reinterpret_cast<sockaddr*>(&name), sizeof name) == 0;
    ::close(descriptor);
    if (is_free) return {"127.0.0.1", std::to_string(port)};
  }
}

struct TcpPair {
  explicit TcpPair(const TcpTimeouts& timeouts = kPatient) {
    const Address address = free_address();
    auto listening = std::async(std::launch::async, [&] { return TcpListener(address, kPatient).accept(); });
    b = tcp_connect(address, timeouts);
    a = listening.get();
  }
  std::unique_ptr<ByteStream> a, b;
};

// One party's part of an exchange in which both send everything before either receives.
void exchange(ByteStream& stream, std::size_t bytes, std::byte mine, std::byte peers) {
  std::vector<std::byte> data(bytes, mine);
  stream.write(data);
  stream.read(data);
  stream.flush();
  EXPECT_EQ(std::count(data.begin(), data.end(), peers), static_cast<long>(bytes));
}

TEST(Tcp, LargeMessagesBothWaysAtOnceDoNotDeadlock) {
  TcpPair pair;
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  std::thread thread([&] { exchange(*pair.b, kBytes, std::byte{2}, std::byte{1}); });
  exchange(*pair.a, kBytes, std::byte{1}, std::byte{2});
  thread.join();
}

TEST(Tcp, ManyMessagesOfOddSizesArriveInOrder) {
  TcpPair pair;
  const auto talk = [](std::unique_ptr<ByteStream> stream) {
    const auto channel = make_framed_channel(std::move(stream));
    for (const std::size_t size : {1u, 0u, 3u, 65536u, 1000003u, 17u}) channel->send(kGreeting, payload_of(size));
    for (const std::size_t size : {1u, 0u, 3u, 65536u, 1000003u, 17u}) {
      std::vector<std::byte> payload(size);
      channel->recv(kGreeting, payload);
      EXPECT_EQ(payload, payload_of(size));
    }
    EXPECT_EQ(channel->counters().bytes_sent, 6 * 16 + 1065560u);
  };
  std::thread thread([&] { talk(std::move(pair.b)); });
  talk(std::move(pair.a));
  thread.join();
}

std::size_t resident_bytes() {
  std::size_t program = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> program >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// A sender that is a little ahead of its receiver all the time must not keep what has long been sent.
TEST(Tcp, ALongOneWayStreamTakesBoundedMemory) {
  constexpr std::size_t kMessage = std::size_t{1} << 20, kMessages = 300;
  TcpPair pair;
  std::thread thread([&] {
    std::vector<std::byte> message(kMessage);
    for (std::size_t i = 0; i < kMessages; ++i) {
      pair.b->read(message);
      std::this_thread::sleep_for(3ms);
    }
  });
  const std::vector<std::byte> message(kMessage, std::byte{1});
  const std::size_t before = resident_bytes();
  std::size_t most = before;
  for (std::size_t i = 0; i < kMessages; ++i) {
    pair.a->write(message);
    most = std::max(most, resident_bytes());
  }
  pair.a->flush();
  thread.join();
  EXPECT_LT(most - before, std::size_t{64} << 20);
}

TEST(Tcp, AConnectorWaitsForItsListener) {
  const Address address = free_address();
  auto connecting = std::async(std::launch::async, [&] { return tcp_connect(address, kPatient); });
  std::this_thread::sleep_for(300ms);
  const auto a = TcpListener(address, kPatient).accept();
  const auto b = connecting.get();
  a->write(payload_of(3));
  std::vector<std::byte> received(3);
  b->read(received);
  EXPECT_EQ(received, payload_of(3));
}

TEST(Tcp, NobodyListens) {
  const Address address = free_address();
  const auto begin = Clock::now();
  const std::string message = message_of<NetworkError>([&] { tcp_connect(address, {300ms, 1s}); });
  expect_contains(message, text_of(address));
  expect_contains(message, "--connect-timeout");
  EXPECT_LT(Clock::now() - begin, 2s);
}

TEST(Tcp, NobodyConnects) {
  const Address address = free_address();
  const auto begin = Clock::now();
  expect_contains(message_of<NetworkError>([&] { TcpListener(address, {200ms, 1s}).accept(); }), "nobody connected to " + text_of(address));
  EXPECT_LT(Clock::now() - begin, 2s);
}

TEST(Tcp, APortInUse) {
  const Address address = free_address();
  auto waiting = std::async(std::launch::async, [&] { return TcpListener(address, {700ms, 1s}).accept(); });
  std::this_thread::sleep_for(150ms);
  const std::string message = message_of<NetworkError>([&] { TcpListener(address, {1s, 1s}); });
  expect_contains(message, "cannot listen on " + text_of(address));
  expect_contains(message, "another port");
  message_of<NetworkError>([&] { waiting.get(); });
}

TEST(Tcp, AnUnknownHost) {
  expect_contains(message_of<NetworkError>([] { tcp_connect({"no-such-host.invalid", "7766"}, {300ms, 1s}); }), "no-such-host.invalid");
}

TEST(Tcp, ASilentPeerIsLeftAfterTheIdleTimeout) {
  TcpPair pair({10s, 200ms});
  const auto begin = Clock::now();
  std::vector<std::byte> received(1);
  expect_contains(message_of<NetworkError>([&] { pair.b->read(received); }), "--idle-timeout");
  EXPECT_GE(Clock::now() - begin, 200ms);
  EXPECT_LT(Clock::now() - begin, 3s);
}

TEST(Tcp, APeerThatTakesNothingIsLeftAfterTheIdleTimeout) {
  TcpPair pair({10s, 200ms});
  const std::vector<std::byte> data(std::size_t{64} << 20);
  expect_contains(message_of<NetworkError>([&] { pair.b->write(data); }), "--idle-timeout");
}

TEST(Tcp, AClosedPeer) {
  TcpPair pair;
  pair.a->write(payload_of(2));
  pair.a.reset();
  const auto channel = make_framed_channel(std::move(pair.b));
  channel->set_phase("buckets");
  std::vector<std::byte> payload(2);
  const std::string message = message_of<NetworkError>([&] { channel->recv(kGreeting, payload); });
  expect_contains(message, "the peer closed the connection");
  expect_contains(message, "phase buckets");
}

TEST(Tcp, AnAbortBeforeTheEndArrives) {
  TcpPair pair;
  const auto a = make_framed_channel(std::move(pair.a)), b = make_framed_channel(std::move(pair.b));
  a->send_abort();
  std::vector<std::byte> payload(2);
  message_of<PeerAborted>([&] { b->recv(kGreeting, payload); });
}

TEST(Address, IsHostAndPort) {
  for (const auto& [text, host, port] : {std::tuple{"127.0.0.1:7766", "127.0.0.1", "7766"}, {"localhost:0", "localhost", "0"},
                                         {"[::1]:65535", "::1", "65535"}, {"a.b:1", "a.b", "1"}}) {
    const Address address = parse_address(text);
    EXPECT_EQ(address.host, host);
    EXPECT_EQ(address.port, port);
  }
}

TEST(Address, AnythingElseIsRefusedByName) {
  for (const char* text : {"", ":", "localhost", "7766", ":7766", "localhost:", "localhost:65536", "localhost:-1", "localhost:+1",
                           "localhost:1x", "localhost: 1", "localhost:99999999999999999999"})
    expect_contains(message_of<UsageError>([&] { parse_address(text); }), "'" + std::string(text) + "'");
}

}  // namespace
}  // namespace tinyot
