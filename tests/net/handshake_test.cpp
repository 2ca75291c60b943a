// The handshake: what must be equal, and the error that reports a difference.
#include "net/handshake.h"

#include <algorithm>

#include "tests/net/raw_peer.h"
#include "tests/support/layers.h"
#include "tests/support/two_parties.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

constexpr std::string_view kMagic = "TinyOT wire\n";
constexpr std::uint32_t kHelloTag = 0x0001;

Hello hello_of(Party party, std::vector<Parameter> parameters) {
  Hello hello{party, {}, std::move(parameters)};
  hello.nonce.fill(static_cast<std::uint8_t>(party) + 1);
  return hello;
}

const std::vector<Parameter> kParameters = {{"profile", "nnob12"}, {"sigma", "40"}};

// A handshake of A with kParameters and B with `of_b`; `remedy` is that of the expected
// disagreement.
Outcomes handshake_outcomes(const Hello& of_b, Remedy remedy) {
  return run_channels([&](Party party, Channel& channel) {
    try {
      shake_hands(channel, party == Party::A ? hello_of(Party::A, kParameters) : of_b);
    } catch (const Disagreement& error) {
      EXPECT_EQ(error.remedy(), remedy);
      throw std::runtime_error("disagreement: " + std::string(error.what()));
    }
  });
}

TEST(Handshake, BothReceiveBothHellos) {
  Handshake of[2];
  const Outcomes outcomes = run_channels([&](Party party, Channel& channel) {
    of[static_cast<int>(party)] = shake_hands(channel, hello_of(party, kParameters));
  });
  EXPECT_EQ(outcomes.a.kind, Outcome::Kind::Done) << outcomes.a.message;
  EXPECT_EQ(outcomes.b.kind, Outcome::Kind::Done) << outcomes.b.message;
  EXPECT_EQ(of[0].hello_a, of[1].hello_a);
  EXPECT_EQ(of[0].hello_b, of[1].hello_b);
  EXPECT_NE(of[0].hello_a, of[0].hello_b);
}

void expect_disagreement(const Hello& of_b, const std::vector<std::string>& parts_at_a,
                         const std::vector<std::string>& parts_at_b, Remedy remedy = Remedy::None) {
  const Outcomes outcomes = handshake_outcomes(of_b, remedy);
  for (const auto& [message, parts] :
       {std::pair{outcomes.a.message, parts_at_a}, {outcomes.b.message, parts_at_b}}) {
    expect_contains(message, "disagreement: ");
    for (const std::string& part : parts) expect_contains(message, part);
  }
}

TEST(Handshake, ReportsDifferentParameterWithBothValues) {
  expect_disagreement(hello_of(Party::B, {{"profile", "nnob12"}, {"sigma", "64"}}),
                      {"sigma", "this party has 40", "the peer has 64"},
                      {"sigma", "this party has 64", "the peer has 40"});
  expect_disagreement(hello_of(Party::B, {{"profile", ""}, {"sigma", "40"}}),
                      {"profile", "this party has nnob12", "the peer has nothing"},
                      {"profile", "this party has nothing", "the peer has nnob12"});
}

TEST(Handshake, TellsWhoHasTheOlderVersion) {
  const auto message_with = [](const std::string& peers) {
    const Outcomes outcomes = run_channels([&](Party party, Channel& channel) {
      shake_hands(channel, hello_of(party, {{.name = "version of this",
                                             .value = party == Party::A ? "9" : peers,
                                             .is_version = true}}));
    });
    return outcomes.a.message;
  };
  expect_contains(message_with("8"),
                  "the parties disagree on the version of this: this party has 9, the peer has 8; "
                  "the peer has the older one: run the same release on both sides");
  expect_contains(message_with("10"), "; this party has the older one");
}

TEST(Handshake, ReportsDifferentParameterNames) {
  expect_disagreement(hello_of(Party::B, {{"profile", "nnob12"}, {"unit", "40"}}),
                      {"sigma", "unit"}, {"sigma", "unit"});
}

TEST(Handshake, RejectsDifferentNumberOfParameters) {
  expect_disagreement(hello_of(Party::B, {{"profile", "nnob12"}}), {"number of parameters"},
                      {"number of parameters"});
  expect_disagreement(hello_of(Party::B, {}), {"number of parameters"}, {"number of parameters"});
}

TEST(Handshake, RejectsTwoOfTheSameParty) {
  const std::vector<std::string> parts = {"both are A", "one of them must be B"};
  expect_disagreement(hello_of(Party::A, kParameters), parts, parts, Remedy::ChangeParty);
}

std::string protobuf_hello(std::uint8_t version, std::uint8_t party, std::size_t nonce_bytes,
                           std::size_t parameters) {
  std::string hello{'\x08', static_cast<char>(version),    '\x10', static_cast<char>(party),
                    '\x1a', static_cast<char>(nonce_bytes)};
  hello += std::string(nonce_bytes, 'n');
  for (std::size_t i = 0; i < parameters; ++i) hello += std::string{'\x22', 0};
  return std::string(kMagic) + hello;
}

// The message of A's exception on a hand-written Hello.
template <class Exception>
std::string reaction_to(const std::string& hello, std::uint32_t tag = kHelloTag) {
  ChannelAndRawPeer peers;
  std::vector<std::byte> bytes(hello.size());
  std::ranges::transform(hello, bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
  peers.write_frame({bytes.size(), tag, 0}, bytes);
  return message_of<Exception>([&] { shake_hands(*peers.channel, hello_of(Party::A, {})); });
}

TEST(Handshake, AcceptsHandWrittenHello) {
  ChannelAndRawPeer peers;
  const std::string hello = protobuf_hello(kWireVersion, 1, 32, 0);
  std::vector<std::byte> bytes(hello.size());
  std::ranges::transform(hello, bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
  peers.write_frame({bytes.size(), kHelloTag, 0}, bytes);
  EXPECT_EQ(shake_hands(*peers.channel, hello_of(Party::A, {})).hello_b, bytes);
}

TEST(Handshake, ReportsDifferentVersionWithBothValues) {
  const std::string message = reaction_to<Disagreement>(protobuf_hello(kWireVersion + 6, 1, 32, 0));
  expect_contains(message, "wire version");
  expect_contains(message, "this party has " + std::to_string(kWireVersion));
  expect_contains(message, "the peer has " + std::to_string(kWireVersion + 6));
  expect_contains(message, "this party has the older one: run the same release on both sides");
  expect_contains(reaction_to<Disagreement>(protobuf_hello(kWireVersion - 1, 1, 32, 0)),
                  "; the peer has the older one");
}

TEST(Handshake, RejectsMalformedHello) {
  for (const std::string& hello :
       {protobuf_hello(kWireVersion, 2, 32, 0), protobuf_hello(kWireVersion, 1, 31, 0),
        protobuf_hello(kWireVersion, 1, 33, 0), protobuf_hello(kWireVersion, 1, 32, 65),
        std::string(kMagic) + "\x1a\x7f", std::string(kMagic) + "\xff\xff\xff"})
    expect_contains(reaction_to<PeerCheated>(hello), "handshake");
}

TEST(Handshake, AnotherProtocolIsNetworkError) {
  for (const std::string& hello :
       {std::string("SSH-2.0-OpenSSH_9.2"), std::string(), std::string("TinyOT wir"),
        std::string("HTTP/1.1 400 Bad Request\r\n")})
    expect_contains(reaction_to<NetworkError>(hello), "does not speak");
  expect_contains(reaction_to<NetworkError>(protobuf_hello(kWireVersion, 1, 32, 0), kHelloTag + 1),
                  "does not speak");
}

TEST(Handshake, RejectsOversizedHelloBeforeReadingIt) {
  expect_contains(reaction_to<NetworkError>(std::string((16 << 10) + 1, 'x')), "does not speak");
  ChannelAndRawPeer peers;
  peers.write_frame({std::uint64_t{1} << 60, kHelloTag, 0});
  expect_contains(
      message_of<NetworkError>([&] { shake_hands(*peers.channel, hello_of(Party::A, {})); }),
      "does not speak");
}

TEST(Handshake, GarbageIsNetworkError) {
  ChannelAndRawPeer peers;
  peers.raw->write(payload_of(64));
  message_of<NetworkError>([&] { shake_hands(*peers.channel, hello_of(Party::A, {})); });
}

TEST(Handshake, ReplacesControlCharactersOfThePeer) {
  const std::string hello =
      protobuf_hello(kWireVersion, 1, 32, 0) + std::string("\x22\x0a\x0a\x01p\x12\x05\x1b[31m", 12);
  ChannelAndRawPeer peers;
  std::vector<std::byte> bytes(hello.size());
  std::ranges::transform(hello, bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
  peers.write_frame({bytes.size(), kHelloTag, 0}, bytes);
  const std::string message = message_of<Disagreement>([&] {
    shake_hands(*peers.channel, hello_of(Party::A, {{"p", "value"}}));
  });
  EXPECT_EQ(message.find('\x1b'), std::string::npos)
      << "the message contains an escape sequence from the peer";
}

// An open parameter takes the peer's value; two open ones stay open.
TEST(Handshake, AgreesOnOpenParameters) {
  std::array<std::vector<Parameter>, 2> agreed;
  run_channels([&](Party party, Channel& channel) {
    const bool is_a = party == Party::A;
    agreed[is_a ? 0 : 1] =
        shake_hands(channel, hello_of(party, {{"x", is_a ? "1" : "any", {}, !is_a},
                                              {"y", is_a ? "any" : "2", {}, is_a},
                                              {"z", is_a ? "a" : "b", {}, true}}))
            .agreed;
  });
  for (const std::vector<Parameter>& each : agreed) {
    ASSERT_EQ(each.size(), 3u);
    EXPECT_EQ(each[0].value, "1");
    EXPECT_EQ(each[1].value, "2");
    EXPECT_FALSE(each[0].is_open || each[1].is_open);
    EXPECT_TRUE(each[2].is_open);
  }
}

constexpr MessageTag kLater{0x7301, "test.later"};

TEST(CompareParameters, FindsDifferencesLaterInASession) {
  for (const std::string value : {"40", "64"}) {
    run_channels([&](Party party, Channel& channel) {
      std::vector<Parameter> parameters = kParameters;
      if (party == Party::B) parameters[1].value = value;
      const auto compare = [&] { compare_parameters(channel, kLater, party, parameters); };
      if (value == "40")
        EXPECT_NO_THROW(compare());
      else
        EXPECT_THROW(compare(), Disagreement);
    });
  }
}

// What a user's names make too long is no internal error, and nothing is sent.
TEST(CompareParameters, RefusesWhatDoesNotFitIntoAMessage) {
  const auto given = [](std::size_t count, std::size_t bytes) {
    return std::vector<Parameter>(count, {"n", std::string(bytes, 'v')});
  };
  EXPECT_NO_THROW(require_sendable(given(60, 200)));
  EXPECT_NO_THROW(require_sendable(given(1, 15'900)));
  EXPECT_THROW(require_sendable(given(61, 0)), UsageError);
  EXPECT_THROW(require_sendable(given(1, 16'000)), UsageError);
  EXPECT_THROW(require_sendable(given(60, 265)), UsageError);
  run_channels([&](Party party, Channel& channel) {
    for (const auto& most : {given(60, 200), given(1, 15'900)}) {
      compare_parameters(channel, kLater, party, most);
      EXPECT_THROW(compare_parameters(channel, kLater, party, given(61, 0)), UsageError);
      EXPECT_THROW(compare_parameters(channel, kLater, party, given(1, 16'000)), UsageError);
    }
  });
}

TEST(CompareParameters, RejectsMessagesThatAreNone) {
  const std::string magic(kMagic);
  for (const std::string& message :
       {std::string(), std::string("TinyOT"), std::string(100, 'x'), magic + "\xff\xff\xff"}) {
    run_channels([&](Party party, Channel& channel) {
      if (party == Party::B) return channel.send(kLater, std::as_bytes(std::span(message)));
      EXPECT_THROW(compare_parameters(channel, kLater, party, kParameters), PeerCheated)
          << message.size();
    });
  }
}

}  // namespace
}  // namespace tinyot
