// TCP over loopback: connecting, timeouts, and addresses.
#include "net/tcp.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "tests/net/stream_pair.h"
#include "tests/support/blocked_thread.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

TEST(Tcp, ConnectorWaitsForListener) {
  const Address address = free_address();
  std::unique_ptr<ByteStream> b;
  BlockedThread connecting([&] { b = tcp_connect(address, kLongTimeouts); });
  const auto a = TcpListener(address, kLongTimeouts).accept();
  connecting.join();
  a->write(payload_of(3));
  a->flush();
  std::vector<std::byte> received(3);
  b->read(received);
  EXPECT_EQ(received, payload_of(3));
}

TEST(Tcp, ConnectTimesOutWithoutListener) {
  const Address address = free_address();
  expect_thrown(thrown_by<NetworkError>([&] {
                  tcp_connect(address, {300ms, 1min});
                }),
                "no connection to " + text_of(address) + " within the connect timeout of 1 s: ",
                Remedy::AllowLongerConnect);
}

TEST(Tcp, AcceptTimesOutWithoutPeer) {
  const Address address = free_address();
  expect_thrown(thrown_by<NetworkError>([&] {
                  TcpListener(address, {200ms, 1min}).accept();
                }),
                "no peer connected to " + text_of(address) + " within the connect timeout of 1 s",
                Remedy::AllowLongerConnect);
}

TEST(Tcp, RejectsPortInUse) {
  const Address address = free_address();
  const TcpListener listener(address, kLongTimeouts);
  const std::string message = message_of<NetworkError>([&] { TcpListener(address, {1s, 1s}); });
  expect_contains(message, "cannot listen on " + text_of(address));
  expect_contains(message, "another port");
}

TEST(LoopbackPort, IsForListenersOfThisProcess) {
  const LoopbackPort port, another;
  EXPECT_NE(port.address().port, another.address().port);
  // As another program would be assigned a port: without SO_REUSEADDR.
  boost::asio::io_context io;
  boost::asio::ip::tcp::socket socket(io, boost::asio::ip::tcp::v4());
  boost::system::error_code error;
  const boost::asio::ip::tcp::endpoint endpoint(
      boost::asio::ip::make_address(port.address().host),
      static_cast<std::uint16_t>(std::stoi(port.address().port)));
  EXPECT_EQ(socket.bind(endpoint, error), boost::asio::error::address_in_use);
  auto connecting =
      std::async(std::launch::async, [&] { return tcp_connect(port.address(), kLongTimeouts); });
  EXPECT_NE(TcpListener(port.address(), kLongTimeouts).accept(), nullptr);
  EXPECT_NE(connecting.get(), nullptr);
}

TEST(Tcp, RejectsUnknownHost) {
  expect_contains(message_of<NetworkError>([] {
                    tcp_connect({"no-such-host.invalid", "7766"}, {300ms, 1s});
                  }),
                  "no-such-host.invalid");
}

TEST(Address, ParsesHostAndPort) {
  for (const auto& [text, host, port] : {std::tuple{"127.0.0.1:7766", "127.0.0.1", "7766"},
                                         {"localhost:0", "localhost", "0"},
                                         {"[::1]:65535", "::1", "65535"},
                                         {"a.b:1", "a.b", "1"}}) {
    const Address address = parse_address(text);
    EXPECT_EQ(address.host, host);
    EXPECT_EQ(address.port, port);
    EXPECT_EQ(text_of(address), text);
  }
}

TEST(Address, RejectsMalformedAddressNamingIt) {
  for (const char* text :
       {"", ":", "localhost", "7766", ":7766", "localhost:", "localhost:65536", "localhost:-1",
        "localhost:+1", "localhost:1x", "localhost: 1", "localhost:99999999999999999999"})
    expect_contains(message_of<UsageError>([&] { parse_address(text); }),
                    "'" + std::string(text) + "'");
}

}  // namespace
}  // namespace tinyot
