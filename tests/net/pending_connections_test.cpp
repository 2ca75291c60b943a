// Pending connections: those of others than the peer are rejected with one log line each, and the
// peer that connects in the meantime is admitted.
#include "net/pending_connections.h"

#include <atomic>
#include <cstring>
#include <thread>

#include "net/handshake.h"
#include "tests/net/stream_pair.h"
#include "tests/support/becomes_true.h"
#include "tests/support/layers.h"
#include "tests/support/sockets.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

// A pending connection is not rejected before the connect timeout, which then fails the test.
constexpr TcpTimeouts kPatient{30s, 30s, 600s};
constexpr TcpTimeouts kImpatient{30s, 30s, 500ms};

std::string header_text(const FrameHeader& header) {
  std::string text(sizeof header, '\0');
  std::memcpy(text.data(), &header, sizeof header);
  return text;
}

// The beginning of a ClientHello of `bytes` bytes, with its record header.
std::string tls_hello_of(std::uint32_t bytes) {
  std::string text = {0x16, 0x03, 0x01, 0x02, 0x00, 0x01};
  for (const int shift : {16, 8, 0}) text += static_cast<char>(bytes >> shift);
  return text;
}

class PendingPeer : public testing::TestWithParam<Layer> {
 protected:
  using ConnectOthers = std::function<std::vector<Socket>(const std::string& port)>;

  bool tls() const { return GetParam() == Layer::Tls; }
  const Admission& admission(Side side) const {
    return tls() ? static_cast<const Admission&>(tls_of(side)) : plain_admission();
  }

  // A listens while connect_others() opens connections, which stay open until the end. Once
  // `rejected` of them have been rejected, B connects, and is admitted.
  void expect_peer_admitted(const ConnectOthers& connect_others, std::size_t rejected,
                            const TcpTimeouts& timeouts = kPatient) {
    const Address address = free_address();
    TcpListener listener(address, timeouts, [this](const std::string& line, Remedy) {
      log_.push_back(line);
      ++rejected_;
    });
    auto listening =
        std::async(std::launch::async, [&] { return listener.accept(admission(Side::Listens)); });
    const std::vector<Socket> sockets = connect_others(address.port);
    EXPECT_TRUE(becomes_true([&] { return rejected_ >= rejected; }, 30s));
    const auto b = tcp_connect(address, kPatient, admission(Side::Connects));
    const FrameHeader join{kJoinBytes, kJoin.id, 0};
    std::vector<std::byte> message(sizeof join + kJoinBytes), received(message.size());
    std::memcpy(message.data(), &join, sizeof join);
    b->write(message);
    b->flush();
    const auto a = listening.get();
    a->read(received);
    EXPECT_EQ(received, message);
  }

  void expect_one_line(const std::string& part) const {
    ASSERT_EQ(log_.size(), 1u);
    expect_contains(log_[0], "rejected a connection from 127.0.0.1:");
    expect_contains(log_[0], part);
    EXPECT_EQ(log_[0].find('\n'), std::string::npos);
  }

  // A connection that sends `text` and stays open.
  static std::vector<Socket> send(const std::string& port, const std::string& text) {
    std::vector<Socket> sockets;
    sockets.push_back(connect_to(port));
    EXPECT_TRUE(sockets.back().send_all(text));
    return sockets;
  }

  std::vector<std::string> log_;  // written by the listening thread
  std::atomic<std::size_t> rejected_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Over, PendingPeer, testing::Values(Layer::Tcp, Layer::Tls),
                         [](const auto& layer) {
                           return layer.param == Layer::Tcp ? "Tcp" : "Tls";
                         });

TEST_P(PendingPeer, RejectsGarbage) {
  expect_peer_admitted(
      [](const std::string& port) {
        return send(port, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
      },
      1);
  expect_one_line(GetParam() == Layer::Tcp ? "does not speak the tinyot protocol"
                                           : "does not use TLS");
}

TEST_P(PendingPeer, RejectsClosedConnection) {
  expect_peer_admitted(
      [](const std::string& port) { return connect_to(port), std::vector<Socket>(); }, 1);
  expect_one_line("closed the connection");
}

TEST_P(PendingPeer, SilentConnectionDoesNotDelayThePeer) {
  expect_peer_admitted([](const std::string& port) { return send(port, ""); }, 0);
  EXPECT_TRUE(log_.empty());
}

TEST_P(PendingPeer, RejectsSilentConnectionAfterTimeout) {
  expect_peer_admitted([](const std::string& port) { return send(port, ""); }, 1, kImpatient);
  expect_one_line("did not authenticate within 1 s");
}

// Single bytes do not extend the timeout.
TEST_P(PendingPeer, RejectsTricklingConnectionAfterTimeout) {
  const std::string slow = tls() ? tls_hello_of(400) + std::string(400, 'x')
                                 : header_text({100, kHello.id, 0}) + "TinyOT wire\n";
  expect_peer_admitted(
      [&](const std::string& port) {
        std::vector<Socket> sockets = send(port, "");
        std::size_t sent = 0;
        for (; sent < slow.size() && rejected_ == 0; ++sent) {
          sockets[0].send_all(slow.substr(sent, 1));
          std::this_thread::sleep_for(100ms);  // the pace of the peer
        }
        EXPECT_LT(sent, slow.size()) << "each byte extends the timeout";
        return sockets;
      },
      1, kImpatient);
  expect_one_line("did not authenticate");
}

TEST_P(PendingPeer, ManySilentConnectionsDoNotDelayThePeer) {
  constexpr std::size_t kMany = 100;
  expect_peer_admitted(
      [](const std::string& port) {
        std::vector<Socket> sockets;
        for (std::size_t i = 0; i < kMany; ++i) sockets.push_back(connect_to(port));
        return sockets;
      },
      kMany - net::PendingConnections::kPendingMax);
  ASSERT_FALSE(log_.empty());
  expect_contains(log_[0], "further connections arrived");
}

TEST_P(PendingPeer, AcceptsSeveralPeersInTurn) {
  const Address address = free_address();
  TcpListener listener(address, kPatient);
  for (int round = 0; round < 3; ++round) {
    auto listening =
        std::async(std::launch::async, [&] { return listener.accept(admission(Side::Listens)); });
    const auto b = tcp_connect(address, kPatient, admission(Side::Connects));
    const std::string join = header_text({kJoinBytes, kJoin.id, 0}) + std::string(kJoinBytes, 'x');
    b->write(std::as_bytes(std::span(join)));
    b->flush();
    EXPECT_NE(listening.get(), nullptr);
  }
}

TEST(TlsPendingPeer, RejectsLongHelloByItsHeader) {
  for (const std::uint32_t bytes : {4097u, 131072u, 0xFFFFFFu}) {
    const Address address = free_address();
    auto listening = std::async(std::launch::async, [&] {
      return message_of<NetworkError>([&] {
        TcpListener(address, {300ms, 10s}).accept(tls_of(Side::Listens));
      });
    });
    const Socket peer = connect_to(address.port);
    peer.send_all(tls_hello_of(bytes));
    expect_contains(listening.get(), "ClientHello is malformed");
  }
}

// One byte per record: costly for the receiver, cheap for the sender.
TEST(TlsPendingPeer, RejectsHelloInManyRecords) {
  const auto record = [](const std::string& content) {
    return std::string{0x16, 0x03, 0x01, 0x00, static_cast<char>(content.size())} + content;
  };
  std::string hello = record({0x01, 0x00, 0x01, 0x00});
  for (int i = 0; i < 100; ++i) hello += record("x");
  const Address address = free_address();
  auto listening = std::async(std::launch::async, [&] {
    TcpListener listener(address, {300ms, 10s});
    return message_of<NetworkError>([&] { listener.accept(tls_of(Side::Listens)); });
  });
  const Socket peer = connect_to(address.port);
  peer.send_all(hello);
  expect_contains(listening.get(), "too many records without application data");
}

// A server's first record, byte by byte.
TEST(TcpConnector, TimesOutOnTrickledHandshake) {
  const Listener listener;
  std::jthread trickling([&](const std::stop_token& stop) {
    const Socket peer = listener.accept(10s);
    const std::string head = {0x16, 0x03, 0x03, 0x02, 0x00, 0x02};
    for (const char byte : head + std::string(500, '\0')) {
      if (stop.stop_requested() || !peer.send_all({byte})) return;
      std::this_thread::sleep_for(20ms);  // the pace of the peer, which then closes the connection
    }
  });
  const Address address = {"127.0.0.1", listener.port()};
  const auto connect = [&] { tcp_connect(address, {10s, 10s, 300ms}, tls_of(Side::Connects)); };
  expect_contains(message_of<NetworkError>(connect), "did not authenticate within 1 s");
}

TEST(TcpConnector, TimesOutOnSilentListener) {
  const Listener silent;
  expect_contains(
      message_of<NetworkError>([&] {
        tcp_connect({"127.0.0.1", silent.port()}, {10s, 10s, 300ms}, tls_of(Side::Connects));
      }),
      "127.0.0.1:" + silent.port() + " did not authenticate within 1 s");
}

FirstBytes judge(const std::string& text) {
  return classify_first_bytes(std::as_bytes(std::span(text)));
}

TEST(FirstBytesOfAConnection, AcceptsHelloAndJoinOnly) {
  const std::string magic = "TinyOT wire\n", hello = header_text({790, kHello.id, 0}) + magic,
                    join = header_text({kJoinBytes, kJoin.id, 0});
  EXPECT_EQ(hello.size(), kFirstBytes);
  for (std::size_t size = 0; size < hello.size(); ++size)
    EXPECT_EQ(judge(hello.substr(0, size)), FirstBytes::Incomplete) << size;
  EXPECT_EQ(judge(hello), FirstBytes::Ours);
  for (std::size_t size = 0; size < join.size(); ++size)
    EXPECT_EQ(judge(join.substr(0, size)), FirstBytes::Incomplete) << size;
  EXPECT_EQ(judge(join), FirstBytes::Ours);
  for (const FrameHeader& header : {FrameHeader{790, kHello.id, 1},
                                    {(16 << 10) + 1, kHello.id, 0},
                                    {11, kHello.id, 0},
                                    {790, 2, 0},
                                    {std::uint64_t{1} << 60, kHello.id, 0}})
    EXPECT_EQ(judge(header_text(header) + magic), FirstBytes::Foreign);
  for (const FrameHeader& header : {FrameHeader{31, kJoin.id, 0}, {kJoinBytes, kJoin.id, 1}})
    EXPECT_EQ(judge(header_text(header)), FirstBytes::Foreign);
  EXPECT_EQ(judge(header_text({790, kHello.id, 0}) + "TinyOT wiry\n"), FirstBytes::Foreign);
  EXPECT_EQ(judge(header_text({790, kHello.id, 0}) + "x"), FirstBytes::Foreign);
  EXPECT_EQ(judge(tls_hello_of(400)), FirstBytes::Tls);
}

}  // namespace
}  // namespace tinyot
