// Certificates of keys: both parties have signed the same, of this key, with their TLS keys, in a
// domain that is that of nothing else they sign.
#include "service/key_certificate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "custody/coded.h"
#include "keys.pb.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

using net::Identity;
using service::BadKeyMessage;
using service::CertifiedKey;
using service::KeyCertificate;
using service::KeyParties;
using service::KeyStatement;
using service::SignedMessage;
using Bytes = std::vector<std::byte>;

class KeyCertificateTest : public ::testing::Test {
 protected:
  KeyCertificateTest() {
    custody::KeyAttributes& attributes = record_.attributes;
    attributes.id.bytes.fill(std::byte{7});
    attributes.label = "payments/card";
    attributes.version = 3;
    attributes.origin = custody::KeyOrigin::Derived;
    attributes.parent = custody::KeyId{};
    attributes.cka_id = "an id";
    record_.check.fill(std::byte{0x5c});
    record_.request.fill(std::byte{9});
  }
  KeyStatement statement() const { return service::statement_of(record_, now_); }
  SignedMessage of_a(const KeyStatement& statement) const {
    return service::signed_statement(statement, parties_, a_);
  }
  SignedMessage of_b(const KeyStatement& statement) const {
    return service::signed_statement(statement, as_b_, b_);
  }
  // Of party A.
  KeyCertificate certificate() const { return {parties_, of_a(statement()), of_b(statement())}; }
  static std::string refusal(const std::function<void()>& call) {
    try {
      call();
    } catch (const BadKeyMessage& bad) {
      return bad.why;
    }
    return "nothing is refused";
  }
  std::string refusal_of(const KeyCertificate& certificate) const {
    return refusal([&] { (void)service::verify_certificate(certificate, parties_); });
  }
  std::string refusal_of_file(const Bytes& file) const {
    return refusal(
        [&] { (void)service::verify_certificate(service::certificate_from(file), parties_); });
  }

  const Identity a_ = Identity::generate(), b_ = Identity::generate(),
                 other_ = Identity::generate();
  const KeyParties parties_{a_.fingerprint(), b_.fingerprint()},
      as_b_{b_.fingerprint(), a_.fingerprint()};
  const std::chrono::system_clock::time_point now_{std::chrono::milliseconds(1'800'000'000'123)};
  custody::KeyRecord record_;
};

TEST_F(KeyCertificateTest, SaysWhatBothPartiesHave) {
  const Bytes file = service::file_of(certificate());
  const CertifiedKey key = service::verify_certificate(service::certificate_from(file), parties_);
  EXPECT_EQ(key.own.attributes, record_.attributes);
  EXPECT_EQ(key.own.making, record_.request);
  EXPECT_EQ(key.own.time, now_);
  EXPECT_TRUE(std::ranges::equal(
      crypto::bytes_of(key.own.fingerprint),
      crypto::bytes_of(custody::fingerprint_of(record_.attributes, record_.check))));
  EXPECT_TRUE(service::is_of_same_key(key.own, key.peers));
  // Whoever's file it is.
  EXPECT_NO_THROW(service::verify_certificate(service::certificate_from(file), as_b_));
  EXPECT_EQ(std::search(file.begin(), file.end(), record_.check.begin(), record_.check.end()),
            file.end())
      << "the check value";
}

TEST_F(KeyCertificateTest, EveryChangeOfTheFileShows) {
  const Bytes right = service::file_of(certificate());
  ASSERT_EQ(refusal_of_file(right), "nothing is refused");
  for (std::size_t k = 0; k < right.size(); ++k) {
    Bytes wrong = right;
    wrong[k] ^= std::byte{1};
    EXPECT_NE(refusal_of_file(wrong), "nothing is refused") << k;
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{8}, std::size_t{12}, right.size() - 1})
    EXPECT_NE(refusal_of_file({right.begin(), right.begin() + static_cast<std::ptrdiff_t>(size)}),
              "nothing is refused")
        << size;
  // A field that this version does not know, and more than a certificate has.
  Bytes longer = right;
  for (const int byte : {0x7a, 1, 0x78}) longer.push_back(static_cast<std::byte>(byte));
  EXPECT_NE(refusal_of_file(longer).find("newer version"), std::string::npos);
  longer.resize(1 << 20);
  EXPECT_NE(refusal_of_file(longer), "nothing is refused");
}

TEST_F(KeyCertificateTest, BothHaveSignedTheSameKey) {
  const std::vector<std::function<void(KeyStatement&)>> changes = {
      [](KeyStatement& said) { said.attributes.id.bytes[0] ^= std::byte{1}; },
      [](KeyStatement& said) { said.attributes.label += "s"; },
      [](KeyStatement& said) { ++said.attributes.version; },
      [](KeyStatement& said) { said.attributes.nonces = custody::NonceMode::Caller; },
      [](KeyStatement& said) { said.attributes.algorithm = custody::KeyAlgorithm::Aes128; },
      [](KeyStatement& said) { said.attributes.parent->bytes[0] = std::byte{1}; },
      [](KeyStatement& said) { said.attributes.cka_id = "another"; },
      [](KeyStatement& said) { said.fingerprint.bytes[31] ^= 1; },
      [](KeyStatement& said) { said.making[0] ^= std::byte{1}; }};
  for (std::size_t k = 0; k < changes.size(); ++k) {
    KeyStatement other = statement();
    changes[k](other);
    KeyCertificate wrong = certificate();
    wrong.peers = of_b(other);
    EXPECT_EQ(refusal_of(wrong), "the parties have signed different things") << k;
  }
  // The times are each party's own.
  KeyStatement later = statement();
  later.time += std::chrono::hours(1);
  KeyCertificate right = certificate();
  right.peers = of_b(later);
  EXPECT_EQ(refusal_of(right), "nothing is refused");
}

TEST_F(KeyCertificateTest, IsOfTheseTwoParties) {
  const auto by = [&](const Identity& signer, const KeyParties& parties) {
    return service::signed_statement(statement(), parties, signer);
  };
  KeyCertificate wrong = certificate();
  // By another one; of a key with another party; by the same party twice.
  wrong.peers = by(other_, as_b_);
  EXPECT_EQ(refusal_of(wrong), "the signature is not that of " + net::text_of(b_.fingerprint()));
  wrong.peers = by(b_, {b_.fingerprint(), other_.fingerprint()});
  EXPECT_NE(refusal_of(wrong).find("is not about a key with " + net::text_of(a_.fingerprint())),
            std::string::npos);
  wrong.peers = wrong.own;
  EXPECT_NE(refusal_of(wrong), "nothing is refused");
  // An auditor who gives the same key twice.
  const KeyCertificate alone{{a_.fingerprint(), a_.fingerprint()},
                             by(a_, {a_.fingerprint(), a_.fingerprint()}),
                             by(a_, {a_.fingerprint(), a_.fingerprint()})};
  EXPECT_NE(refusal([&] { (void)service::verify_certificate(alone, alone.parties); }),
            "nothing is refused");
}

TEST_F(KeyCertificateTest, IsNothingElseThatIsSigned) {
  const SignedMessage right = of_b(statement());
  EXPECT_NO_THROW((void)service::statement_from(right, parties_));
  // The same text as a party signs requests and answers.
  SignedMessage other = right;
  other.signature = net::sign(b_, service::kCustodyDomain, right.message);
  EXPECT_EQ(refusal([&] { (void)service::statement_from(other, parties_); }),
            "the signature is not that of " + net::text_of(b_.fingerprint()));
  // A statement as a request.
  wire::KeyRequest request;
  custody::put_bytes(right.message, *request.mutable_said());
  custody::put_bytes(right.signature.public_key, *request.mutable_public_key());
  custody::put_bytes(right.signature.bytes, *request.mutable_signature());
  EXPECT_EQ(refusal([&] { (void)service::asked_from(request, parties_, Party::A); }),
            "the peer has not signed it");
}

// What is signed is what is read.
TEST_F(KeyCertificateTest, HasNoFieldsThatAreNotKnown) {
  keys::Certified certified;
  const SignedMessage right = of_b(statement());
  ASSERT_TRUE(
      certified.ParseFromArray(right.message.data(), static_cast<int>(right.message.size())));
  const auto refusal_of_text = [&](const std::string& text) {
    const auto bytes = std::as_bytes(std::span(text));
    SignedMessage message;
    message.message.assign(bytes.begin(), bytes.end());
    message.signature = net::sign(b_, service::kCertificateDomain, message.message);
    return refusal([&] { (void)service::statement_from(message, parties_); });
  };
  EXPECT_EQ(refusal_of_text(certified.SerializeAsString()), "nothing is refused");
  EXPECT_NE(refusal_of_text(certified.SerializeAsString() + "\x7a\x01x"), "nothing is refused");
  keys::Certified inner = certified;
  inner.set_attributes(certified.attributes() + "\x7a\x01x");
  EXPECT_NE(refusal_of_text(inner.SerializeAsString()), "nothing is refused");
  inner.set_attributes(certified.attributes() + std::string(2000, 'x'));
  EXPECT_NE(refusal_of_text(inner.SerializeAsString()), "nothing is refused");
  inner.clear_attributes();
  EXPECT_NE(refusal_of_text(inner.SerializeAsString()), "nothing is refused");
}

TEST_F(KeyCertificateTest, PartiesAndSignaturesHaveTheirSizes) {
  keys::Certificate coded;
  const Bytes right = service::file_of(certificate());
  constexpr std::size_t kHeader = 12;
  ASSERT_TRUE(
      coded.ParseFromArray(right.data() + kHeader, static_cast<int>(right.size() - kHeader)));
  const auto refusal_with = [&](const std::function<void(keys::SignedStatement&)>& change) {
    keys::Certificate wrong = coded;
    change(*wrong.mutable_statement(0));
    Bytes file(right.begin(), right.begin() + kHeader);
    const Bytes content = custody::serialised(wrong);
    file.insert(file.end(), content.begin(), content.end());
    return refusal_of_file(file);
  };
  EXPECT_EQ(refusal_with([](keys::SignedStatement&) {}), "nothing is refused");
  const std::string longest(512, 's'), longer(513, 's');
  for (auto* (keys::SignedStatement::*const field)() :
       {&keys::SignedStatement::mutable_public_key, &keys::SignedStatement::mutable_signature}) {
    EXPECT_EQ(refusal_with([&](keys::SignedStatement& of) { *(of.*field)() = longer; }),
              "a signature has another size");
    EXPECT_NE(refusal_with([&](keys::SignedStatement& of) { *(of.*field)() = longest; }),
              "a signature has another size");
  }
  EXPECT_EQ(refusal_with([](keys::SignedStatement& of) {
              keys::Certified certified;
              ASSERT_TRUE(certified.ParseFromString(of.said()));
              certified.mutable_from()->pop_back();
              of.set_said(certified.SerializeAsString());
            }),
            "a statement names no parties");
}

}  // namespace
}  // namespace tinyot::test
