#include "service/key_certificate.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "custody/coded.h"
#include "keys.pb.h"
#include "service/message_field.h"

namespace tinyot::service {
namespace {

using custody::put_bytes;
using custody::take_bytes;
using Time = std::chrono::system_clock::time_point;

constexpr std::string_view kCertificateMagic = "TINYOTKC";
constexpr std::byte kCertificateVersion{1};
constexpr std::size_t kHeaderBytes = 12;  // with the version, in 4 bytes
constexpr std::size_t kStatementBytesMax = 1 << 10, kSignatureBytesMax = 512;

template <class Message>
bool parse_known(std::span<const std::byte> bytes, Message& message) {
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return false;
  // Written by this version: who reads the fields has read all that is signed.
  Message known = message;
  known.DiscardUnknownFields();
  return known.ByteSizeLong() == message.ByteSizeLong();
}

std::array<std::byte, kHeaderBytes> file_header() {
  std::array<std::byte, kHeaderBytes> bytes{};
  std::memcpy(bytes.data(), kCertificateMagic.data(), kCertificateMagic.size());
  bytes[kCertificateMagic.size()] = kCertificateVersion;
  return bytes;
}

// Its text alone: the signature has been checked, or will be.
keys::Certified certified_in(const SignedMessage& message) {
  keys::Certified certified;
  if (message.message.size() > kStatementBytesMax || !parse_known(message.message, certified))
    throw BadKeyMessage{"a statement is malformed, or of a newer version"};
  return certified;
}

net::Fingerprint party_from(const std::string& field) {
  net::Fingerprint party;
  if (!take_bytes(field, std::as_writable_bytes(std::span(party.bytes))))
    throw BadKeyMessage{"a statement names no parties"};
  return party;
}

SignedMessage message_from(const keys::SignedStatement& statement) {
  if (statement.public_key().size() > kSignatureBytesMax ||
      statement.signature().size() > kSignatureBytesMax)
    throw BadKeyMessage{"a signature has another size"};
  return {bytes_of_field(statement.said()),
          {bytes_of_field(statement.public_key()), bytes_of_field(statement.signature())}};
}

// Of one party to the other.
KeyStatement statement_between(const SignedMessage& message, const net::Fingerprint& from,
                               const net::Fingerprint& to) {
  const auto require_that = [&](bool is_right, const std::string& otherwise) {
    if (!is_right) throw BadKeyMessage{otherwise};
  };
  require_that(net::is_signed_by(from, message.signature, kCertificateDomain, message.message),
               "the signature is not that of " + net::text_of(from));
  const keys::Certified certified = certified_in(message);
  require_that(
      party_from(certified.from()) == from && party_from(certified.to()) == to,
      "the statement of " + net::text_of(from) + " is not about a key with " + net::text_of(to));
  KeyStatement statement;
  custody::coded::Attributes attributes;
  require_that(
      parse_known(bytes_of_field(certified.attributes()), attributes) &&
          custody::take_attributes(attributes, statement.attributes) &&
          take_bytes(certified.fingerprint(), crypto::writable_bytes_of(statement.fingerprint)) &&
          take_bytes(certified.making(), statement.making),
      "the statement of " + net::text_of(from) + " is not about a key");
  statement.time = Time(std::chrono::milliseconds(
      std::clamp<std::int64_t>(certified.signed_unix_ms(), 0, std::int64_t{1} << 42)));
  return statement;
}

}  // namespace

KeyStatement statement_of(const custody::KeyRecord& record, Time now) {
  return {record.attributes, custody::fingerprint_of(record.attributes, record.check),
          record.request, now};
}

bool is_of_same_key(const KeyStatement& one, const KeyStatement& other) {
  return one.attributes == other.attributes && one.making == other.making &&
         std::ranges::equal(crypto::bytes_of(one.fingerprint), crypto::bytes_of(other.fingerprint));
}

SignedMessage signed_statement(const KeyStatement& statement, const KeyParties& parties,
                               const net::Identity& identity) {
  custody::coded::Attributes attributes;
  custody::put_attributes(statement.attributes, attributes);
  keys::Certified certified;
  put_bytes(std::as_bytes(std::span(parties.own.bytes)), *certified.mutable_from());
  put_bytes(std::as_bytes(std::span(parties.peer.bytes)), *certified.mutable_to());
  certified.set_attributes(attributes.SerializeAsString());
  put_bytes(crypto::bytes_of(statement.fingerprint), *certified.mutable_fingerprint());
  put_bytes(statement.making, *certified.mutable_making());
  certified.set_signed_unix_ms(
      std::chrono::duration_cast<std::chrono::milliseconds>(statement.time.time_since_epoch())
          .count());
  SignedMessage message;
  message.message = custody::serialised(certified);
  message.signature = net::sign(identity, kCertificateDomain, message.message);
  return message;
}

KeyStatement statement_from(const SignedMessage& message, const KeyParties& parties) {
  return statement_between(message, parties.peer, parties.own);
}

std::vector<std::byte> file_of(const KeyCertificate& certificate) {
  keys::Certificate coded;
  for (const SignedMessage* const message : {&certificate.own, &certificate.peers}) {
    keys::SignedStatement& statement = *coded.add_statement();
    put_bytes(message->message, *statement.mutable_said());
    put_bytes(message->signature.public_key, *statement.mutable_public_key());
    put_bytes(message->signature.bytes, *statement.mutable_signature());
  }
  const auto head = file_header();
  std::vector<std::byte> file(head.begin(), head.end());
  const std::vector<std::byte> bytes = custody::serialised(coded);
  file.insert(file.end(), bytes.begin(), bytes.end());
  return file;
}

KeyCertificate certificate_from(std::span<const std::byte> file) {
  const auto head = file_header();
  if (file.size() < head.size() ||
      !std::ranges::equal(file.first(kCertificateMagic.size()),
                          std::span(head).first(kCertificateMagic.size())))
    throw BadKeyMessage{"it is not the certificate of a key"};
  keys::Certificate coded;
  if (file.size() > kCertificateBytesMax || !std::ranges::equal(file.first(head.size()), head) ||
      !parse_known(file.subspan(head.size()), coded) || coded.statement_size() != 2)
    throw BadKeyMessage{"it is damaged, or was made by a newer version"};
  KeyCertificate certificate;
  certificate.own = message_from(coded.statement(0));
  certificate.peers = message_from(coded.statement(1));
  const keys::Certified own = certified_in(certificate.own);
  certificate.parties = {party_from(own.from()), party_from(own.to())};
  return certificate;
}

CertifiedKey verify_certificate(const KeyCertificate& certificate, const KeyParties& parties) {
  if (parties.own == parties.peer)
    throw BadKeyMessage{"two parties have two keys, and these are the same"};
  // The party that made the file has its statement first.
  const bool is_of_own = certificate.parties.own == parties.own;
  const SignedMessage& own = is_of_own ? certificate.own : certificate.peers;
  const SignedMessage& peers = is_of_own ? certificate.peers : certificate.own;
  CertifiedKey key{statement_between(own, parties.own, parties.peer),
                   statement_between(peers, parties.peer, parties.own)};
  if (!is_of_same_key(key.own, key.peers))
    throw BadKeyMessage{"the parties have signed different things"};
  return key;
}

}  // namespace tinyot::service
