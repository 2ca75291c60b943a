// TLS after its handshake: records as RFC 8448 has them, none that was altered, moved or left out, and streams that take only what is due.
#include "net/tls_record.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <future>
#include <random>

#include "tests/net/raw_peer.h"
#include "tests/net/record_peer.h"

namespace tinyot {
namespace {

using namespace tinyot::test;
using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::initializer_list<int> values) {
  Bytes bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

Bytes from_hex(const std::string& digits) {
  Bytes bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) bytes.push_back(static_cast<std::byte>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  return bytes;
}

TrafficSecret secret_from_hex(const std::string& digits) {
  const Bytes bytes = from_hex(digits);
  return TrafficSecret(bytes.begin(), bytes.end());
}

Bytes sealed(RecordSealer& sealer, RecordType type, const Bytes& content) {
  SecretVector<std::byte> record;
  sealer.seal(type, content, {}, record);
  return Bytes(record.begin(), record.end());
}

struct Opened {
  RecordType type;
  Bytes content;
};

Opened open(RecordOpener& opener, const Bytes& record) {
  const auto header = std::span(record).first<kRecordHeaderBytes>();
  EXPECT_EQ(RecordOpener::body_bytes(header), record.size() - kRecordHeaderBytes);
  Bytes content(record.size() - kRecordHeaderBytes - kRecordOverheadBytes);
  const auto [type, size] = opener.open(header, std::span(record).subspan(kRecordHeaderBytes), content);
  content.resize(size);
  return {type, content};
}

// Section 3 of the RFC: the client's application data, of 50 bytes, and its goodbye.
TEST(TlsRecord, RecordsAreThoseOfRfc8448) {
  const auto secret = secret_from_hex("9e40646ce79a7f9dc05af8889bce6552875afa0b06df0087f792ebb7c17504a5");
  RecordSealer sealer(secret);
  RecordOpener opener(secret);
  Bytes data(50);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i);
  const Bytes record = sealed(sealer, RecordType::Data, data);
  EXPECT_EQ(record, from_hex("1703030043a23f7054b62c94d0affafe8228ba55cbefacea42f914aa66bcab3f2b9819a8a5b46b395bd54a9a20441e2b62974e1f5a62"
                             "92a2977014bd1e3deae63aeebb21694915e4"));
  EXPECT_EQ(open(opener, record).content, data);
  const Bytes goodbye = sealed(sealer, RecordType::Alert, bytes_of({1, 0}));
  EXPECT_EQ(goodbye, from_hex("1703030013c9872760655666b74d7ff1153efd6db6d0b0e3"));
  EXPECT_EQ(open(opener, goodbye).type, RecordType::Alert);
}

TEST(TlsRecord, WhatComesInTwoPartsIsOneRecord) {
  RecordSealer sealer(traffic_secret(1));
  RecordOpener opener(traffic_secret(1));
  SecretVector<std::byte> out;
  const Bytes first = payload_of(16), rest = payload_of(kRecordContentMax - 16);
  sealer.seal(RecordType::Data, first, rest, out);
  Bytes both = first;
  both.insert(both.end(), rest.begin(), rest.end());
  EXPECT_EQ(open(opener, Bytes(out.begin(), out.end())).content, both);
  EXPECT_THROW(sealer.seal(RecordType::Data, first, payload_of(kRecordContentMax), out), std::exception);
}

TEST(TlsRecord, NoByteOfARecordCanBeAltered) {
  RecordSealer sealer(traffic_secret(1));
  const Bytes record = sealed(sealer, RecordType::Data, payload_of(40));
  // The first byte and the length are judged before.
  for (std::size_t i = 1; i < record.size(); ++i) {
    if (i == 3 || i == 4) continue;
    RecordOpener opener(traffic_secret(1));
    Bytes altered = record;
    altered[i] ^= std::byte{1};
    EXPECT_THROW(open(opener, altered), RecordError) << i;
  }
}

TEST(TlsRecord, NoRecordCanBeMovedRepeatedOrLeftOut) {
  RecordSealer sealer(traffic_secret(1));
  const Bytes first = sealed(sealer, RecordType::Data, payload_of(3)), second = sealed(sealer, RecordType::Data, payload_of(3));
  EXPECT_NE(first, second);
  RecordOpener skips(traffic_secret(1)), repeats(traffic_secret(1)), others(traffic_secret(2));
  EXPECT_THROW(open(skips, second), RecordError);
  open(repeats, first);
  EXPECT_THROW(open(repeats, first), RecordError);
  EXPECT_THROW(open(others, first), RecordError);
}

TEST(TlsRecord, ANewKeyIsNotTheOldOne) {
  RecordSealer sealer(traffic_secret(1));
  RecordOpener opener(traffic_secret(1)), late(traffic_secret(1));
  const Bytes before = sealed(sealer, RecordType::Data, payload_of(3));
  sealer.renew();
  const Bytes after = sealed(sealer, RecordType::Data, payload_of(3));
  EXPECT_NE(before, after);
  open(late, before);
  EXPECT_THROW(open(late, after), RecordError);
  open(opener, before);
  opener.renew();
  EXPECT_EQ(open(opener, after).content, payload_of(3));
}

TEST(TlsRecord, AHeaderIsJudgedByKindAndLength) {
  const auto judge = [](int kind, std::size_t size) {
    const Bytes header = bytes_of({kind, 3, 3, static_cast<int>(size >> 8), static_cast<int>(size & 255)});
    return RecordOpener::body_bytes(std::span(header).first<kRecordHeaderBytes>());
  };
  EXPECT_EQ(judge(23, kRecordOverheadBytes), kRecordOverheadBytes);
  EXPECT_EQ(judge(23, kRecordBodyMax), kRecordBodyMax);
  EXPECT_THROW(judge(23, kRecordOverheadBytes - 1), RecordError);
  EXPECT_THROW(judge(23, kRecordBodyMax + 1), RecordError);
  for (const int kind : {0, 20, 21, 22, 24, 255}) EXPECT_THROW(judge(kind, 100), RecordError);
}

// Whatever the sizes are in which it is written and read, in records and across them.
TEST(TlsStream, BytesComeAsTheyWereSent) {
  std::mt19937_64 rng(7);
  RecordPeer peer;
  const Bytes sent = payload_of(3'000'000);
  auto writing = std::async(std::launch::async, [&, sizes = std::mt19937_64(8)]() mutable {
    for (std::size_t at = 0; at < sent.size();) {
      const std::size_t size = std::min<std::size_t>(sizes() % (sizes() % 4 ? 40000 : 40), sent.size() - at), of_first = size / 3;
      const auto piece = std::span(sent).subspan(at, size);
      peer.stream->write(piece.first(of_first), piece.subspan(of_first));
      at += size;
    }
    peer.stream->flush();
  });
  // What the stream says comes back to it, as it is.
  Bytes received;
  auto back = std::async(std::launch::async, [&] {
    for (std::size_t count = 0; count < sent.size();) {
      const auto [type, content] = peer.get();
      if (type == RecordType::Handshake) {
        peer.opener.renew();
        continue;
      }
      peer.put(type, content);
      count += content.size();
    }
    peer.tcp->flush();
  });
  writing.get();
  while (received.size() < sent.size()) {
    Bytes piece(std::min<std::size_t>(rng() % (rng() % 4 ? 50000 : 50), sent.size() - received.size()));
    peer.stream->read(piece);
    received.insert(received.end(), piece.begin(), piece.end());
  }
  back.get();
  EXPECT_TRUE(received == sent);
}

// What one read makes of a record that is not due, and what the peer is told.
struct Misdeed {
  const char* name;
  RecordType type;
  Bytes content;
  const char* failure;
  int alert;
};

void PrintTo(const Misdeed& misdeed, std::ostream* out) { *out << misdeed.name; }

class TlsStreamMisdeed : public testing::TestWithParam<Misdeed> {};

TEST_P(TlsStreamMisdeed, EndsTheConnection) {
  RecordPeer peer;
  peer.put(RecordType::Data, payload_of(1));
  peer.put(GetParam().type, GetParam().content);
  peer.put(RecordType::Data, payload_of(1));
  Bytes received(1);
  peer.stream->read(received);
  for (int i = 0; i < 2; ++i) expect_contains(message_of<NetworkError>([&] { peer.stream->read(received); }), GetParam().failure);
  expect_contains(message_of<NetworkError>([&] { peer.stream->write(received); }), GetParam().failure);
  if (GetParam().alert == 0) return;
  const auto [type, content] = peer.get();
  EXPECT_EQ(type, RecordType::Alert);
  EXPECT_EQ(content, bytes_of({SSL3_AL_FATAL, GetParam().alert}));
}

INSTANTIATE_TEST_SUITE_P(
    Of, TlsStreamMisdeed,
    testing::Values(Misdeed{"ChangeCipherSpec", RecordType{20}, bytes_of({1}), "unknown kind", SSL_AD_UNEXPECTED_MESSAGE},
                    Misdeed{"PaddingAlone", RecordType{0}, bytes_of({0, 0, 0}), "unknown kind", SSL_AD_UNEXPECTED_MESSAGE},
                    Misdeed{"KeyUpdateOfAnotherKind", RecordType{26}, bytes_of({24, 0, 0, 1, 0}), "unknown kind", SSL_AD_UNEXPECTED_MESSAGE},
                    Misdeed{"Ticket", RecordType::Handshake, bytes_of({4, 0, 0, 1, 0}), "not due", SSL_AD_UNEXPECTED_MESSAGE},
                    Misdeed{"LongKeyUpdate", RecordType::Handshake, bytes_of({24, 0, 0, 1, 0, 0}), "not due", SSL_AD_UNEXPECTED_MESSAGE},
                    Misdeed{"ShortKeyUpdate", RecordType::Handshake, bytes_of({24, 0, 0, 1}), "not due", SSL_AD_UNEXPECTED_MESSAGE},
                    Misdeed{"KeyUpdateOfNoMeaning", RecordType::Handshake, bytes_of({24, 0, 0, 1, 2}), "not due", SSL_AD_UNEXPECTED_MESSAGE},
                    Misdeed{"NoHandshakeMessage", RecordType::Handshake, {}, "not due", SSL_AD_UNEXPECTED_MESSAGE},
                    Misdeed{"ShortAlert", RecordType::Alert, bytes_of({2}), "malformed alert", SSL_AD_DECODE_ERROR},
                    Misdeed{"FatalAlert", RecordType::Alert, bytes_of({2, SSL_AD_BAD_RECORD_MAC}), "refuses the connection (bad record mac)", 0},
                    Misdeed{"Goodbye", RecordType::Alert, bytes_of({1, SSL_AD_CLOSE_NOTIFY}), "the peer closed the connection", 0}),
    [](const auto& misdeed) { return misdeed.param.name; });

TEST(TlsStream, ARecordThatDoesNotOpenIsAnsweredByAnAlert) {
  RecordPeer peer;
  peer.sealer.renew();
  peer.put(RecordType::Data, payload_of(9));
  Bytes received(9);
  expect_contains(message_of<NetworkError>([&] { peer.stream->read(received); }), "altered on its way");
  EXPECT_EQ(peer.get().second, bytes_of({SSL3_AL_FATAL, SSL_AD_BAD_RECORD_MAC}));
}

TEST(TlsStream, EmptyRecordsAreFewInARow) {
  RecordPeer peer;
  Bytes received(1);
  for (int row = 0; row < 2; ++row) {
    for (int i = 0; i < 32; ++i) peer.put(RecordType::Data, {});
    peer.put(RecordType::Data, payload_of(1));
    peer.stream->read(received);
  }
  for (int i = 0; i < 33; ++i) peer.put(RecordType::Data, {});
  peer.put(RecordType::Data, payload_of(1));
  expect_contains(message_of<NetworkError>([&] { peer.stream->read(received); }), "too many empty records");
}

TEST(TlsStream, APeerThatAsksForANewKeyIsGivenOne) {
  RecordPeer peer;
  peer.put(RecordType::Handshake, bytes_of({SSL3_MT_KEY_UPDATE, 0, 0, 1, SSL_KEY_UPDATE_REQUESTED}));
  peer.sealer.renew();
  peer.put(RecordType::Data, payload_of(4));
  Bytes received(4);
  peer.stream->read(received);
  EXPECT_EQ(received, payload_of(4));
  peer.stream->write(received);
  const auto [type, update] = peer.get();
  EXPECT_EQ(type, RecordType::Handshake);
  EXPECT_EQ(update, bytes_of({SSL3_MT_KEY_UPDATE, 0, 0, 1, SSL_KEY_UPDATE_NOT_REQUESTED}));
  peer.opener.renew();
  EXPECT_EQ(peer.get().second, payload_of(4));
  // Once is enough.
  peer.stream->write(received);
  EXPECT_EQ(peer.get().first, RecordType::Data);
}

TEST(TlsStream, ARecordThatIsCutShortIsACut) {
  RecordPeer peer;
  SecretVector<std::byte> record;
  peer.sealer.seal(RecordType::Data, payload_of(100), {}, record);
  peer.tcp->write(std::span(record).first(60));
  peer.end();
  Bytes received(100);
  expect_contains(message_of<NetworkError>([&] { peer.stream->read(received); }), "without a word");
}

// A write that was given up has put its records on their way, or has not; none goes twice.
TEST(TlsStream, AWriteThatIsGivenUpLeavesTheRecordsInTheirOrder) {
  RecordPeer peer;
  const Bytes large(std::size_t{1} << 24);
  peer.stream->set_deadline(std::chrono::steady_clock::now());
  expect_contains(message_of<NetworkError>([&] { peer.stream->write(large); }), "stopped");
  peer.stream->set_deadline(std::chrono::steady_clock::time_point::max());
  auto writing = std::async(std::launch::async, [&] {
    peer.stream->write(payload_of(5));
    peer.stream->flush();
  });
  for (;;) {
    const auto [type, content] = peer.get();
    if (type == RecordType::Handshake) peer.opener.renew();
    if (type == RecordType::Data && content == payload_of(5)) break;
  }
  writing.get();
}

}  // namespace
}  // namespace tinyot
