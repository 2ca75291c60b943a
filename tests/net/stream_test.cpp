// Streams over loopback, TCP and TLS: order, large messages in both directions, bounded memory, and
// every way in which a stream ends.
#include <netinet/tcp.h>

#include <thread>

#include "net/tcp_stream.h"
#include "system/memory_use.h"
#include "tests/net/stream_pair.h"
#include "tests/support/becomes_true.h"
#include "tests/support/layers.h"
#include "tests/support/peak_memory.h"

namespace tinyot {
namespace {

using namespace tinyot::test;
using Clock = std::chrono::steady_clock;

class Stream : public testing::TestWithParam<Layer> {};

INSTANTIATE_TEST_SUITE_P(Over, Stream, testing::Values(Layer::Tcp, Layer::Tls, Layer::Transport),
                         [](const auto& layer) { return name_of(layer.param); });

// One party's part of an exchange in which both send everything before either receives.
void exchange(ByteStream& stream, std::size_t bytes, std::byte mine, std::byte peers) {
  std::vector<std::byte> data(bytes, mine);
  stream.write(data);
  stream.read(data);
  stream.flush();
  EXPECT_EQ(std::count(data.begin(), data.end(), peers), static_cast<long>(bytes));
}

TEST_P(Stream, LargeMessagesBothWaysAtOnceDoNotDeadlock) {
  StreamPair pair(GetParam());
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  std::thread thread([&] { exchange(*pair.b, kBytes, std::byte{2}, std::byte{1}); });
  exchange(*pair.a, kBytes, std::byte{1}, std::byte{2});
  thread.join();
}

// A stream that nobody reads tells that its peer has gone, and what has come before can be read.
TEST_P(Stream, TellsThatItHasEnded) {
  StreamPair pair(GetParam());
  std::vector<std::byte> bytes(3, std::byte{7});
  pair.b->write(bytes);
  pair.b->flush();
  EXPECT_FALSE(pair.a->has_ended());
  EXPECT_FALSE(pair.b->has_ended());
  pair.b.reset();
  if (GetParam() == Layer::Transport) {
    EXPECT_FALSE(pair.a->has_ended()) << "a transport cannot tell";
    return;
  }
  EXPECT_TRUE(becomes_true([&] { return pair.a->has_ended(); }));
  std::vector<std::byte> received(3);
  pair.a->read(received);
  EXPECT_EQ(received, bytes);
  EXPECT_THROW(pair.a->read(received), NetworkError);
}

// The system probes a connection on which nothing arrives.
TEST(TcpStream, IsProbedWhenIdle) {
  StreamPair pair(Layer::Tcp);
  for (const auto* stream : {&pair.a, &pair.b}) {
    const int descriptor = dynamic_cast<TcpStream&>(**stream).descriptor();
    const auto get = [&](int level, int option) {
      int value = 0;
      socklen_t size = sizeof value;
      EXPECT_EQ(::getsockopt(descriptor, level, option, &value, &size), 0);
      return value;
    };
    EXPECT_EQ(get(SOL_SOCKET, SO_KEEPALIVE), 1);
    const int after = get(IPPROTO_TCP, TCP_KEEPIDLE), interval = get(IPPROTO_TCP, TCP_KEEPINTVL),
              probes = get(IPPROTO_TCP, TCP_KEEPCNT);
    EXPECT_LE(after + interval * probes, 60);
  }
}

TEST_P(Stream, ManyMessagesOfOddSizesArriveInOrder) {
  StreamPair pair(GetParam());
  const auto exchange_all = [](std::unique_ptr<ByteStream> stream) {
    const auto channel = make_framed_channel(std::move(stream));
    for (const std::size_t size : {1u, 0u, 3u, 65536u, 1000003u, 17u})
      channel->send(kGreeting, payload_of(size));
    for (const std::size_t size : {1u, 0u, 3u, 65536u, 1000003u, 17u}) {
      std::vector<std::byte> payload(size);
      channel->recv(kGreeting, payload);
      EXPECT_EQ(payload, payload_of(size));
    }
    EXPECT_EQ(channel->counters().bytes_sent, 6 * 16 + 1065560u);
  };
  std::thread thread([&] { exchange_all(std::move(pair.b)); });
  exchange_all(std::move(pair.a));
  thread.join();
}

// Sizes around that of a header and that of the read-ahead beyond a message.
constexpr std::size_t kEdgeSizes[] = {1, 15, 16, 4095, 4096, 4097, 16383, 16384, 100000};

std::vector<std::byte> read_bytes(ByteStream& stream, std::size_t count) {
  std::vector<std::byte> bytes(count);
  stream.read(bytes);
  return bytes;
}

void write_in_pieces(ByteStream& stream, std::span<const std::byte> payload, std::size_t piece) {
  for (std::size_t first = 0; first < payload.size(); first += piece)
    stream.write(payload.subspan(first, std::min(piece, payload.size() - first)));
}

TEST_P(Stream, SendsWritesWithoutFlush) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{100}, std::size_t{5000}}) {
    StreamPair pair(GetParam());
    write_in_pieces(*pair.a, payload_of(10000), piece);
    EXPECT_EQ(read_bytes(*pair.b, 10000), payload_of(10000)) << piece;
  }
}

TEST_P(Stream, SendsBothPartsOfAWriteInOrder) {
  StreamPair pair(GetParam());
  const auto payload = payload_of(100000);
  for (const std::size_t first : {0u, 1u, 16u, 99999u, 100000u}) {
    pair.a->write(std::span(payload).first(first), std::span(payload).subspan(first));
    EXPECT_EQ(read_bytes(*pair.b, payload.size()), payload) << first;
  }
}

TEST_P(Stream, FlushSendsSmallMessages) {
  StreamPair pair(GetParam());
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

TEST_P(Stream, ReadSendsEarlierWrites) {
  StreamPair pair(GetParam());
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

TEST_P(Stream, KeepsBytesReadBeyondAMessage) {
  for (const std::size_t total : {100000u, 300001u}) {
    const auto payload = payload_of(total);
    for (const std::size_t piece : kEdgeSizes) {
      StreamPair pair(GetParam());
      pair.a->write(payload);
      pair.a->flush();
      pair.a.reset();  // nothing more arrives
      std::vector<std::byte> received(total);
      for (std::size_t first = 0; first < total; first += piece)
        pair.b->read(std::span(received).subspan(first, std::min(piece, total - first)));
      EXPECT_EQ(received, payload) << piece;
      message_of<NetworkError>([&] { read_bytes(*pair.b, 1); });
    }
  }
}

TEST_P(Stream, KeepsBytesReadBeyondAMessageWhileWriting) {
  StreamPair pair(GetParam());
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
  for (const std::size_t size : std::span(kEdgeSizes).subspan(1))
    EXPECT_EQ(read_bytes(*pair.a, size), payload_of(size)) << size;
  for (const std::size_t size : kEdgeSizes)
    EXPECT_EQ(read_bytes(*pair.a, size), payload_of(size)) << size;
  thread.join();
}

// Sends the messages of `sizes`, and receives as many, up to `ahead` messages behind.
void talk_in_turns(std::unique_ptr<ByteStream> stream, const std::vector<std::size_t>& sizes,
                   std::size_t ahead) {
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

TEST_P(Stream, InterleavedMessagesOfAllSizesArriveWholeAndInOrder) {
  std::vector<std::size_t> sizes;
  for (const std::size_t before : kEdgeSizes)
    for (const std::size_t size : kEdgeSizes) sizes.insert(sizes.end(), {before, size});
  for (const std::size_t ahead : {0u, 1u, 2u, 7u, 1000u}) {
    StreamPair pair(GetParam());
    std::thread thread([&] { talk_in_turns(std::move(pair.b), sizes, ahead); });
    talk_in_turns(std::move(pair.a), sizes, ahead);
    thread.join();
  }
}

// One party is further ahead than the other, so that reads and writes interleave differently.
TEST_P(Stream, DeliversAllMessagesWithDifferentReadTimes) {
  std::vector<std::size_t> sizes;
  for (int i = 0; i < 12; ++i)
    sizes.insert(sizes.end(), std::begin(kEdgeSizes), std::end(kEdgeSizes));
  for (const auto& [of_a, of_b] : {std::pair{0u, 3u}, {1u, 0u}, {40u, 1u}, {1000u, 0u}}) {
    StreamPair pair(GetParam());
    std::thread thread([&, ahead = of_b] { talk_in_turns(std::move(pair.b), sizes, ahead); });
    talk_in_turns(std::move(pair.a), sizes, of_a);
    thread.join();
  }
}

// A sender that is always slightly ahead of its receiver must not keep bytes that have been sent.
TEST_P(Stream, LongOneWayStreamUsesBoundedMemory) {
  constexpr std::size_t kMessage = std::size_t{1} << 20, kMessages = 300;
  StreamPair pair(GetParam());
  std::thread thread([&] {
    std::vector<std::byte> message(kMessage);
    for (std::size_t i = 0; i < kMessages; ++i) {
      pair.b->read(message);
      std::this_thread::sleep_for(3ms);  // the pace of the receiver
    }
  });
  const std::vector<std::byte> message(kMessage, std::byte{1});
  const bool is_measured = reset_peak_memory();
  const std::uint64_t before = system::peak_resident_bytes();
  for (std::size_t i = 0; i < kMessages; ++i) pair.a->write(message);
  pair.a->flush();
  thread.join();
  if (is_measured) {
    EXPECT_LT(system::peak_resident_bytes(), before + kSanitizersMemory + (std::size_t{64} << 20));
  }
}

TEST_P(Stream, ReadTimesOutOnSilentPeer) {
  StreamPair pair(GetParam(), {10s, 200ms});
  const auto begin = Clock::now();
  std::vector<std::byte> received(1);
  expect_idle_timeout(thrown_by<NetworkError>([&] { pair.b->read(received); }));
  EXPECT_GE(Clock::now() - begin, 200ms);
  EXPECT_LT(Clock::now() - begin, 3s);
}

TEST_P(Stream, WriteTimesOutIfThePeerReadsNothing) {
  StreamPair pair(GetParam(), {10s, 200ms});
  const std::vector<std::byte> data(std::size_t{64} << 20);
  expect_idle_timeout(thrown_by<NetworkError>([&] { pair.b->write(data); }));
}

TEST_P(Stream, ChannelKeepsTheRemedyOfATimeout) {
  StreamPair pair(GetParam(), {10s, 200ms});
  const auto channel = make_framed_channel(std::move(pair.b));
  channel->set_phase("waiting");
  std::vector<std::byte> received(1);
  const Thrown thrown = thrown_by<NetworkError>([&] { channel->recv(kGreeting, received); });
  expect_idle_timeout(thrown);
  expect_contains(thrown.message, "phase waiting");
}

TEST_P(Stream, ReportsClosedPeerWithThePhase) {
  StreamPair pair(GetParam());
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

TEST_P(Stream, DeliversAbortBeforeTheEnd) {
  StreamPair pair(GetParam());
  const auto a = make_framed_channel(std::move(pair.a)), b = make_framed_channel(std::move(pair.b));
  a->send_abort();
  std::vector<std::byte> payload(2);
  message_of<PeerAborted>([&] { b->recv(kGreeting, payload); });
}

}  // namespace
}  // namespace tinyot
