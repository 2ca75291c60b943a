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

// Sizes around those of a header and of what a read takes along.
constexpr std::size_t kEdgeSizes[] = {1, 15, 16, 4095, 4096, 4097, 16383, 16384, 100000};

std::vector<std::byte> read_bytes(ByteStream& stream, std::size_t count) {
  std::vector<std::byte> bytes(count);
  stream.read(bytes);
  return bytes;
}

void write_in_pieces(ByteStream& stream, std::span<const std::byte> payload, std::size_t piece) {
  for (std::size_t first = 0; first < payload.size(); first += piece) stream.write(payload.subspan(first, std::min(piece, payload.size() - first)));
}

TEST(Tcp, WhatIsWrittenLeavesAtOnce) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{100}, std::size_t{5000}}) {
    TcpPair pair;
    write_in_pieces(*pair.a, payload_of(10000), piece);
    EXPECT_EQ(read_bytes(*pair.b, 10000), payload_of(10000)) << piece;
  }
}

TEST(Tcp, TwoPartsOfAWriteFollowEachOther) {
  TcpPair pair;
  const auto payload = payload_of(100000);
  for (const std::size_t first : {0u, 1u, 16u, 99999u, 100000u}) {
    pair.a->write(std::span(payload).first(first), std::span(payload).subspan(first));
    EXPECT_EQ(read_bytes(*pair.b, payload.size()), payload) << first;
  }
}

TEST(Tcp, WhoeverOnlyWritesSmallMessagesIsHeardOnceItFlushes) {
  TcpPair pair;
  const auto a = make_framed_channel(std::move(pair.a)), b = make_framed_channel(std::move(pair.b));
  for (int round = 0; round < 3; ++round) {
    for (const std::size_t size : {0u, 1u, 15u, 200u}) a->send(kGreeting, payload_of(size));
    a->flush();
    for (const std::size_t size : {0u, 1u, 15u, 200u}) {
      std::vector<std::byte> payload(size);
      b->recv(kGreeting, payload);
      EXPECT_EQ(payload, payload_of(size));
    }
  }
}

TEST(Tcp, WhoeverReadsIsHeard) {
  TcpPair pair;
  std::thread thread([&] {
    EXPECT_EQ(read_bytes(*pair.b, 5), payload_of(5));
    pair.b->write(payload_of(7));
    EXPECT_EQ(read_bytes(*pair.b, 1), payload_of(1));
  });
  pair.a->write(payload_of(5));
  EXPECT_EQ(read_bytes(*pair.a, 7), payload_of(7));
  pair.a->write(payload_of(1));
  pair.a->flush();
  thread.join();
}

TEST(Tcp, WhatIsReadBeyondAMessageIsKept) {
  for (const std::size_t total : {100000u, 300001u}) {
    const auto payload = payload_of(total);
    for (const std::size_t piece : kEdgeSizes) {
      TcpPair pair;
      pair.a->write(payload);
      pair.a->flush();
      pair.a.reset();  // nothing more comes
      std::vector<std::byte> received(total);
      for (std::size_t first = 0; first < total; first += piece) pair.b->read(std::span(received).subspan(first, std::min(piece, total - first)));
      EXPECT_EQ(received, payload) << piece;
      message_of<NetworkError>([&] { read_bytes(*pair.b, 1); });
    }
  }
}

TEST(Tcp, WhatIsReadBeyondAMessageIsKeptWhileWriting) {
  TcpPair pair;
  constexpr std::size_t kLarge = std::size_t{32} << 20;
  std::thread thread([&] {
    for (const std::size_t size : kEdgeSizes) pair.b->write(payload_of(size));
    pair.b->flush();
    EXPECT_EQ(read_bytes(*pair.b, kLarge), payload_of(kLarge));
    for (const std::size_t size : kEdgeSizes) pair.b->write(payload_of(size));
    pair.b->flush();
  });
  EXPECT_EQ(read_bytes(*pair.a, 1), payload_of(1));
  pair.a->write(payload_of(kLarge));  // blocks, and reads ahead
  pair.a->flush();
  for (const std::size_t size : std::span(kEdgeSizes).subspan(1)) EXPECT_EQ(read_bytes(*pair.a, size), payload_of(size)) << size;
  for (const std::size_t size : kEdgeSizes) EXPECT_EQ(read_bytes(*pair.a, size), payload_of(size)) << size;
  thread.join();
}

// Both parties send message i of `sizes`, and receive some time later, up to `ahead` messages behind.
void talk_in_turns(std::unique_ptr<ByteStream> stream, const std::vector<std::size_t>& sizes, std::size_t ahead) {
  const auto channel = make_framed_channel(std::move(stream));
  std::size_t received = 0;
  const auto receive = [&] {
    const std::size_t size = sizes[received++];
    std::vector<std::byte> payload(size);
    channel->recv(kGreeting, payload);
    EXPECT_EQ(payload, payload_of(size)) << "message " << received - 1;
  };
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    channel->send(kGreeting, payload_of(sizes[i]));
    if (i >= ahead) receive();
  }
  while (received < sizes.size()) receive();
  channel->flush();
}

TEST(Tcp, InterleavedMessagesOfAllSizesArriveWholeAndInOrder) {
  std::vector<std::size_t> sizes;
  for (const std::size_t before : kEdgeSizes)
    for (const std::size_t size : kEdgeSizes) sizes.insert(sizes.end(), {before, size});
  for (const std::size_t ahead : {0u, 1u, 2u, 7u, 1000u}) {
    TcpPair pair;
    std::thread thread([&] { talk_in_turns(std::move(pair.b), sizes, ahead); });
    talk_in_turns(std::move(pair.a), sizes, ahead);
    thread.join();
  }
}

// One party is a message ahead of the other, so that their reads and writes meet in other ways.
TEST(Tcp, PartiesThatReadAtDifferentTimesGetAllMessages) {
  std::vector<std::size_t> sizes;
  for (int i = 0; i < 12; ++i) sizes.insert(sizes.end(), std::begin(kEdgeSizes), std::end(kEdgeSizes));
  for (const auto& [of_a, of_b] : {std::pair{0u, 3u}, {1u, 0u}, {40u, 1u}, {1000u, 0u}}) {
    TcpPair pair;
    std::thread thread([&, ahead = of_b] { talk_in_turns(std::move(pair.b), sizes, ahead); });
    talk_in_turns(std::move(pair.a), sizes, of_a);
    thread.join();
  }
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
  a->flush();
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
  pair.a->flush();
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
