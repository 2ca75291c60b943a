// Both parties send far more than the sockets between them hold before either reads.
#include <thread>

#include "tests/net/stream_pair.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

class FullBuffers : public testing::TestWithParam<Layer> {};

INSTANTIATE_TEST_SUITE_P(Over, FullBuffers, testing::Values(Layer::Tcp, Layer::Tls),
                         [](const auto& layer) { return layer.param == Layer::Tcp ? "Tcp" : "Tls"; });

// Sends `messages` of `bytes`, and then receives as many.
void send_all_first(std::unique_ptr<ByteStream> stream, std::size_t messages, std::size_t bytes) {
  const auto channel = make_framed_channel(std::move(stream));
  std::vector<std::byte> payload = payload_of(bytes);
  for (std::size_t i = 0; i < messages; ++i) channel->send(kGreeting, payload);
  const std::vector<std::byte> expected = payload;
  for (std::size_t i = 0; i < messages; ++i) {
    std::ranges::fill(payload, std::byte{0});
    channel->recv(kGreeting, payload);
    EXPECT_TRUE(payload == expected) << "message " << i;
  }
  channel->flush();
}

void both_send_first(StreamPair pair, std::size_t messages, std::size_t bytes) {
  std::thread thread([&] { send_all_first(std::move(pair.b), messages, bytes); });
  send_all_first(std::move(pair.a), messages, bytes);
  thread.join();
}

TEST_P(FullBuffers, ManyMessagesBothWaysDoNotDeadlock) { both_send_first(StreamPair(GetParam()), 64, kMegabyte); }

TEST_P(FullBuffers, OneMessageOf90MegabytesBothWaysDoesNotDeadlock) { both_send_first(StreamPair(GetParam()), 1, 90 * kMegabyte); }

}  // namespace
}  // namespace tinyot
