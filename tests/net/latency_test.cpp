// The measurement of latency: both parties get the same value, within bounds of the link's
// round-trip time, and a peer that sends a wrong value can only raise it, up to a limit.
#include "net/latency.h"

#include <array>
#include <limits>
#include <thread>

#include "base/error.h"
#include "net/shaped_link.h"
#include "tests/net/stream_pair.h"
#include "tests/support/two_parties.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr MessageTag kLatencyTag = net::message_tag("session.latency");
constexpr auto kRtt = 40ms;
constexpr int kMeasurements = 20;

// The channels of two parties over a link.
class LinkedChannels {
 public:
  LinkedChannels()
      : here_(free_address()), there_(free_address()), listener_(there_, kLongTimeouts),
        link_({.rtt = kRtt}, here_, there_) {
    b = make_framed_channel(tcp_connect(here_, kLongTimeouts));
    a = make_framed_channel(listener_.accept());
  }

 private:
  Address here_, there_;
  TcpListener listener_;
  ShapedLink link_;

 public:
  std::unique_ptr<Channel> a, b;
};

// B begins `late` after A.
std::array<std::chrono::nanoseconds, 2> measured(LinkedChannels& channels,
                                                 std::chrono::milliseconds late = 0ms) {
  std::array<std::chrono::nanoseconds, 2> latency{};
  std::jthread b([&] {
    std::this_thread::sleep_for(late);
    latency[1] = measure_latency(*channels.b);
  });
  latency[0] = measure_latency(*channels.a);
  b.join();
  return latency;
}

// The machine may delay any try.
void expect_within_round_trip(std::chrono::milliseconds late) {
  LinkedChannels channels;
  auto least = std::chrono::nanoseconds::max();
  for (int i = 0; i < kMeasurements && least > 1.1 * kRtt; ++i) {
    const auto [of_a, of_b] = measured(channels, late);
    EXPECT_EQ(of_a, of_b);
    EXPECT_GE(of_a, kRtt / 2);
    least = std::min(least, of_a);
  }
  EXPECT_LE(least, 1.1 * kRtt);
}

TEST(Latency, IsBetweenHalfARoundTripAndAWholeOne) { expect_within_round_trip(0ms); }

TEST(Latency, DoesNotIncludeTheTimeBeforeTheOtherPartyBegins) { expect_within_round_trip(100ms); }

TEST(Latency, TakesThreeMessagesOfEightBytesEachWay) {
  run_channels([](Party, Channel& channel) {
    measure_latency(channel);
    EXPECT_EQ(channel.counters().messages_sent, 3u);
    EXPECT_EQ(channel.counters().bytes_sent, 3 * (sizeof(FrameHeader) + 8));
    EXPECT_EQ(channel.counters().rounds, 3u);
  });
}

// What A measures with a B that delays its second message and sends `value` in each.
std::chrono::nanoseconds measured_with(std::uint64_t value, std::chrono::milliseconds delay) {
  std::chrono::nanoseconds latency{-1};
  const Outcomes outcomes = run_channels([&](Party party, Channel& channel) {
    if (party == Party::A) {
      latency = measure_latency(channel);
      return;
    }
    for (int message = 0; message < 3; ++message) {
      if (message == 1) {
        recv_object<std::uint64_t>(channel, kLatencyTag);
        std::this_thread::sleep_for(delay);
      }
      send_object(channel, kLatencyTag, value);
      channel.flush();
    }
    for (int message = 0; message < 2; ++message) recv_object<std::uint64_t>(channel, kLatencyTag);
  });
  EXPECT_EQ(outcomes.a.kind, Outcome::Kind::Done) << outcomes.a.message;
  EXPECT_EQ(outcomes.b.kind, Outcome::Kind::Done) << outcomes.b.message;
  return latency;
}

TEST(Latency, WrongValueOfThePeerIsLimited) {
  constexpr auto kMax = std::chrono::nanoseconds(kLatencyMax).count();
  for (const std::uint64_t value :
       {static_cast<std::uint64_t>(kMax), static_cast<std::uint64_t>(kMax) + 1,
        std::uint64_t{1} << 63, (std::uint64_t{1} << 63) - 1, ~std::uint64_t{0}})
    EXPECT_EQ(measured_with(value, 0ms).count(), kMax) << value;
  EXPECT_EQ(measured_with(static_cast<std::uint64_t>(kMax) - 1, 0ms).count(), kMax - 1);
}

TEST(Latency, SmallValueOfThePeerDoesNotLowerIt) {
  for (const std::uint64_t value : {0, 1}) EXPECT_GE(measured_with(value, 30ms), 10ms) << value;
}

// Of `message`, the number of its bytes and its tag, if B sends them.
void expect_rejected(int message, std::size_t bytes, std::uint32_t tag) {
  SCOPED_TRACE("message " + std::to_string(message) + ", " + std::to_string(bytes) + " bytes");
  const Outcomes outcomes = run_channels([&](Party party, Channel& channel) {
    if (party == Party::A) {
      measure_latency(channel);
      return;
    }
    for (int i = 0; i <= message; ++i) {
      const std::vector<std::byte> payload(i == message ? bytes : 8);
      channel.send({i == message ? tag : kLatencyTag.id, "session.latency"}, payload);
    }
    channel.flush();
    channel.await_abort();
  });
  EXPECT_EQ(outcomes.a.kind, Outcome::Kind::PeerCheated) << outcomes.a.message;
  EXPECT_TRUE(outcomes.a.check.starts_with("framing")) << outcomes.a.check;
}

TEST(Latency, RejectsAMessageOfAnotherLengthOrTag) {
  for (const int message : {0, 1, 2}) {
    for (const std::size_t bytes : {0, 7, 9, 1 << 20}) expect_rejected(message, bytes, 0x0004);
    expect_rejected(message, 8, 0x0003);
  }
}

TEST(Latency, PeerThatEndsIsANetworkError) {
  for (const int messages : {0, 1, 2}) {
    const Outcomes outcomes = run_channels([&](Party party, Channel& channel) {
      if (party == Party::A) {
        measure_latency(channel);
        return;
      }
      for (int i = 0; i < messages; ++i) send_object(channel, kLatencyTag, std::uint64_t{0});
    });
    EXPECT_EQ(outcomes.a.kind, Outcome::Kind::Network) << outcomes.a.message;
  }
}

}  // namespace
}  // namespace tinyot
