// The measurement of the link's rate: what a link of a known rate gives, and what a peer can do.
#include "net/rate.h"

#include <array>
#include <functional>
#include <thread>

#include "base/error.h"
#include "net/shaped_link.h"
#include "tests/net/stream_pair.h"
#include "tests/support/two_parties.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr MessageTag kRateTag = net::message_tag("session.rate");
constexpr std::size_t kLongBytes = 12288;

// What the connecting party measures over a link until `is_enough`. A machine that is busy delays
// what arrives, or who reads it: any try may be too low, or too high.
void measure_until(double bits_per_s, const std::function<bool(double rate)>& is_enough) {
  const Address here = free_address(), there = free_address();
  TcpListener listener(there, kLongTimeouts);
  const ShapedLink link({.rtt = 2ms, .bits_per_s = bits_per_s}, here, there);
  const auto b = make_framed_channel(tcp_connect(here, kLongTimeouts));
  const auto a = make_framed_channel(listener.accept());
  for (int i = 0; i < 500; ++i) {
    std::jthread sending([&] { net::send_for_rate(*a); });
    if (is_enough(net::measure_rate(*b))) return;
  }
  ADD_FAILURE() << "of no try";
}

TEST(Rate, IsThatOfTheLink) {
  for (const double bits_per_s : {30e6, 60e6}) {
    int right = 0;
    measure_until(bits_per_s, [&](double rate) {
      return (right += rate >= bits_per_s / 2 && rate <= 2 * bits_per_s) == 3;
    });
  }
}

TEST(Rate, IsLimited) {
  measure_until(2e6, [](double rate) { return rate == net::kRateLeast; });
  run_channels([](Party me, Channel& channel) {
    if (me == Party::B) return net::send_for_rate(channel);
    const double rate = net::measure_rate(channel);
    EXPECT_GE(rate, net::kRateLeast);
    EXPECT_LE(rate, net::kRateMost);
  });
}

// The first long message is read together with the short one, as by a party that is woken late.
TEST(Rate, IsTheMedianOfThree) {
  int tries = 0;
  for (bool is_median = false; !is_median && tries < 500; ++tries)
    run_channels([&](Party me, Channel& channel) {
      if (me == Party::A) {
        is_median = net::measure_rate(channel) < 15e6;
        return;
      }
      send_object(channel, kRateTag, std::uint64_t{0});
      for (int message = 0; message < 3; ++message) {
        send_object(channel, kRateTag, std::array<std::byte, kLongBytes>{});
        channel.flush();
        std::this_thread::sleep_for(8ms);  // the pace of a link of 12 Mbit/s
      }
    });
  EXPECT_LT(tries, 500);
}

TEST(Rate, TakesFourMessagesOfOneParty) {
  run_channels([](Party me, Channel& channel) {
    if (me == Party::A)
      net::measure_rate(channel);
    else
      net::send_for_rate(channel);
    EXPECT_EQ(channel.counters().messages_sent, me == Party::A ? 0u : 4u);
    EXPECT_EQ(channel.counters().bytes_sent,
              me == Party::A ? 0 : 4 * sizeof(net::FrameHeader) + 8 + 3 * kLongBytes);
  });
}

TEST(Rate, RejectsAMessageOfAnotherLengthOrTag) {
  const auto expect_rejected = [](std::size_t message, std::size_t bytes, std::uint32_t tag) {
    SCOPED_TRACE("message " + std::to_string(message) + ", " + std::to_string(bytes) + " bytes");
    const Outcomes outcomes = run_channels([&](Party me, Channel& channel) {
      if (me == Party::A) {
        net::measure_rate(channel);
        return;
      }
      for (std::size_t i = 0; i <= message; ++i) {
        const std::vector<std::byte> payload(i == message ? bytes : i == 0 ? 8 : kLongBytes);
        channel.send({i == message ? tag : kRateTag.id, "session.rate"}, payload);
      }
      channel.flush();
      channel.await_abort();
    });
    EXPECT_EQ(outcomes.a.kind, Outcome::Kind::PeerCheated) << outcomes.a.message;
    EXPECT_TRUE(outcomes.a.check.starts_with("framing")) << outcomes.a.check;
  };
  for (const std::size_t message : {0, 1, 3}) {
    const std::size_t right = message == 0 ? 8 : kLongBytes;
    for (const std::size_t bytes : {std::size_t{0}, right - 1, right + 1, std::size_t{1} << 20})
      expect_rejected(message, bytes, kRateTag.id);
    expect_rejected(message, right, 0x0004);
  }
}

}  // namespace
}  // namespace tinyot
