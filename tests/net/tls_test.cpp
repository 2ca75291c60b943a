// TLS: admission, the channel binding, and the ends of a connection.
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <thread>

#include "net/tls/tls_admission.h"
#include "system/clock.h"
#include "tests/net/raw_tls.h"
#include "tests/support/layers.h"
#include "tests/support/relay.h"

namespace tinyot {
namespace {

using namespace tinyot::test;
using Clock = std::chrono::steady_clock;

const Identity& other_identity() {
  static const Identity kOther = Identity::generate();
  return kOther;
}

// The outcome of a connection on each side: the error's text, or empty; and its remedy.
struct Connected {
  std::string of_listener, of_connector;
  Remedy remedy_of_listener = Remedy::None, remedy_of_connector = Remedy::None;
  std::vector<std::string> log;
  std::vector<Remedy> remedies_in_log;
};

// Connects two parties with these admissions. The connecting side also waits for a first byte,
// since it may complete its handshake before the listener rejects it.
Connected connect_both(const Admission& of_listener, const Admission& of_connector) {
  const Address address = free_address();
  Connected both;
  const auto outcome = [](Remedy& remedy, const auto& body) -> std::string {
    try {
      body();
      return "";
    } catch (const NetworkError& error) {
      remedy = error.remedy();
      return error.what();
    }
  };
  std::thread listening([&] {
    both.of_listener = outcome(both.remedy_of_listener, [&] {
      const auto stream =
          TcpListener(address, {400ms, 10s}, [&](const std::string& line, Remedy remedy) {
            both.log.push_back(line);
            both.remedies_in_log.push_back(remedy);
          }).accept(of_listener);
      stream->write(payload_of(1));
      stream->flush();
      std::vector<std::byte> answer(1);
      stream->read(answer);
    });
  });
  both.of_connector = outcome(both.remedy_of_connector, [&] {
    const auto stream = tcp_connect(address, kLongTimeouts, of_connector);
    std::vector<std::byte> greeting(1);
    stream->read(greeting);
    stream->write(greeting);
    stream->flush();
  });
  listening.join();
  return both;
}

TEST(Tls, ConnectsPartiesThatPinEachOther) {
  const Connected both = connect_both(tls_of(Side::Listens), tls_of(Side::Connects));
  EXPECT_EQ(both.of_listener, "");
  EXPECT_EQ(both.of_connector, "");
  EXPECT_TRUE(both.log.empty());
}

TEST(Tls, ListenerRejectsAnotherKey) {
  const Connected both =
      connect_both(tls_of(Side::Listens),
                   TlsAdmission(other_identity(), identity_of(Side::Listens).fingerprint()));
  ASSERT_EQ(both.log.size(), 1u);
  for (const std::string& text : {both.log[0], both.of_listener}) {
    expect_contains(text, "expected " + text_of(identity_of(Side::Connects).fingerprint()));
    expect_contains(text, "the peer has " + text_of(other_identity().fingerprint()));
    expect_contains(text, other_identity().dates());
  }
  expect_contains(both.of_listener, "no peer connected");
  EXPECT_EQ(both.remedies_in_log[0], Remedy::CheckPinnedKey);
  EXPECT_EQ(both.remedy_of_listener, Remedy::CheckPinnedKey);
  expect_contains(both.of_connector, text_of(other_identity().fingerprint()));
}

TEST(Tls, ConnectorRejectsAnotherKey) {
  const Connected both =
      connect_both(TlsAdmission(other_identity(), identity_of(Side::Connects).fingerprint()),
                   tls_of(Side::Connects));
  expect_contains(both.of_connector,
                  "expected " + text_of(identity_of(Side::Listens).fingerprint()));
  expect_contains(both.of_connector, "the peer has " + text_of(other_identity().fingerprint()));
  expect_contains(both.of_connector, other_identity().dates());
  EXPECT_EQ(both.remedy_of_connector, Remedy::CheckPinnedKey);
  expect_contains(both.of_listener, "no peer connected");
}

TEST(Tls, ComparesEveryByteOfThePin) {
  for (const std::size_t byte : {0u, 8u, 31u}) {
    Fingerprint near_listener = identity_of(Side::Listens).fingerprint(),
                near_connector = identity_of(Side::Connects).fingerprint();
    near_listener.bytes[byte] ^= 1;
    near_connector.bytes[byte] ^= 1;
    const TlsAdmission listener(identity_of(Side::Listens), near_connector),
        connector(identity_of(Side::Connects), near_listener);
    expect_contains(connect_both(listener, tls_of(Side::Connects)).of_listener,
                    "no peer connected");
    expect_contains(connect_both(tls_of(Side::Listens), connector).of_connector,
                    "expected " + text_of(near_listener));
  }
}

// Both sides say which certificate it is, why, and when it is valid, in place of the keys.
TEST(Tls, RejectsCertificateOutsideItsValidity) {
  const auto now = Identity::Clock::now();
  struct Case {
    Identity::Clock::time_point from;
    int days;
    std::string why;
  };
  for (const auto& [from, days, why] : {Case{now - std::chrono::days(30), 29, "has expired"},
                                        Case{now + std::chrono::days(1), 30, "is not valid yet"}}) {
    const Identity late = Identity::generate(from, std::chrono::days(days));
    const Fingerprint key = late.fingerprint();
    const std::string times = why + ": valid from " + system::utc_text(from) + " to " +
                              system::utc_text(from + std::chrono::days(days));
    const Connected listening =
        connect_both(TlsAdmission(late, identity_of(Side::Connects).fingerprint()),
                     TlsAdmission(identity_of(Side::Connects), key));
    expect_contains(listening.of_connector, "the peer's certificate " + times);
    EXPECT_EQ(listening.remedy_of_connector, Remedy::None);
    const Connected connecting =
        connect_both(TlsAdmission(identity_of(Side::Listens), key),
                     TlsAdmission(late, identity_of(Side::Listens).fingerprint()));
    expect_contains(connecting.of_listener, "the peer's certificate " + times);
    for (const std::string& rejected : {listening.of_listener, connecting.of_connector})
      expect_contains(rejected,
                      "the peer rejected the connection: this party's certificate " + times);
    for (const std::string& text : {listening.of_connector, listening.of_listener,
                                    connecting.of_connector, connecting.of_listener})
      EXPECT_EQ(text.find("sha256:"), std::string::npos) << text;
  }
}

TEST(Tls, RejectsPlaintextPeerWithTheReason) {
  const Address address = free_address();
  auto connecting = std::async(std::launch::async, [&] {
    const auto channel = make_framed_channel(tcp_connect(address, kLongTimeouts));
    channel->send(kGreeting, payload_of(40));
    channel->flush();
    std::vector<std::byte> payload(1);
    EXPECT_THROW(channel->recv(kGreeting, payload), NetworkError);
  });
  expect_thrown(thrown_by<NetworkError>([&] {
                  TcpListener(address, {400ms, 1s}).accept(tls_of(Side::Listens));
                }),
                "does not use TLS", Remedy::GiveKeys);
  connecting.get();

  const Connected both = connect_both(plain_admission(), tls_of(Side::Connects));
  expect_contains(both.of_listener, "uses TLS");
  EXPECT_EQ(both.remedies_in_log, std::vector{Remedy::GiveKeys});
  EXPECT_EQ(both.remedy_of_listener, Remedy::GiveKeys);
  expect_contains(both.of_connector, "closed the connection");
}

TEST(Tls, BindingIsEqualAtBothEndsAndNewPerConnection) {
  const StreamPair first(Layer::Tls), second(Layer::Tls), plain(Layer::Tcp);
  EXPECT_EQ(first.a->binding().size(), 96u);
  EXPECT_TRUE(std::ranges::equal(first.a->binding(), first.b->binding()));
  EXPECT_TRUE(std::ranges::equal(second.a->binding(), second.b->binding()));
  EXPECT_FALSE(std::ranges::equal(first.a->binding().first(32), second.a->binding().first(32)));
  EXPECT_TRUE(plain.a->binding().empty());
  // Both keys, the listener's first.
  const auto binding = first.b->binding();
  const auto& of_a = identity_of(Side::Listens).fingerprint().bytes;
  const auto& of_b = identity_of(Side::Connects).fingerprint().bytes;
  EXPECT_TRUE(std::equal(of_a.begin(), of_a.end(),
                         reinterpret_cast<const std::uint8_t*>(binding.data()) + 32));
  EXPECT_TRUE(std::equal(of_b.begin(), of_b.end(),
                         reinterpret_cast<const std::uint8_t*>(binding.data()) + 64));
}

// A client with the right key that deviates in another way.
struct DeviatingClient {
  const char* name;
  RawTls::Configure configure;
  const char* refusal;
};

void PrintTo(const DeviatingClient& client, std::ostream* out) { *out << client.name; }

class TlsDeviatingClient : public testing::TestWithParam<DeviatingClient> {};

TEST_P(TlsDeviatingClient, IsRejected) {
  const Address address = free_address();
  auto listening = std::async(std::launch::async, [&] {
    return message_of<NetworkError>([&] {
      TcpListener(address, {400ms, 1s}).accept(tls_of(Side::Listens));
    });
  });
  RawTls client([](SSL_CTX* context) {
    use(context, identity_of(Side::Connects));
    GetParam().configure(context);
  });
  client.connect(address);
  expect_contains(listening.get(), GetParam().refusal);
}

INSTANTIATE_TEST_SUITE_P(
    By, TlsDeviatingClient,
    testing::Values(
        DeviatingClient{
            "Tls12",
            [](SSL_CTX* context) { SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION); },
            "unsupported protocol"},
        DeviatingClient{
            "Tls10", [](SSL_CTX* context) { SSL_CTX_set_max_proto_version(context, TLS1_VERSION); },
            "unsupported protocol"},
        DeviatingClient{"ChaCha20",
                        [](SSL_CTX* context) {
                          SSL_CTX_set_ciphersuites(context, "TLS_CHACHA20_POLY1305_SHA256");
                        },
                        "no shared cipher"},
        DeviatingClient{"P256",
                        [](SSL_CTX* context) { SSL_CTX_set1_groups_list(context, "P-256"); },
                        "no suitable key share"},
        DeviatingClient{"LongCertificate",
                        [](SSL_CTX* context) {
                          for (int i = 0; i < 40; ++i)
                            SSL_CTX_add1_chain_cert(
                                context, identity_of(Side::Connects).parts().certificate.get());
                        },
                        "excessive message size"}),
    [](const auto& client) { return client.param.name; });

TEST(Tls, RejectsClientWithoutCertificate) {
  const Address address = free_address();
  auto listening = std::async(std::launch::async, [&] {
    return message_of<NetworkError>([&] {
      TcpListener(address, {400ms, 1s}).accept(tls_of(Side::Listens));
    });
  });
  RawTls client([](SSL_CTX*) {});
  EXPECT_TRUE(client.connect(address));
  expect_contains(listening.get(), "did not return a certificate");
}

TEST(Tls, UsesOneSuiteWithoutResumption) {
  RightClient right;
  right.stream->write(payload_of(1));
  right.read(1);
  SSL* ssl = right.client.ssl();
  EXPECT_STREQ(SSL_get_version(ssl), "TLSv1.3");
  EXPECT_STREQ(SSL_get_cipher(ssl), "TLS_AES_128_GCM_SHA256");
  EXPECT_EQ(SSL_SESSION_has_ticket(SSL_get0_session(ssl)), 0);
  EXPECT_EQ(SSL_SESSION_is_resumable(SSL_get0_session(ssl)), 0);
}

// As SSL_get_negotiated_group names a group that has no number of OpenSSL's own.
constexpr int kHybridGroup = 0x1000000 | 0x11EC;

bool has_hybrid_group() {
  const SslContextPtr context(SSL_CTX_new(TLS_method()));
  const bool has_it = SSL_CTX_set1_groups_list(context.get(), "X25519MLKEM768") == 1;
  ERR_clear_error();
  return has_it;
}

// A recording of the connection cannot be decrypted by a later quantum computer.
TEST(Tls, ExchangesKeysWithMlKemWhereBothSidesHaveIt) {
  const int best = has_hybrid_group() ? kHybridGroup : NID_X25519;
  const auto group_with = [](const RawTls::Configure& configure) {
    RightClient right(TlsAdmission::kRecordsPerKey, configure);
    right.stream->write(payload_of(1));
    right.read(1);
    return static_cast<int>(SSL_get_negotiated_group(right.client.ssl()));
  };
  EXPECT_EQ(group_with([](SSL_CTX*) {}), best);
  EXPECT_EQ(group_with([](SSL_CTX* context) { SSL_CTX_set1_groups_list(context, "X25519"); }),
            NID_X25519);
  EXPECT_EQ(group_with([](SSL_CTX* context) {
              SSL_CTX_set1_groups_list(context, "X25519:X25519MLKEM768");
            }),
            best)
      << "the listening party prefers X25519";
}

TEST(Tls, OffersMlKemToAListenerThatHasIt) {
  RightServer right;
  EXPECT_EQ(SSL_get_negotiated_group(right.server.ssl()),
            has_hybrid_group() ? kHybridGroup : NID_X25519);
}

void count_key_updates(int, int, int type, const void* data, std::size_t size, SSL*, void* count) {
  if (type == SSL3_RT_HANDSHAKE && size > 0 &&
      *static_cast<const unsigned char*>(data) == SSL3_MT_KEY_UPDATE)
    ++*static_cast<int*>(count);
}

TEST(Tls, LimitsRecordsPerKey) {
  for (const auto& [records_per_key, updates] :
       {std::pair<std::uint64_t, int>{1, 9}, {3, 3}, {10, 0}}) {
    int count = 0;
    RightClient right(records_per_key, [&](SSL_CTX* context) {
      SSL_CTX_set_msg_callback(context, count_key_updates);
      SSL_CTX_set_msg_callback_arg(context, &count);
    });
    for (int i = 0; i < 10; ++i) right.stream->write(payload_of(5));
    right.read(50);
    EXPECT_EQ(count, updates) << records_per_key;
  }
}

// An OpenSSL client that pads its records and requests key updates.
TEST(Tls, AcceptsPaddingAndKeyUpdates) {
  RightClient right(TlsAdmission::kRecordsPerKey,
                    [](SSL_CTX* context) { SSL_CTX_set_block_padding(context, 512); });
  SSL* ssl = right.client.ssl();
  const auto payload = payload_of(40000);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(SSL_write(ssl, payload.data(), static_cast<int>(payload.size())),
              static_cast<int>(payload.size()));
    ASSERT_EQ(SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED), 1);
    std::vector<std::byte> received(payload.size());
    right.stream->read(received);
    EXPECT_EQ(received, payload);
    right.stream->write(received);
    right.read(received.size());
  }
}

// The connection is cut after the handshake, without close_notify: that must not count as an
// orderly end.
TEST(Tls, ReportsEndWithoutCloseNotify) {
  const Address address = free_address();
  Relay relay(address.port, {});
  auto listening = std::async(std::launch::async, [&] {
    return TcpListener(address, kLongTimeouts).accept(tls_of(Side::Listens));
  });
  const auto b = tcp_connect({"127.0.0.1", relay.port()}, kLongTimeouts, tls_of(Side::Connects));
  const auto a = listening.get();
  b->write(payload_of(3));
  b->flush();
  std::vector<std::byte> received(3);
  a->read(received);
  relay.cut();
  for (ByteStream* stream : {a.get(), b.get()}) {
    const std::string message = message_of<NetworkError>([&] { stream->read(received); });
    expect_contains(message, "closed the connection without close_notify");
    message_of<NetworkError>([&] { stream->read(received); });
  }
}

TEST(Tls, CloseNotifyIsAnOrderlyEnd) {
  StreamPair pair(Layer::Tls);
  pair.a->write(payload_of(3));
  pair.a.reset();
  std::vector<std::byte> received(3);
  pair.b->read(received);
  const std::string message = message_of<NetworkError>([&] { pair.b->read(received); });
  EXPECT_EQ(message, "the peer closed the connection");
}

// Only a peer that has admitted this side sends close_notify: nothing is wrong with the keys.
TEST(Tls, CloseNotifyBeforeDataIsNoRejection) {
  StreamPair pair(Layer::Tls);
  pair.a.reset();
  std::vector<std::byte> received(1);
  const std::string message = message_of<NetworkError>([&] { pair.b->read(received); });
  EXPECT_EQ(message, "the peer closed the connection");
}

TEST(Tls, RejectsAlteredByte) {
  const Address address = free_address();
  for (const std::uint64_t byte : {100u, 2500u, 5000u}) {
    Relay relay(address.port, {.change = inverting(byte, byte + 1)});
    auto listening = std::async(std::launch::async, [&] {
      const auto a = TcpListener(address, {1s, 10s}).accept(tls_of(Side::Listens));
      std::vector<std::byte> received(5000);
      a->read(received);
    });
    EXPECT_THROW(
        {
          const auto b =
              tcp_connect({"127.0.0.1", relay.port()}, kLongTimeouts, tls_of(Side::Connects));
          b->write(payload_of(5000));
          b->flush();
          std::vector<std::byte> received(1);
          b->read(received);
        },
        NetworkError);
    EXPECT_THROW(listening.get(), NetworkError);
  }
}

// An abandoned write may or may not have sent its records; none is sent twice.
TEST(Tls, AbandonedWriteKeepsRecordOrder) {
  StreamPair pair(Layer::Tls);
  constexpr std::size_t kPiece = 1 << 16;
  const std::vector<std::byte> large(std::size_t{32} << 20), last = payload_of(2 * kPiece + 5);
  pair.b->set_deadline(Clock::now());
  expect_contains(message_of<NetworkError>([&] { pair.b->write(large); }), "stopped");
  pair.b->set_deadline(Clock::time_point::max());
  auto writing = std::async(std::launch::async, [&] {
    pair.b->write(last);
    pair.b->flush();
  });
  // The piece in which the last write begins is followed by at least as much of it.
  std::vector<std::byte> received(kPiece);
  const auto is_last = [](std::byte byte) { return byte != std::byte{0}; };
  do pair.a->read(received);
  while (std::ranges::none_of(received, is_last));
  received.erase(received.begin(), std::ranges::find_if(received, is_last));
  const std::size_t begun = received.size();
  received.resize(last.size());
  pair.a->read(std::span(received).subspan(begun));
  EXPECT_EQ(received, last);
  writing.get();
}

TEST(Tls, AbandonedReadLeavesConnectionUsable) {
  StreamPair pair(Layer::Tls);
  std::vector<std::byte> received(3);
  pair.b->set_deadline(Clock::now());
  expect_contains(message_of<NetworkError>([&] { pair.b->read(received); }), "stopped");
  pair.b->write(payload_of(3));
  pair.a->read(received);
  EXPECT_EQ(received, payload_of(3));
}

TEST(Tls, StreamsContinueAcrossKeyUpdates) {
  for (const std::uint64_t records_per_key : {1, 3}) {
    StreamPair pair(TlsAdmission(identity_of(Side::Listens),
                                 identity_of(Side::Connects).fingerprint(), records_per_key),
                    TlsAdmission(identity_of(Side::Connects),
                                 identity_of(Side::Listens).fingerprint(), records_per_key));
    const auto payload = payload_of(100000);
    std::thread thread([&] {
      std::vector<std::byte> received(payload.size());
      pair.b->read(received);
      EXPECT_EQ(received, payload);
      pair.b->write(received);
      pair.b->flush();
    });
    pair.a->write(payload);
    std::vector<std::byte> received(payload.size());
    pair.a->read(received);
    EXPECT_EQ(received, payload);
    thread.join();
  }
}

}  // namespace
}  // namespace tinyot
