// Signatures by a party's TLS key.
#include "net/tls/signature.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <string>

#include "net/tls/openssl.h"

namespace tinyot::test {
namespace {

using net::Identity;
using net::Signature;

std::span<const std::byte> bytes_in(const std::string& text) {
  return std::as_bytes(std::span(text));
}

TEST(Signature, IsOfItsSignerDomainAndMessage) {
  const Identity mine = Identity::generate(), other = Identity::generate();
  const std::string message = "a request";
  const Signature signature = net::sign(mine, "domain", bytes_in(message));
  const auto is_right = [&](const Signature& of, const Identity& by, const char* domain,
                            const std::string& text) {
    return net::is_signed_by(by.fingerprint(), of, domain, bytes_in(text));
  };
  EXPECT_TRUE(is_right(signature, mine, "domain", message));
  EXPECT_FALSE(is_right(signature, other, "domain", message));
  EXPECT_FALSE(is_right(signature, mine, "domai", "n" + message));
  EXPECT_FALSE(is_right(signature, mine, "domain", message + " "));
  EXPECT_FALSE(is_right(signature, mine, "domain", ""));
  // With the signer's key, but another's signature, and the other way round.
  Signature mixed = net::sign(other, "domain", bytes_in(message));
  EXPECT_TRUE(is_right(mixed, other, "domain", message));
  mixed.public_key = signature.public_key;
  EXPECT_FALSE(is_right(mixed, mine, "domain", message));
  EXPECT_FALSE(is_right(mixed, other, "domain", message));
}

TEST(Signature, RefusesEveryChange) {
  const Identity mine = Identity::generate();
  const Signature right = net::sign(mine, "domain", bytes_in("text"));
  const auto is_right = [&](const Signature& signature) {
    return net::is_signed_by(mine.fingerprint(), signature, "domain", bytes_in("text"));
  };
  for (std::vector<std::byte> Signature::*part : {&Signature::public_key, &Signature::bytes})
    for (std::size_t k = 0; k < (right.*part).size(); ++k) {
      Signature wrong = right;
      (wrong.*part)[k] ^= std::byte{1};
      EXPECT_FALSE(is_right(wrong)) << k;
      (wrong.*part).resize(k);
      EXPECT_FALSE(is_right(wrong)) << k;
    }
  Signature longer = right;
  longer.public_key.push_back(std::byte{0});
  EXPECT_FALSE(is_right(longer));
  longer = right;
  longer.bytes.push_back(std::byte{0});
  EXPECT_FALSE(is_right(longer));
}

// The other kind of key that a party may have.
TEST(Signature, IsMadeByKeysOfP256) {
  const net::KeyPtr key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  const net::BioPtr bio(BIO_new(BIO_s_mem()));
  ASSERT_EQ(PEM_write_bio_PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr),
            1);
  char* pem = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &pem);
  const Identity mine = Identity::renew({pem, static_cast<std::size_t>(size)}, "key");
  const Signature signature = net::sign(mine, "domain", bytes_in("text"));
  EXPECT_TRUE(net::is_signed_by(mine.fingerprint(), signature, "domain", bytes_in("text")));
  EXPECT_FALSE(net::is_signed_by(mine.fingerprint(), signature, "domain", bytes_in("texts")));
}

}  // namespace
}  // namespace tinyot::test
