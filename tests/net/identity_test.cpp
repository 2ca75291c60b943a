// Parsing and writing of keys and certificates.
#include "net/tls/identity.h"

#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>

#include "tests/net/raw_peer.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

using namespace tinyot::test;

std::string private_pem(const Identity& identity) {
  const auto pem = identity.private_pem();
  return {pem.begin(), pem.end()};
}

std::string refusal_of(const std::string& pem) {
  const Thrown thrown = thrown_by<UsageError>([&] { Identity::parse(pem, "key.pem"); });
  expect_thrown(thrown, "key.pem ", Remedy::MakeKey);
  return thrown.message;
}

TEST(Fingerprint, RoundTripsAsText) {
  Fingerprint fingerprint;
  for (std::size_t i = 0; i < 32; ++i) fingerprint.bytes[i] = static_cast<std::uint8_t>(i * 9);
  const std::string text = text_of(fingerprint);
  EXPECT_EQ(text, "sha256:0009121b242d363f48515a636c757e879099a2abb4bdc6cfd8e1eaf3fc050e17");
  EXPECT_EQ(parse_fingerprint(text), fingerprint);
  std::string upper = text.substr(7);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](char c) { return static_cast<char>(std::toupper(c)); });
  EXPECT_EQ(parse_fingerprint(upper), fingerprint);
  for (const std::string& wrong :
       {std::string(), std::string("sha256:"), text + "0", text.substr(0, 70),
        text.substr(0, 70) + "g", "md5:" + text.substr(7), " " + text})
    EXPECT_EQ(parse_fingerprint(wrong), std::nullopt) << wrong;
}

TEST(Fingerprint, ComparesEveryBit) {
  const Fingerprint fingerprint = Identity::generate().fingerprint();
  for (std::size_t bit = 0; bit < 256; ++bit) {
    Fingerprint other = fingerprint;
    other.bytes[bit / 8] ^= static_cast<std::uint8_t>(1 << (bit % 8));
    EXPECT_FALSE(fingerprint == other) << bit;
    EXPECT_NE(text_of(fingerprint), text_of(other)) << bit;
  }
}

TEST(Identity, GeneratesDifferentKeys) {
  EXPECT_NE(Identity::generate().fingerprint(), Identity::generate().fingerprint());
}

TEST(Identity, RoundTripsAsPem) {
  const Identity identity = Identity::generate();
  const Identity parsed = Identity::parse(private_pem(identity), "key.pem");
  EXPECT_EQ(parsed.fingerprint(), identity.fingerprint());
  EXPECT_EQ(private_pem(parsed), private_pem(identity));
  EXPECT_EQ(certificate_fingerprint(identity.certificate_pem()), identity.fingerprint());
  EXPECT_EQ(certificate_fingerprint(private_pem(identity)), identity.fingerprint());
  EXPECT_EQ(identity.certificate_pem().find("PRIVATE"), std::string::npos);
}

// The expected value is from `openssl x509 -pubkey -noout | openssl pkey -pubin -outform der |
// sha256sum`, for a certificate made by openssl.
TEST(Identity, FingerprintIsOfThePublicKey) {
  const std::string pem =
      "-----BEGIN CERTIFICATE-----\n"
      "MIIBbTCCAROgAwIBAgIUaTfEVgKhO8/iNIVyxumAjP2Th2YwCgYIKoZIzj0EAwIw\n"
      "DDEKMAgGA1UEAwwBeDAeFw0yNjExMjExNDEwNDVaFw0zNjExMTgxNDEwNDVaMAwx\n"
      "CjAIBgNVBAMMAXgwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASW1KyFpzYDrK+X\n"
      "dJ0pHjDFMItfyRPPIGG37gV4vIRnBnyHymuCRPfdn5xTv2TxcNm9nTwLFSfLiU1l\n"
      "HF8DQ1B1o1MwUTAdBgNVHQ4EFgQUt7CyOyipUtQZDH1N3aH4fQ3/70AwHwYDVR0j\n"
      "BBgwFoAUt7CyOyipUtQZDH1N3aH4fQ3/70AwDwYDVR0TAQH/BAUwAwEB/zAKBggq\n"
      "hkjOPQQDAgNIADBFAiAIzt/1BuXMWhcnVZ54iJpszc73u0CVbOm6EOF6sf+hAwIh\n"
      "AN7s6cZnuxitN3dRt1zLh2aqhff3v19MQCP34WqTwo/y\n"
      "-----END CERTIFICATE-----\n";
  EXPECT_EQ(certificate_fingerprint(pem),
            parse_fingerprint("7655b85e040b9f48a7a709a5d069fa1de08839edb05ad9c5c5fbc885368a81af"));
  EXPECT_EQ(certificate_fingerprint("nothing"), std::nullopt);
}

TEST(Identity, IsValidForTenYears) {
  const auto years_later = [](int years) {
    return Identity::generate(
        Identity::Clock::now() - std::chrono::minutes(1) - std::chrono::days(365 * years),
        Identity::kTenYears);
  };
  EXPECT_TRUE(years_later(0).is_valid_now());
  EXPECT_TRUE(years_later(9).is_valid_now());
  EXPECT_FALSE(years_later(11).is_valid_now());
  EXPECT_FALSE(years_later(-1).is_valid_now());
}

TEST(Identity, RejectsMalformedIdentity) {
  const Identity identity = Identity::generate(), other = Identity::generate();
  const std::string pem = private_pem(identity), certificate = identity.certificate_pem(),
                    key = pem.substr(0, pem.find("-----BEGIN CERT"));
  EXPECT_EQ(Identity::parse(certificate + key, "key.pem").fingerprint(), identity.fingerprint());
  expect_contains(refusal_of(""), "no private key");
  expect_contains(refusal_of(certificate), "no private key");
  expect_contains(refusal_of(key), "no certificate");
  expect_contains(refusal_of(key + other.certificate_pem()), "does not belong to its private key");
  EXPECT_EQ(refusal_of(key + other.certificate_pem()).find(key.substr(30, 20)), std::string::npos);
}

TEST(Identity, ExpiredOneIsRenewedWithItsKey) {
  const Identity expired =
      Identity::generate(Identity::Clock::now() - std::chrono::days(9), std::chrono::days(8));
  const std::string pem = private_pem(expired);
  const Thrown thrown = thrown_by<UsageError>([&] { Identity::parse(pem, "key.pem"); });
  expect_thrown(thrown, "has expired", Remedy::RenewCertificate);
  const Identity renewed = Identity::renew(pem, "key.pem");
  EXPECT_TRUE(renewed.is_valid_now());
  EXPECT_EQ(renewed.fingerprint(), expired.fingerprint());
  EXPECT_EQ(Identity::parse(private_pem(renewed), "key.pem").fingerprint(), expired.fingerprint());
  const Thrown nothing =
      thrown_by<UsageError>([&] { Identity::renew(expired.certificate_pem(), "key.pem"); });
  expect_thrown(nothing, "no private key", Remedy::MakeKey);
}

// Keys of other types, and encrypted ones, for which the program must not prompt for a passphrase.
TEST(Identity, RejectsUnsupportedKeys) {
  const auto pem_of = [](EVP_PKEY* key, const EVP_CIPHER* cipher) {
    BIO* bio = BIO_new(BIO_s_mem());
    char passphrase[] = "secret";
    PEM_write_bio_PrivateKey(bio, key, cipher, reinterpret_cast<unsigned char*>(passphrase), 6,
                             nullptr, nullptr);
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio, &data);
    const std::string pem(data, static_cast<std::size_t>(size));
    BIO_free(bio);
    EVP_PKEY_free(key);
    return pem;
  };
  expect_contains(
      refusal_of(pem_of(EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", std::size_t{2048}), nullptr)),
      "neither Ed25519 nor P-256");
  expect_contains(refusal_of(pem_of(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-384"), nullptr)),
                  "neither Ed25519 nor P-256");
  const std::string p256 = pem_of(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"), nullptr);
  expect_contains(refusal_of(p256), "no certificate");
  EXPECT_TRUE(Identity::renew(p256, "key.pem").is_valid_now());
  expect_contains(
      refusal_of(pem_of(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), EVP_aes_256_cbc())),
      "passphrase");
}

}  // namespace
}  // namespace tinyot
