// Both parties send far more than the socket buffers hold before either reads.
#include <sys/socket.h>

#include <atomic>
#include <cstring>
#include <sstream>
#include <thread>

#include "tests/net/stream_pair.h"
#include "tests/support/becomes_true.h"
#include "tests/support/files.h"
#include "tests/support/layers.h"
#include "tests/support/sockets.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr std::size_t kMegabyte = std::size_t{1} << 20;
// Long enough for slow machines.
constexpr TcpTimeouts kSlow{10s, 50s};

class FullBuffers : public testing::TestWithParam<Layer> {};

INSTANTIATE_TEST_SUITE_P(Over, FullBuffers,
                         testing::Values(Layer::Tcp, Layer::Tls, Layer::Transport),
                         [](const auto& layer) { return name_of(layer.param); });

// Sends `messages` messages of `bytes` bytes, then receives as many.
void send_all_first(std::unique_ptr<ByteStream> stream, std::size_t messages, std::size_t bytes) {
  const auto channel = make_framed_channel(std::move(stream));
  std::vector<std::byte> payload = payload_of(bytes);
  for (std::size_t i = 0; i < messages; ++i) channel->send(kGreeting, payload);
  const std::vector<std::byte> expected = payload;
  for (std::size_t i = 0; i < messages; ++i) {
    std::memset(payload.data(), 0, bytes);
    channel->recv(kGreeting, payload);
    EXPECT_EQ(std::memcmp(payload.data(), expected.data(), bytes), 0) << "message " << i;
  }
  channel->flush();
}

void both_send_first(StreamPair pair, std::size_t messages, std::size_t bytes) {
  const auto end = [&](std::unique_ptr<ByteStream>& stream) {
    EXPECT_NO_THROW(send_all_first(std::move(stream), messages, bytes));
  };
  std::jthread thread([&] { end(pair.b); });
  end(pair.a);
}

TEST_P(FullBuffers, ManyMessagesBothWaysDoNotDeadlock) {
  both_send_first(StreamPair(GetParam(), kSlow), 64, kMegabyte);
}

// More than the read-ahead limit and the socket buffers together.
TEST_P(FullBuffers, OneLargeMessageBothWaysDoesNotDeadlock) {
  both_send_first(StreamPair(GetParam(), kSlow), 1, 90 * kMegabyte);
}

// To which the system lets a buffer of a socket grow.
std::size_t largest_buffer(const std::string& setting) {
  std::istringstream sizes(read_file("/proc/sys/net/ipv4/" + setting));
  std::size_t least = 0, usual = 0, most = 0;
  sizes >> least >> usual >> most;
  return most;
}

// A party whose write is blocked because the peer reads nothing buffers a bounded amount of what
// the peer sends.
TEST(Flood, ReadAheadIsBounded) {
  constexpr std::size_t kWritten = 40 * kMegabyte, kAhead = 64 * kMegabyte;
  const std::size_t bound =
      kAhead + kWritten + largest_buffer("tcp_rmem") + largest_buffer("tcp_wmem") + kMegabyte;
  const Address address = free_address();
  TcpListener listener(address, kSlow);
  Socket peer = connect_to(address.port);
  auto stream = listener.accept();
  // Until the peer is gone. That is an error or not, depending on when it is noticed.
  std::jthread writing([&] {
    try {
      stream->write(payload_of(kWritten));
    } catch (const NetworkError&) {
    }
  });
  std::atomic<std::size_t> flooded = 0;
  std::jthread flooding([&] {
    while (peer.send_all(std::string(kMegabyte, 'x'))) flooded += kMegabyte;
  });
  EXPECT_TRUE(becomes_true([&] { return flooded >= kAhead; }));
  // Until the peer cannot send more for a while. That nothing more will be read ahead is no event,
  // and a machine that is slow lets the test pass, not fail.
  for (std::size_t seen = 0; flooded != seen && flooded <= bound;) {
    seen = flooded;
    std::this_thread::sleep_for(500ms);
  }
  EXPECT_LE(flooded, bound);
  ::shutdown(peer.get(), SHUT_RDWR);
  flooding.join();
  peer.close();  // with unread data, which resets the connection
}

}  // namespace
}  // namespace tinyot
