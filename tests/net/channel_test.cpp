// Framing: wire format, rejected frames, counters. On streams in memory.
#include "net/channel.h"

#include <thread>

#include "tests/net/raw_peer.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

TEST(Channel, FramesMessageWithSixteenByteHeader) {
  ChannelAndRawPeer peers;
  const auto payload = payload_of(5);
  peers.channel->send(kGreeting, payload);
  peers.channel->send(kReply, {});
  for (const RawHeader& expected : {RawHeader{5, kGreeting.id, 0}, RawHeader{0, kReply.id, 1}}) {
    RawHeader header;
    peers.raw->read(std::as_writable_bytes(std::span(&header, 1)));
    EXPECT_EQ(header.length, expected.length);
    EXPECT_EQ(header.tag, expected.tag);
    EXPECT_EQ(header.sequence, expected.sequence);
    std::vector<std::byte> received(header.length);
    peers.raw->read(received);
    EXPECT_EQ(received, expected.length == 5 ? payload : std::vector<std::byte>());
  }
}

struct BadFrame {
  const char* name;
  RawHeader header;
};

class Framing : public testing::TestWithParam<BadFrame> {};

// Six bytes of kGreeting as message 0 are expected; neither kind of receive accepts anything else.
TEST_P(Framing, RejectsUnexpectedFrame) {
  for (const bool variable : {false, true}) {
    ChannelAndRawPeer peers;
    peers.channel->set_phase("the phase");
    peers.write_frame(GetParam().header, payload_of(16));
    const bool length_is_free = variable && GetParam().header.length <= 6 &&
                                GetParam().header.tag == kGreeting.id &&
                                GetParam().header.sequence == 0;
    std::vector<std::byte> payload(6);
    const auto receive = [&] {
      variable ? void(peers.channel->recv_variable(kGreeting, 6))
               : peers.channel->recv(kGreeting, payload);
    };
    if (length_is_free) {
      EXPECT_NO_THROW(receive());
      continue;
    }
    const std::string message = message_of<PeerCheated>(receive);
    expect_contains(message, "framing");
    expect_contains(message, "the phase");
    expect_contains(message, "test.greeting");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Wrong, Framing,
    testing::Values(BadFrame{"shorter", {5, kGreeting.id, 0}},
                    BadFrame{"empty", {0, kGreeting.id, 0}},
                    BadFrame{"longer", {7, kGreeting.id, 0}},
                    BadFrame{"enormous", {std::uint64_t{1} << 60, kGreeting.id, 0}},
                    BadFrame{"negative", {~std::uint64_t{0}, kGreeting.id, 0}},
                    BadFrame{"tag", {6, kReply.id, 0}}, BadFrame{"omitted", {6, kGreeting.id, 1}},
                    BadFrame{"abortwithpayload", {6, 0xFFFFFFFF, 0}}),
    [](const auto& frame) { return frame.param.name; });

TEST(Channel, RejectsReplayedMessage) {
  ChannelAndRawPeer peers;
  std::vector<std::byte> payload(3);
  peers.write_frame({3, kGreeting.id, 0}, payload_of(3));
  peers.write_frame({3, kGreeting.id, 0}, payload_of(3));
  peers.channel->recv(kGreeting, payload);
  EXPECT_EQ(payload, payload_of(3));
  message_of<PeerCheated>([&] { peers.channel->recv(kGreeting, payload); });
}

constexpr MessageTag kBeside = message_tag("silent.challenge"),
                     kAlsoBeside = message_tag("silent.digest");

// Those of a track keep their order, whatever arrives between them.
TEST(Channel, SetsMessagesOfTheOtherTrackAside) {
  MemoryStreams streams = make_memory_streams();
  auto a = make_framed_channel(std::move(streams.a)), b = make_framed_channel(std::move(streams.b));
  const auto receive = [&](const MessageTag& tag, std::size_t size) {
    std::vector<std::byte> payload(size);
    b->recv(tag, payload);
    EXPECT_EQ(payload, payload_of(size));
  };
  for (const std::size_t size : {1u, 2u}) a->send(kBeside, payload_of(size));
  for (const std::size_t size : {3u, 4u}) a->send(kGreeting, payload_of(size));
  a->send(kAlsoBeside, payload_of(5));
  a->send(kReply, payload_of(6));
  receive(kGreeting, 3);
  receive(kBeside, 1);
  receive(kBeside, 2);
  receive(kAlsoBeside, 5);
  EXPECT_EQ(b->recv_variable(kGreeting, 10), payload_of(4));
  receive(kReply, 6);
  EXPECT_EQ(b->counters().bytes_received, a->counters().bytes_sent);
}

TEST(Channel, RejectsAnotherMessageOfTheTrackThatIsSetAside) {
  for (const bool other_tag : {true, false}) {
    ChannelAndRawPeer peers;
    peers.write_frame({3, kBeside.id, 0}, payload_of(3));
    peers.write_frame({3, kGreeting.id, 1}, payload_of(3));
    std::vector<std::byte> payload(3), longer(4);
    peers.channel->recv(kGreeting, payload);
    expect_contains(message_of<PeerCheated>(
                        [&] { peers.channel->recv(other_tag ? kAlsoBeside : kBeside, longer); }),
                    "framing");
  }
}

TEST(Channel, CountsTheMessagesOfBothTracks) {
  ChannelAndRawPeer peers;
  peers.write_frame({3, kBeside.id, 0}, payload_of(3));
  peers.write_frame({3, kGreeting.id, 0}, payload_of(3));
  std::vector<std::byte> payload(3);
  message_of<PeerCheated>([&] { peers.channel->recv(kGreeting, payload); });
}

TEST(Channel, SetsABoundedAmountAside) {
  constexpr std::size_t kBytes = std::size_t{1} << 19;
  {
    ChannelAndRawPeer peers;
    peers.write_frame({kBytes, kBeside.id, 0});
    peers.raw.reset();
    std::vector<std::byte> payload(3);
    expect_contains(message_of<PeerCheated>([&] { peers.channel->recv(kGreeting, payload); }),
                    "framing");
  }
  // Empty messages take memory too, and renew deadlines.
  ChannelAndRawPeer peers;
  std::thread peer([&] {
    try {
      for (std::uint32_t i = 0; i < kBytes >> 12; ++i) peers.write_frame({0, kBeside.id, i});
      peers.write_frame({0, kBeside.id, kBytes >> 12});
    } catch (const NetworkError&) {
    }
    peers.raw.reset();
  });
  std::vector<std::byte> payload(3);
  message_of<PeerCheated>([&] { peers.channel->recv(kGreeting, payload); });
  peers.channel.reset();
  peer.join();
}

TEST(Channel, AcceptsAbortInPlaceOfAnyMessage) {
  MemoryStreams streams = make_memory_streams();
  auto a = make_framed_channel(std::move(streams.a)), b = make_framed_channel(std::move(streams.b));
  a->send(kGreeting, payload_of(2));
  a->send_abort();
  std::vector<std::byte> payload(2);
  b->recv(kGreeting, payload);
  message_of<PeerAborted>([&] { b->recv(kReply, payload); });
}

TEST(Channel, SendAbortToClosedPeerDoesNotThrow) {
  ChannelAndRawPeer peers;
  peers.raw.reset();
  peers.channel->send_abort();
}

TEST(Channel, ClosedPeerIsNetworkErrorNamingThePhase) {
  for (const std::size_t bytes_before : {0u, 7u, 16u, 18u}) {
    ChannelAndRawPeer peers;
    peers.channel->set_phase("leaky ANDs");
    const RawHeader header{4, kGreeting.id, 0};
    std::vector<std::byte> frame(20);
    std::memcpy(frame.data(), &header, sizeof header);
    peers.raw->write(std::span(frame).first(bytes_before));
    peers.raw.reset();
    std::vector<std::byte> payload(4);
    const std::string message =
        message_of<NetworkError>([&] { peers.channel->recv(kGreeting, payload); });
    expect_contains(message, "closed");
    expect_contains(message, "phase leaky ANDs");
    // Sending succeeds without effect; the next receive reports the end.
    peers.channel->send(kReply, payload);
    expect_contains(message_of<NetworkError>([&] { peers.channel->recv(kGreeting, payload); }),
                    "phase leaky ANDs");
  }
}

TEST(Channel, RejectsNonZeroPaddingBits) {
  ChannelAndRawPeer peers;
  peers.write_frame({2, kGreeting.id, 0}, {std::byte{0xFF}, std::byte{0x07}});
  peers.write_frame({2, kGreeting.id, 1}, {std::byte{0xFF}, std::byte{0x0F}});
  const BitVector bits = recv_bits(*peers.channel, kGreeting, 11);
  for (std::size_t i = 0; i < 11; ++i) EXPECT_TRUE(bits[i]);
  expect_contains(message_of<PeerCheated>([&] { recv_bits(*peers.channel, kGreeting, 11); }),
                  "padding");
}

TEST(Channel, TransmitsBitsWordsAndObjects) {
  MemoryStreams streams = make_memory_streams();
  auto a = make_framed_channel(std::move(streams.a)), b = make_framed_channel(std::move(streams.b));
  for (const std::size_t size : {0u, 1u, 7u, 8u, 9u, 64u, 65u, 1023u, 1024u, 1025u}) {
    BitVector bits(size);
    for (std::size_t i = 0; i < size; ++i) bits.put(i, i % 3 == 0);
    send_bits(*a, kGreeting, bits);
    const BitVector received = recv_bits(*b, kGreeting, size);
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(received[i], i % 3 == 0);
  }
  const std::vector<std::uint64_t> words = {1, 2, 3};
  std::vector<std::uint64_t> received(3);
  send_words(*a, kReply, std::span(words));
  recv_words(*b, kReply, std::span(received));
  EXPECT_EQ(received, words);
  send_object(*b, kReply, std::uint32_t{77});
  EXPECT_EQ(recv_object<std::uint32_t>(*a, kReply), 77u);
}

TEST(Channel, CountsBytesMessagesAndRounds) {
  MemoryStreams streams = make_memory_streams();
  auto a = make_framed_channel(std::move(streams.a)), b = make_framed_channel(std::move(streams.b));
  std::vector<std::byte> payload(100), small(3);
  a->send(kGreeting, payload);
  a->send(kGreeting, small);
  b->recv(kGreeting, payload);
  b->recv(kGreeting, small);
  b->send(kReply, small);
  a->recv_variable(kReply, 10);
  b->send(kReply, {});
  a->recv(kReply, {});
  EXPECT_EQ(a->counters().bytes_sent, 2 * 16 + 103u);
  EXPECT_EQ(a->counters().bytes_received, 2 * 16 + 3u);
  EXPECT_EQ(a->counters().messages_sent, 2u);
  EXPECT_EQ(a->counters().rounds, 1u);  // two messages out, then two in: one wait
  EXPECT_EQ(b->counters().bytes_sent, 2 * 16 + 3u);
  EXPECT_EQ(b->counters().bytes_received, 2 * 16 + 103u);
  EXPECT_EQ(b->counters().messages_sent, 2u);
  EXPECT_EQ(b->counters().rounds, 0u);
}

TEST(MemoryStream, ExchangesLargeMessagesWithoutDeadlock) {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  MemoryStreams streams = make_memory_streams();
  const auto run = [](std::unique_ptr<ByteStream> stream, std::byte mine, std::byte peers) {
    const auto channel = make_framed_channel(std::move(stream));
    std::vector<std::byte> payload(kBytes, mine);
    channel->send(kGreeting, payload);
    channel->recv(kGreeting, payload);
    EXPECT_EQ(std::count(payload.begin(), payload.end(), peers), static_cast<long>(kBytes));
  };
  std::thread thread([&] { run(std::move(streams.b), std::byte{2}, std::byte{1}); });
  run(std::move(streams.a), std::byte{1}, std::byte{2});
  thread.join();
}

// A flooding peer does not delay a party beyond its deadline.
TEST(MemoryStream, DeadlineHoldsWhileDataKeepArriving) {
  MemoryStreams streams = make_memory_streams();
  streams.b->write(std::vector<std::byte>(100));
  std::vector<std::byte> bytes(10);
  streams.a->read(bytes);
  streams.a->set_deadline(std::chrono::steady_clock::now());
  EXPECT_THROW(streams.a->read(bytes), NetworkError);
}

}  // namespace
}  // namespace tinyot
