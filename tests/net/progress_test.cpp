// No peer delays a call for long: neither by trickled bytes, nor by records without application
// data, nor by data that keep arriving. Over TCP and TLS.
#include <sys/socket.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <thread>

#include "net/tls/tls_stream.h"
#include "tests/net/raw_tls.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;
using Clock = std::chrono::steady_clock;

constexpr TcpTimeouts kShortTimeouts{10s, 300ms};
constexpr auto kSoon = 5s;  // even on a loaded machine; far less than kLongTimeouts
constexpr std::size_t kLargeMessage = std::size_t{64} << 20;

// Repeats a step on a thread until it fails, this object is destroyed, or 2 kSoon have passed.
class Repeating {
 public:
  template <class Step>
  explicit Repeating(Step step, std::chrono::milliseconds pause = 0ms)
      : thread_([step = std::move(step), pause](const std::stop_token& stop) mutable {
          try {
            const auto end = Clock::now() + 2 * kSoon;
            while (!stop.stop_requested() && Clock::now() < end && step())
              std::this_thread::sleep_for(pause);
          } catch (const NetworkError&) {
            // The peer has closed the connection.
          }
        }) {}

 private:
  std::jthread thread_;
};

template <class Body>
Thrown soon_failure_of(Body body) {
  const auto begin = Clock::now();
  const Thrown thrown = thrown_by<NetworkError>(body);
  EXPECT_LT(Clock::now() - begin, kSoon);
  return thrown;
}

class Progress : public testing::TestWithParam<Layer> {};

INSTANTIATE_TEST_SUITE_P(Over, Progress, testing::Values(Layer::Tcp, Layer::Tls),
                         [](const auto& layer) {
                           return layer.param == Layer::Tcp ? "Tcp" : "Tls";
                         });

// Sends single bytes of application data.
auto trickle_of(ByteStream& stream) {
  return [&stream] { return stream.write(payload_of(1)), true; };
}

TEST_P(Progress, ReadOfATrickledMessageTimesOut) {
  StreamPair pair(GetParam(), kShortTimeouts);
  const Repeating trickle(trickle_of(*pair.a), 10ms);
  std::vector<std::byte> message(kLargeMessage);
  expect_idle_timeout(soon_failure_of([&] { pair.b->read(message); }));
}

TEST_P(Progress, WriteToAPeerThatOnlySendsTimesOut) {
  StreamPair pair(GetParam(), kShortTimeouts);
  const Repeating trickle(trickle_of(*pair.a), 10ms);
  const std::vector<std::byte> message(kLargeMessage);
  expect_idle_timeout(soon_failure_of([&] { pair.b->write(message); }));
}

TEST_P(Progress, SlowButSteadyMessageArrives) {
  constexpr TcpTimeouts kShort{10s, 1s};
  StreamPair pair(GetParam(), kShort);
  const auto piece = payload_of(IdleTimer::kStepBytes);
  const Repeating steady([&] { return pair.a->write(piece), true; }, 150ms);
  std::vector<std::byte> message(16 * IdleTimer::kStepBytes);
  const auto begin = Clock::now();
  pair.b->read(message);
  EXPECT_GT(Clock::now() - begin, kShort.idle * 2);
}

TEST_P(Progress, DeadlineHoldsWhileDataKeepArriving) {
  StreamPair pair(GetParam());
  const auto a = make_framed_channel(std::move(pair.a)), b = make_framed_channel(std::move(pair.b));
  const auto payload = payload_of(100000);
  b->set_deadline(Clock::now() + 200ms);
  Repeating flood([&] { return a->send(kGreeting, payload), true; });
  const auto begin = Clock::now();
  EXPECT_FALSE(b->await_abort());
  EXPECT_LT(Clock::now() - begin, kSoon);
  // Ends the flood.
  a->set_deadline(Clock::now());
}

TEST_P(Progress, DeadlineHoldsAlthoughDataHaveArrived) {
  StreamPair pair(GetParam());
  pair.a->write(payload_of(1000));
  pair.a->flush();  // the loopback device delivers within the call
  pair.b->set_deadline(Clock::now());
  std::vector<std::byte> received(1);
  expect_contains(message_of<NetworkError>([&] { pair.b->read(received); }), "stopped");
}

// After a check has failed on another thread, this one must send nothing more.
TEST_P(Progress, NothingIsSentAfterTheDeadline) {
  StreamPair pair(GetParam());
  const auto a = make_framed_channel(std::move(pair.a)), b = make_framed_channel(std::move(pair.b));
  a->set_deadline(Clock::now());
  expect_contains(message_of<NetworkError>([&] { a->send(kGreeting, {}); }), "stopped");
  a->set_deadline(Clock::now() + kSoon);
  a->send_abort();
  EXPECT_THROW(b->recv(kGreeting, {}), PeerAborted);
}

// Two TcpStreams with small system buffers between them.
struct SmallPair {
  SmallPair() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    a = stream_of(ends[0]);
    b = stream_of(ends[1]);
  }
  std::unique_ptr<TcpStream> a, b;

 private:
  static std::unique_ptr<TcpStream> stream_of(int end) {
    auto io = std::make_unique<boost::asio::io_context>();
    boost::asio::ip::tcp::socket socket(*io, boost::asio::ip::tcp::v4(), end);
    return std::make_unique<TcpStream>(std::move(io), std::move(socket), 400ms);
  }
};

TEST(TcpProgress, WriteToAPeerThatReadsInTricklesTimesOut) {
  SmallPair pair;
  std::byte byte;
  const Repeating trickle([&] { return pair.a->read({&byte, 1}), true; }, 10ms);
  const std::vector<std::byte> message(kLargeMessage);
  expect_idle_timeout(soon_failure_of([&] { pair.b->write(message); }));
}

// A read may wait for the response to bytes that are still being sent.
TEST(TcpProgress, ReadWaitsWhileEarlierWritesLeave) {
  SmallPair pair;
  const auto request = payload_of(std::size_t{4} << 20);
  std::jthread answering([&] {
    std::vector<std::byte> piece(std::size_t{64} << 10);
    for (std::size_t first = 0; first < request.size(); first += piece.size()) {
      std::this_thread::sleep_for(20ms);  // the pace of the peer
      pair.a->read(piece);
    }
    pair.a->write(payload_of(1));
  });
  pair.b->write(request);
  std::vector<std::byte> answer(1);
  const auto begin = Clock::now();
  pair.b->read(answer);
  EXPECT_GT(Clock::now() - begin, 800ms);
}

TEST(DatalessRecords, LimitsRecordsInARow) {
  DatalessRecords records;
  for (int row = 0; row < 2; ++row) {
    for (std::size_t i = 0; i < DatalessRecords::kMax; ++i) records.begin_record();
    records.begin_record();
    EXPECT_FALSE(records.are_too_many());
    records.add_data((DatalessRecords::kMax + 1) * DatalessRecords::kBytesPerRecord);
  }
  for (std::size_t i = 0; i < DatalessRecords::kMax + 2; ++i) records.begin_record();
  EXPECT_TRUE(records.are_too_many());
}

TEST(DatalessRecords, LimitsRecordsWithLittleData) {
  DatalessRecords records;
  std::size_t count = 0;
  for (; count < 1000 && !records.are_too_many(); ++count) {
    records.begin_record();
    records.begin_record();
    records.add_data(DatalessRecords::kBytesPerRecord / 4);
  }
  // Each round lowers the count by a quarter of a record.
  EXPECT_GE(count, DatalessRecords::kMax);
  EXPECT_LE(count, 2 * DatalessRecords::kMax);
}

TEST(DatalessRecords, DataOfOneRecordInManyReadsCountOnce) {
  DatalessRecords records;
  for (std::size_t i = 0; i < DatalessRecords::kMax; ++i) records.begin_record();
  records.begin_record();
  for (int i = 0; i < 100; ++i) records.add_data(1);
  records.begin_record();
  EXPECT_FALSE(records.are_too_many());
  records.begin_record();
  EXPECT_TRUE(records.are_too_many());
}

class KeyUpdates : public testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Of, KeyUpdates,
                         testing::Values(SSL_KEY_UPDATE_NOT_REQUESTED, SSL_KEY_UPDATE_REQUESTED),
                         [](const auto& type) {
                           const bool is_requested = type.param == SSL_KEY_UPDATE_REQUESTED;
                           return is_requested ? "Requested" : "NotRequested";
                         });

constexpr const char* kTooMany = "too many records without application data";

TEST_P(KeyUpdates, FloodEndsARead) {
  RightClient right;
  const Repeating flood([&] { return right.client.send_key_update(GetParam()); });
  std::vector<std::byte> received(1);
  for (int i = 0; i < 2; ++i)
    expect_contains(soon_failure_of([&] { right.stream->read(received); }).message, kTooMany);
  expect_contains(message_of<NetworkError>([&] { right.stream->write(received); }), kTooMany);
  right.stream.reset();
}

TEST_P(KeyUpdates, FewBeforeDataAreAccepted) {
  for (const std::size_t excess : {0u, 1u}) {
    RightClient right;
    for (std::size_t i = 0; i < DatalessRecords::kMax + excess; ++i)
      ASSERT_TRUE(right.client.send_key_update(GetParam()));
    const auto payload = payload_of(3);
    ASSERT_EQ(SSL_write(right.client.ssl(), payload.data(), 3), 3);
    std::vector<std::byte> received(3);
    if (excess > 0) {
      expect_contains(soon_failure_of([&] { right.stream->read(received); }).message, kTooMany);
    } else {
      right.stream->read(received);
      EXPECT_EQ(received, payload);
      right.stream->write(payload);
      right.read(3);
    }
  }
}

TEST_P(KeyUpdates, DoNotExtendTheIdleTimeout) {
  RightClient right(
      TlsAdmission::kRecordsPerKey, [](SSL_CTX*) {}, kShortTimeouts);
  const Repeating slow([&] { return right.client.send_key_update(GetParam()); }, 50ms);
  std::vector<std::byte> received(1);
  expect_idle_timeout(soon_failure_of([&] { right.stream->read(received); }));
  right.stream.reset();
}

TEST_P(KeyUpdates, FloodDoesNotExtendAWrite) {
  RightClient right(
      TlsAdmission::kRecordsPerKey, [](SSL_CTX*) {}, kShortTimeouts);
  const Repeating flood([&] { return right.client.send_key_update(GetParam()); });
  const std::vector<std::byte> message(kLargeMessage);
  expect_idle_timeout(soon_failure_of([&] { right.stream->write(message); }));
  right.stream.reset();
}

TEST(TlsProgress, FloodOfTicketsEndsARead) {
  RightServer right;
  SSL* const ssl = right.server.ssl();
  const Repeating flood(
      [ssl] { return SSL_new_session_ticket(ssl) == 1 && SSL_do_handshake(ssl) == 1; });
  std::vector<std::byte> received(1);
  expect_contains(soon_failure_of([&] { right.stream->read(received); }).message, kTooMany);
  right.stream.reset();
}

TEST(TlsProgress, ReadOfATrickledRecordTimesOut) {
  RightClient right(
      TlsAdmission::kRecordsPerKey, [](SSL_CTX*) {}, kShortTimeouts);
  BIO* const memory = BIO_new(BIO_s_mem());
  SSL_set0_wbio(right.client.ssl(), memory);
  const auto payload = payload_of(16384);
  ASSERT_EQ(SSL_write(right.client.ssl(), payload.data(), 16384), 16384);
  char* data = nullptr;
  const auto size = BIO_get_mem_data(memory, &data);
  const std::string record(data, static_cast<std::size_t>(size));
  const auto send_next = [&, i = std::size_t{0}]() mutable {
    return right.client.socket().send_all(record.substr(i++, 1));
  };
  const Repeating trickle(send_next, 5ms);
  std::vector<std::byte> received(1);
  expect_idle_timeout(soon_failure_of([&] { right.stream->read(received); }));
  right.stream.reset();
}

}  // namespace
}  // namespace tinyot
