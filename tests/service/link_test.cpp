// The link between two daemons, and the port on which their connections find each other.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <future>
#include <set>
#include <thread>

#include "base/error.h"
#include "service/peer_link.h"
#include "tests/support/becomes_true.h"
#include "tests/support/layers.h"
#include "tests/support/ports.h"
#include "tests/support/sockets.h"

namespace tinyot::test {
namespace {

using service::PeerLink;
using service::StreamPort;
namespace wire = service::wire;

struct Ports {
  explicit Ports(std::chrono::seconds idle_timeout = std::chrono::seconds(10))
      : idle(idle_timeout) {}
  engine::PeerOptions endpoint(bool listen) const {
    engine::PeerOptions endpoint;
    endpoint.listen = listen;
    endpoint.address = {"127.0.0.1", port};
    endpoint.timeouts = {std::chrono::seconds(10), idle};
    return endpoint;
  }
  const std::chrono::seconds idle;
  std::string port = reserved_port();
  std::atomic<int> arrivals{0};
  StreamPort a{endpoint(true), [this](std::uint64_t) { ++arrivals; }};
  StreamPort b{endpoint(false), [](std::uint64_t) {}};
};

struct Links {
  explicit Links(Ports& ports, const std::string& b_has = "1") {
    auto opening = std::async(std::launch::async, [&] {
      return std::make_unique<PeerLink>(
          ports.a, Party::A, std::vector<net::Parameter>{{"low", "1"}}, std::stop_token());
    });
    try {
      b = std::make_unique<PeerLink>(ports.b, Party::B, std::vector<net::Parameter>{{"low", b_has}},
                                     std::stop_token());
    } catch (const Error&) {
      opening.wait();
      throw;
    }
    a = opening.get();
  }
  std::unique_ptr<PeerLink> a, b;
};

wire::Message withdrawal(const std::string& job) {
  wire::Message message;
  message.mutable_withdraw()->set_job(job);
  return message;
}

TEST(LinkTest, MessagesGoBothWaysInOrder) {
  Ports ports;
  Links links(ports);
  for (int i = 0; i < 100; ++i) {
    links.a->send(withdrawal("a" + std::to_string(i)));
    links.b->send(withdrawal("b" + std::to_string(i)));
  }
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(links.b->receive().withdraw().job(), "a" + std::to_string(i));
    EXPECT_EQ(links.a->receive().withdraw().job(), "b" + std::to_string(i));
  }
  EXPECT_EQ(links.a->group(), links.b->group());
  // The acceptor reports a stream after it has handed it out.
  EXPECT_TRUE(test::becomes_true([&] { return ports.arrivals == 2; }));
}

TEST(LinkTest, DifferenceIsNamed) {
  Ports ports;
  try {
    Links links(ports, "2");
    FAIL();
  } catch (const Disagreement& error) {
    EXPECT_NE(std::string(error.what()).find("low"), std::string::npos);
  }
}

TEST(LinkTest, EndIsSeenAtBoth) {
  Ports ports;
  Links links(ports);
  links.b->send(withdrawal("last"));
  links.b.reset();
  EXPECT_EQ(links.a->receive().withdraw().job(), "last");
  EXPECT_THROW(links.a->receive(), NetworkError);
}

// As a peer that does not follow the protocol would send them.
TEST(LinkTest, MalformedMessagesEndTheLink) {
  for (const std::string& bytes : {std::string("\xff\xff"), std::string("\xfa\x01\x00", 3)}) {
    Ports ports;
    auto opening = std::async(std::launch::async, [&] {
      return std::make_unique<PeerLink>(ports.a, Party::A, std::vector<net::Parameter>{},
                                        std::stop_token());
    });
    const std::uint64_t group = StreamPort::kLinkBit | 7;
    auto in = net::make_framed_channel(ports.b.open({group, 0}, {}));
    auto out = net::make_framed_channel(ports.b.open({group, 1}, {}));
    net::compare_parameters(*in, {0x4001, "daemon.parameters"}, Party::B, {});
    out->send({0x4002, "daemon.message"}, std::as_bytes(std::span(bytes)));
    out->flush();
    const auto link = opening.get();
    EXPECT_THROW(link->receive(), NetworkError);
  }
}

TEST(LinkTest, TooLongMessageEndsTheLink) {
  Ports ports;
  Links links(ports);
  links.b->send(withdrawal(std::string(1 << 17, 'x')));
  EXPECT_THROW(links.a->receive(), PeerCheated);
}

// What waits to be sent to it takes memory of this party, however long it may be silent.
TEST(LinkTest, PeerThatDoesNotReadLosesTheLink) {
  constexpr std::size_t kBytes = std::size_t{60} << 20;  // more than the sockets take
  Ports ports(std::chrono::seconds(600));
  Links links(ports);
  std::atomic<bool> has_ended = false;
  std::jthread receiving([&] {
    EXPECT_THROW(links.b->receive(), NetworkError);
    has_ended = true;
  });
  const wire::Message message = withdrawal(std::string(60'000, 'x'));
  const std::size_t bytes = message.ByteSizeLong();
  std::size_t sent = 0;
  for (; links.b->has_room() && sent < kBytes; sent += bytes) links.b->send(message);
  EXPECT_LT(sent, kBytes) << "there is always room";
  // The writer may take what waits now: the link ends once the sockets are full as well.
  for (sent = 0; sent < kBytes; sent += bytes) links.b->send(message);
  EXPECT_TRUE(becomes_true([&] { return has_ended.load(); }, std::chrono::seconds(60)));
  links.b->shut_down();
}

TEST(StreamPortTest, StreamsFindTheirCounterparts) {
  Ports ports;
  std::vector<std::unique_ptr<net::ByteStream>> sent;
  for (std::uint32_t number = 0; number < 3; ++number) {
    sent.push_back(ports.b.open({5, number}, {}));
    const auto byte = static_cast<std::byte>(number);
    sent.back()->write(std::span(&byte, 1));
    sent.back()->flush();
  }
  for (const std::uint32_t number : {2u, 0u, 1u}) {
    std::byte byte{};
    const auto stream = ports.a.open({5, number}, {});
    stream->read(std::span(&byte, 1));
    EXPECT_EQ(byte, static_cast<std::byte>(number));
  }
}

// The peer has lost the earlier one.
TEST(StreamPortTest, LaterStreamOfANameReplacesTheEarlierOne) {
  Ports ports;
  const service::StreamName name{StreamPort::kLinkBit | 5, 0};
  std::vector<std::unique_ptr<net::ByteStream>> sent;
  for (const std::byte byte : {std::byte{1}, std::byte{2}}) {
    sent.push_back(ports.b.open(name, {}));
    sent.back()->write(std::span(&byte, 1));
    sent.back()->flush();
  }
  ASSERT_TRUE(becomes_true([&] { return ports.arrivals == 2; }));
  std::byte received{};
  ports.a.open(name, {})->read(std::span(&received, 1));
  EXPECT_EQ(received, std::byte{2});
}

// The peer has lost the earlier ones, and begins anew.
TEST(StreamPortTest, NewestLinkIsAccepted) {
  Ports ports;
  std::vector<std::unique_ptr<net::ByteStream>> sent;
  for (const std::uint64_t group : {3, 1, 2})
    for (const std::uint32_t number : {0u, 1u}) {
      sent.push_back(ports.b.open({StreamPort::kLinkBit | group, number}, {}));
      const auto byte = static_cast<std::byte>(10 * group + number);
      sent.back()->write(std::span(&byte, 1));
      sent.back()->flush();
    }
  ASSERT_TRUE(becomes_true([&] { return ports.arrivals == 6; }));
  const StreamPort::LinkStreams link = ports.a.accept_link({});
  EXPECT_EQ(link.group, StreamPort::kLinkBit | 2);
  for (const std::uint32_t number : {0u, 1u}) {
    std::byte byte{};
    link.streams[number]->read(std::span(&byte, 1));
    EXPECT_EQ(byte, static_cast<std::byte>(20 + number));
  }
  // Nobody will take those of the others.
  std::byte byte{};
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_THROW(sent[i]->read(std::span(&byte, 1)), NetworkError);
}

// A peer does not fill memory or use up descriptors with connections that nobody takes: the oldest
// ones end, so that the latest are still there.
TEST(StreamPortTest, ConnectionsThatNobodyTakesAreLimited) {
  constexpr std::uint32_t kMany = 160;
  Ports ports;
  std::vector<std::unique_ptr<net::ByteStream>> sent;
  for (std::uint32_t number = 0; number < kMany; ++number)
    sent.push_back(ports.b.open({5, number}, {}));
  EXPECT_NO_THROW(ports.a.open({5, kMany - 1}, {}));
  std::byte byte{};
  const std::string error = [&]() -> std::string {
    try {
      sent.front()->read(std::span(&byte, 1));
    } catch (const NetworkError& ended) {
      return ended.what();
    }
    return "something was read";
  }();
  EXPECT_NE(error.find("closed the connection"), std::string::npos) << error;
  EXPECT_NO_THROW(ports.a.open({5, kMany - 100}, {}));
}

// Nor do those that nobody takes stay open for good, if there are few.
TEST(StreamPortTest, ConnectionsThatNobodyTakesInTimeAreClosed) {
  Ports ports;
  StreamPort listening(
      {.listen = true,
       .address = {"127.0.0.1", reserved_port()},
       .timeouts = ports.endpoint(true).timeouts},
      [](std::uint64_t) {}, std::chrono::milliseconds(200));
  engine::PeerOptions options = listening.options();
  options.listen = false;
  StreamPort peers(options, [](std::uint64_t) {});
  const auto old = peers.open({5, 0}, {});
  EXPECT_FALSE(old->has_ended());
  std::vector<std::unique_ptr<net::ByteStream>> later;
  EXPECT_TRUE(becomes_true([&] {
    later.push_back(peers.open({6, static_cast<std::uint32_t>(later.size())}, {}));
    return old->has_ended();
  }));
  EXPECT_LT(later.size(), 100u) << "too many connections end the oldest, too";
}

TEST(StreamPortTest, ConnectionThatBeginsOtherwiseIsClosed) {
  Ports ports;
  const Socket other = connect_to(ports.port);
  // The header of a stream of another version.
  ASSERT_TRUE(other.send_all("tinyotd2" + std::string(16, '\0')));
  pollfd end{other.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&end, 1, 60'000), 1) << "it is still open";
  char byte = 0;
  EXPECT_EQ(::recv(other.get(), &byte, 1, 0), 0);
}

// One connection is admitted after the other, and each has some seconds to say what it is for.
TEST(StreamPortTest, ConnectionThatSaysNothingKeepsNoOtherOut) {
  Ports ports(std::chrono::seconds(60));
  const Socket silent = connect_to(ports.port);
  const auto sent = ports.b.open({5, 0}, {});
  EXPECT_NO_THROW(ports.a.open({5, 0}, {}));
  char byte = 0;
  EXPECT_EQ(::recv(silent.get(), &byte, 1, MSG_DONTWAIT), 0) << "it is still open";
}

// The peer's stream ends at once when nobody will take it.
TEST(StreamPortTest, StreamsOfAGroupThatWasGivenUpAreClosed) {
  Ports ports;
  std::stop_source cancel;
  cancel.request_stop();
  EXPECT_THROW(ports.a.open({6, 0}, cancel.get_token()), Cancelled);
  const auto stream = ports.b.open({6, 0}, {});
  std::byte byte{};
  try {
    stream->read(std::span(&byte, 1));
    ADD_FAILURE() << "something was read";
  } catch (const NetworkError& error) {
    EXPECT_NE(std::string(error.what()).find("closed the connection"), std::string::npos)
        << error.what();
  }
}

// A connection that the peer has begun for an earlier process of this party is not taken for one of
// this process.
TEST(StreamPortTest, GroupsAreThoseOfOneProcess) {
  std::set<std::uint64_t> groups;
  for (int process = 0; process < 4; ++process) {
    Ports ports;
    for (int k = 0; k < 3; ++k) {
      const std::uint64_t group = ports.a.new_group();
      EXPECT_EQ(group & StreamPort::kLinkBit, 0u);
      EXPECT_NE(group, 0u);
      groups.insert(group);
    }
  }
  EXPECT_EQ(groups.size(), 12u);
  EXPECT_GT(*groups.rbegin() - *groups.begin(), 1000u);
}

TEST(StreamPortTest, WaitIsCancelled) {
  Ports ports;
  std::stop_source cancel;
  auto waits = std::async(std::launch::async, [&] {
    return ports.a.open({6, 0}, cancel.get_token());
  });
  cancel.request_stop();
  EXPECT_THROW(waits.get(), Cancelled);
}

}  // namespace
}  // namespace tinyot::test
