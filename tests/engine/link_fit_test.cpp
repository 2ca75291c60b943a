// What parties take for parameters that they leave to the link.
#include "engine/link_fit.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <latch>
#include <thread>

#include "tests/support/channel_decorator.h"
#include "tests/support/layers.h"
#include "tests/support/two_parties.h"

namespace tinyot {
namespace {

using namespace tinyot::test;
using namespace std::chrono_literals;

constexpr MessageTag kSampleTag = net::message_tag("session.sample");
constexpr MessageTag kFitTag = net::message_tag("session.fit");
constexpr std::uint64_t kLarge = std::uint64_t{1} << 16;
using SampleMessage = std::array<std::byte, 32768>;

const SecurityParameters& open_parameters() {
  static const auto open = SecurityParameters::make({.profile = Profile::Fast});
  return open;
}

std::uint32_t k_of(const SecurityParameters& params) {
  return *params.own<FastParameters>().softspoken_k;
}

TEST(LinkFit, IsTheSameAtBothParties) {
  std::array<std::optional<SecurityParameters>, 2> fitted;
  run_channels([&](Party me, Channel& channel) {
    fitted[static_cast<std::size_t>(me)] =
        engine::fitted_to_link(open_parameters(), kLarge, 1, me, channel);
  });
  EXPECT_FALSE(fitted[0]->are_open());
  EXPECT_EQ(fitted[0]->own(), fitted[1]->own());
}

// Whoever pretends to another rate changes what both take, and nothing else.
TEST(LinkFit, FollowsTheRateThatASays) {
  const std::uint64_t all = ~std::uint64_t{0};
  for (const auto& [bits_per_s, threads, k] : {std::tuple(std::uint64_t{0}, 1, 4u),
                                               {std::uint64_t{1'000'000'000}, 1, 4u},
                                               {std::uint64_t{9'000'000'000}, 1, 2u},
                                               {std::uint64_t{9'000'000'000}, 4, 4u},
                                               {all, 1, 2u}})
    run_channels([&, said = bits_per_s, workers = threads, taken = k](Party me, Channel& channel) {
      if (me == Party::A) {
        net::recv_object<std::uint64_t>(channel, kSampleTag);
        for (int i = 0; i < 8; ++i) net::recv_object<SampleMessage>(channel, kSampleTag);
        return net::send_object(channel, kFitTag, said);
      }
      const auto fitted = engine::fitted_to_link(open_parameters(), kLarge,
                                                 static_cast<std::uint64_t>(workers), me, channel);
      EXPECT_EQ(k_of(fitted), taken) << said << ", " << workers;
      EXPECT_EQ(fitted.bucket(), open_parameters().bucket());
      EXPECT_EQ(fitted.unit(), open_parameters().unit());
    });
}

// Tells when the first message of the sample has been taken: the measurement begins there.
class BeginningChannel final : public ChannelDecorator {
 public:
  BeginningChannel(std::unique_ptr<Channel> inner, std::latch& begun)
      : ChannelDecorator(std::move(inner)), begun_(begun) {}

  void recv(const MessageTag& tag, std::span<std::byte> payload) override {
    if (++received_ == 2) begun_.count_down();
    ChannelDecorator::recv(tag, payload);
  }

 private:
  std::latch& begun_;
  int received_ = 0;
};

TEST(LinkFit, TakesFewerBytesOfASlowLink) {
  std::latch begun(1);
  const auto with_beginning = [&](std::unique_ptr<Channel> channel) {
    return std::make_unique<BeginningChannel>(std::move(channel), begun);
  };
  run_channels(
      [&](Party me, Channel& channel) {
        if (me == Party::A) {
          EXPECT_EQ(k_of(engine::fitted_to_link(open_parameters(), kLarge, 1, me, channel)), 4u);
          return;
        }
        net::send_object(channel, kSampleTag, std::uint64_t{0});
        channel.flush();
        begun.wait();
        for (int message = 0; message < 8; ++message) {
          channel.flush();
          std::this_thread::sleep_for(2ms);  // the pace of a link of 131 Mbit/s
          net::send_object(channel, kSampleTag, SampleMessage{});
        }
        EXPECT_LE(net::recv_object<std::uint64_t>(channel, kFitTag), 131'072'000u);
      },
      {.wrap_a = with_beginning});
}

TEST(LinkFit, SendsNothingIfItDecidesNothing) {
  const auto closed = SecurityParameters::make(
      {.profile = Profile::Fast, .own = FastParameters{.softspoken_k = 1}});
  const auto nnob12 = SecurityParameters::make({});
  run_channels([&](Party me, Channel& channel) {
    EXPECT_EQ(k_of(engine::fitted_to_link(open_parameters(), kLarge - 1, 1, me, channel)), 2u);
    EXPECT_EQ(k_of(engine::fitted_to_link(closed, kLarge, 1, me, channel)), 1u);
    EXPECT_EQ(engine::fitted_to_link(nnob12, kLarge, 1, me, channel).own(), nnob12.own());
    EXPECT_EQ(channel.counters().messages_sent, 0u);
  });
}

}  // namespace
}  // namespace tinyot
