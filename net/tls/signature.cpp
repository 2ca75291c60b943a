#include "net/tls/signature.h"

#include <openssl/err.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "net/tls/certificate.h"

namespace tinyot::net {
namespace {

using DigestContext = std::unique_ptr<EVP_MD_CTX, OpensslDeleter<EVP_MD_CTX_free>>;

const unsigned char* data_of(std::span<const std::byte> bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

std::vector<std::byte> signed_text(std::string_view domain, std::span<const std::byte> message) {
  ENSURE(domain.size() <= 255);
  const auto of_domain = std::as_bytes(std::span(domain));
  std::vector<std::byte> text(1 + domain.size() + message.size());
  text[0] = static_cast<std::byte>(domain.size());
  std::ranges::copy(message, std::ranges::copy(of_domain, text.begin() + 1).out);
  return text;
}

const EVP_MD* hash_of(const EVP_PKEY& key) {
  return EVP_PKEY_is_a(&key, "ED25519") ? nullptr : EVP_sha256();
}

KeyPtr public_key_from(std::span<const std::byte> der) {
  const unsigned char* at = data_of(der);
  KeyPtr key(d2i_PUBKEY(nullptr, &at, static_cast<long>(der.size())));
  if (key && at != data_of(der) + der.size()) key.reset();
  return key;
}

}  // namespace

Signature sign(const Identity& identity, std::string_view domain,
               std::span<const std::byte> message) {
  EVP_PKEY* const key = identity.parts().key.get();
  Signature signature;
  unsigned char* der = nullptr;
  const int der_bytes = i2d_PUBKEY(key, &der);
  openssl_ensure(der_bytes > 0, "encode a public key");
  const auto* const first = reinterpret_cast<const std::byte*>(der);
  signature.public_key.assign(first, first + der_bytes);
  OPENSSL_free(der);
  const std::vector<std::byte> text = signed_text(domain, message);
  const DigestContext context(EVP_MD_CTX_new());
  std::size_t size = 0;
  openssl_ensure(context &&
                     EVP_DigestSignInit(context.get(), nullptr, hash_of(*key), nullptr, key) == 1 &&
                     EVP_DigestSign(context.get(), nullptr, &size, data_of(text), text.size()) == 1,
                 "sign");
  signature.bytes.resize(size);
  openssl_ensure(
      EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.bytes.data()), &size,
                     data_of(text), text.size()) == 1,
      "sign");
  signature.bytes.resize(size);
  return signature;
}

bool is_signed_by(const Fingerprint& signer, const Signature& signature, std::string_view domain,
                  std::span<const std::byte> message) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(data_of(signature.public_key), signature.public_key.size(), digest.data());
  if (!std::ranges::equal(digest, signer.bytes)) return false;
  const KeyPtr key = public_key_from(signature.public_key);
  const std::vector<std::byte> text = signed_text(domain, message);
  const DigestContext context(EVP_MD_CTX_new());
  const bool is_right =
      key && context &&
      EVP_DigestVerifyInit(context.get(), nullptr, hash_of(*key), nullptr, key.get()) == 1 &&
      EVP_DigestVerify(context.get(), data_of(signature.bytes), signature.bytes.size(),
                       data_of(text), text.size()) == 1;
  ERR_clear_error();
  return is_right;
}

}  // namespace tinyot::net
