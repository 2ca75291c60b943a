// Peers that are absent, silent or speak another protocol: the party ends with exit status 3,
// reports the cause, and leaves no store.
#include <functional>

#include "tests/support/command_test.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kSoon = std::chrono::seconds(15);

const Arguments kSmall = Arguments{"--ands", "2^10"} + kFewColumns;

// A frame header in wire format: length, tag, number, all little-endian; tag 1 is the hello.
std::string frame_header(std::uint64_t length, std::uint32_t tag, std::uint32_t number) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(length >> (8 * i));
  for (const std::uint32_t word : {tag, number})
    for (int i = 0; i < 4; ++i) bytes += static_cast<char>(word >> (8 * i));
  return bytes;
}

std::string noise(std::size_t size) {
  std::string bytes;
  std::uint64_t state = 0x2545f4914f6cdd1d;
  for (std::size_t i = 0; i < size; ++i) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    bytes += static_cast<char>(state);
  }
  return bytes;
}

class PeerTest : public CommandTest {
 protected:
  // Expects this error of a party whose peer sends these bytes and then waits.
  void expect_refused_by_connector(const std::string& bytes, const std::string& message) {
    Listener listener;
    listener_ = 'B', peer_port_ = listener.port();
    Process party(TINYOT_BINARY, as('A', "preprocess", kSmall + Arguments{"--idle-timeout", "1"}),
                  {}, kSoon);
    const Socket peer = listener.accept(std::chrono::seconds(10));
    ASSERT_TRUE(peer.valid());
    EXPECT_TRUE(peer.send_all(bytes));
    EXPECT_TRUE(ended_with(party.end(), 3, message));
    EXPECT_FALSE(std::filesystem::exists(path("A")));
  }

  // Expects a listening party to reject a peer that sends these bytes and waits, and to continue to
  // listen.
  void expect_rejected_by_listener(const std::string& bytes, const std::string& message) {
    listener_ = 'A', port_ = reserved_port();
    Process party(TINYOT_BINARY,
                  as('A', "preprocess", kSmall + Arguments{"--connect-timeout", "1"}), {}, kSoon);
    const Socket peer = connect_to(port_);
    ASSERT_TRUE(peer.valid());
    EXPECT_TRUE(peer.send_all(bytes));
    const Ended ended = party.end();
    EXPECT_TRUE(ended_with(ended, 3, "no peer connected to 127.0.0.1:" + port_));
    EXPECT_EQ(ended.err.find("tinyot: rejected a connection from 127.0.0.1:") != std::string::npos,
              !message.empty())
        << ended.err;
    EXPECT_NE(ended.err.find(message), std::string::npos) << ended.err;
    EXPECT_FALSE(std::filesystem::exists(path("A")));
  }

  void expect_refused(const std::string& bytes, const std::string& message) {
    expect_refused_by_connector(bytes, message);
    expect_rejected_by_listener(bytes, "does not speak the tinyot protocol");
  }
};

TEST_F(PeerTest, Absent) {
  for (const char listener : {'A', 'B'}) {
    listener_ = listener;
    const auto start = Clock::now();
    const Ended ended =
        tinyot(as('A', "preprocess", kSmall + Arguments{"--connect-timeout", "1"}), {}, kSoon);
    EXPECT_TRUE(
        ended_with(ended, 3,
                   std::string(listener == 'A' ? "no peer connected to" : "no connection to") +
                       " 127.0.0.1:" + port_ + " within the connect timeout of 1 s"));
    EXPECT_TRUE(ended_with(ended, 3, "; --connect-timeout sets how long to wait\n"));
    EXPECT_GE(Clock::now() - start, std::chrono::milliseconds(800));
    EXPECT_LT(Clock::now() - start, std::chrono::seconds(5));
    EXPECT_FALSE(std::filesystem::exists(path("A")));
  }
}

TEST_F(PeerTest, PortInUse) {
  const Listener other;
  port_ = other.port();
  EXPECT_TRUE(ended_with(tinyot(as('A', "preprocess", kSmall), {}, kSoon), 3,
                         "cannot listen on 127.0.0.1:" + port_));
}

TEST_F(PeerTest, UnknownHost) {
  const Ended ended = tinyot(
      {"preprocess", "--party", "A", "--connect", "no-such-host.invalid:7766",
       "--insecure-plaintext", "--store", path("A"), "--ands", "2^10", "--connect-timeout", "1"},
      {}, kSoon);
  EXPECT_TRUE(ended_with(ended, 3, "no-such-host.invalid"));
}

TEST_F(PeerTest, Silent) {
  expect_refused_by_connector("", "no progress for 1 s");
  expect_rejected_by_listener("", "");
}

TEST_F(PeerTest, SilentInTheMiddleOfItsFirstMessage) {
  expect_refused_by_connector(frame_header(100, 1, 0) + "TinyOT", "no progress for 1 s");
  expect_rejected_by_listener(frame_header(100, 1, 0) + "TinyOT", "");
}

// Over plain TCP, a connection that begins correctly counts as the peer.
TEST_F(PeerTest, SilentAfterTheBeginningOfItsFirstMessage) {
  Process party(TINYOT_BINARY, as('A', "preprocess", kSmall + Arguments{"--idle-timeout", "1"}), {},
                kSoon);
  const Socket peer = connect_to(port_);
  EXPECT_TRUE(peer.send_all(frame_header(100, 1, 0) + "TinyOT wire\n"));
  const Ended ended = party.end();
  EXPECT_TRUE(ended_with(ended, 3, "no progress for 1 s"));
  EXPECT_TRUE(ended_with(ended, 3, "; --idle-timeout sets how long to wait\n"));
  EXPECT_FALSE(std::filesystem::exists(path("A")));
}

TEST_F(PeerTest, RandomBytes) { expect_refused(noise(4096), "does not speak the tinyot protocol"); }

TEST_F(PeerTest, LengthOf2To60) {
  expect_refused(frame_header(std::uint64_t{1} << 60, 1, 0), "does not speak the tinyot protocol");
}

TEST_F(PeerTest, HttpRequest) {
  expect_refused("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "does not speak the tinyot protocol");
}

TEST_F(PeerTest, WellFramedMessageThatIsNotHello) {
  expect_refused(frame_header(64, 1, 0) + noise(64), "does not speak the tinyot protocol");
}

TEST_F(PeerTest, DisconnectsImmediately) {
  Process party(TINYOT_BINARY, as('A', "preprocess", kSmall + Arguments{"--connect-timeout", "1"}),
                {}, kSoon);
  connect_to(port_).close();
  EXPECT_TRUE(ended_with(party.end(), 3, "closed the connection"));
  EXPECT_FALSE(std::filesystem::exists(path("A")));
}

TEST_F(PeerTest, RejectedByRunAsByPreprocess) {
  preprocess("2^10");
  const Arguments run = {
      "--circuit", circuit_file("adder64.txt"), "--input", "0=1", "--idle-timeout",
      "1",         "--connect-timeout",         "1"};
  EXPECT_TRUE(ended_with(tinyot(as('A', "run", run), {}, kSoon), 3, "no peer connected"));
  for (const std::string& bytes :
       {std::string(), noise(4096), frame_header(std::uint64_t{1} << 60, 1, 0)}) {
    Process party(TINYOT_BINARY, as('A', "run", run), {}, kSoon);
    const Socket peer = connect_to(port_);
    EXPECT_TRUE(peer.send_all(bytes));
    EXPECT_TRUE(ended_with(party.end(), 3));
  }
  EXPECT_EQ(store_info('A')["kinds"]["auth_ands_a"]["spent"], 0);
}

}  // namespace
}  // namespace tinyot::test
