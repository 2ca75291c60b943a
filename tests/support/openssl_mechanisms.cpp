#include "tests/support/openssl_mechanisms.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <memory>

#include "base/error.h"

namespace tinyot::test {
namespace {

unsigned char* data_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }
const unsigned char* data_of(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

using Cipher = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

std::string mac_by(const char* mac_name, const char* parameter, const char* algorithm,
                   const std::string& key, const std::string& message) {
  const std::unique_ptr<EVP_MAC, decltype(&EVP_MAC_free)> mac(
      EVP_MAC_fetch(nullptr, mac_name, nullptr), EVP_MAC_free);
  const std::unique_ptr<EVP_MAC_CTX, decltype(&EVP_MAC_CTX_free)> context(
      EVP_MAC_CTX_new(mac.get()), EVP_MAC_CTX_free);
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(parameter, const_cast<char*>(algorithm), 0),
      OSSL_PARAM_construct_end()};
  std::string tag(32, '\0');
  std::size_t bytes = 0;
  ENSURE(EVP_MAC_init(context.get(), data_of(key), key.size(), parameters) &&
         EVP_MAC_update(context.get(), data_of(message), message.size()) &&
         EVP_MAC_final(context.get(), data_of(tag), &bytes, tag.size()));
  tag.resize(bytes);
  return tag;
}

}  // namespace

std::string openssl_sha256(const std::string& text) {
  std::string digest(32, '\0');
  ENSURE(EVP_Digest(text.data(), text.size(), data_of(digest), nullptr, EVP_sha256(), nullptr));
  return digest;
}

std::string openssl_cmac(const std::string& key, const std::string& message) {
  return mac_by("CMAC", OSSL_MAC_PARAM_CIPHER, key.size() == 16 ? "AES-128-CBC" : "AES-256-CBC",
                key, message);
}
std::string openssl_hmac(const std::string& key, const std::string& message) {
  return mac_by("HMAC", OSSL_MAC_PARAM_DIGEST, "SHA256", key, message);
}

std::string openssl_block(const std::string& key, const std::string& block) {
  const Cipher cipher(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  std::string result(32, '\0');
  int bytes = 0;
  ENSURE(EVP_EncryptInit_ex(cipher.get(), key.size() == 16 ? EVP_aes_128_ecb() : EVP_aes_256_ecb(),
                            nullptr, data_of(key), nullptr) &&
         EVP_EncryptUpdate(cipher.get(), data_of(result), &bytes, data_of(block), 16));
  result.resize(16);
  return result;
}

std::string openssl_seal(const std::string& key, const std::string& nonce, const std::string& aad,
                         const std::string& message) {
  const Cipher cipher(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  std::string sealed(message.size() + 16, '\0');
  int bytes = 0;
  ENSURE(EVP_EncryptInit_ex(cipher.get(), key.size() == 16 ? EVP_aes_128_gcm() : EVP_aes_256_gcm(),
                            nullptr, data_of(key), data_of(nonce)));
  if (!aad.empty())
    ENSURE(EVP_EncryptUpdate(cipher.get(), nullptr, &bytes, data_of(aad),
                             static_cast<int>(aad.size())));
  if (!message.empty())
    ENSURE(EVP_EncryptUpdate(cipher.get(), data_of(sealed), &bytes, data_of(message),
                             static_cast<int>(message.size())));
  ENSURE(EVP_EncryptFinal_ex(cipher.get(), data_of(sealed) + message.size(), &bytes) &&
         EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, 16,
                             data_of(sealed) + message.size()));
  return sealed;
}

std::string openssl_kdf(const std::string& key, const std::string& label,
                        const std::string& context, std::size_t bytes) {
  const std::unique_ptr<EVP_KDF, decltype(&EVP_KDF_free)> kdf(
      EVP_KDF_fetch(nullptr, "KBKDF", nullptr), EVP_KDF_free);
  const std::unique_ptr<EVP_KDF_CTX, decltype(&EVP_KDF_CTX_free)> state(EVP_KDF_CTX_new(kdf.get()),
                                                                        EVP_KDF_CTX_free);
  const auto text = [](const char* name, const char* value) {
    return OSSL_PARAM_construct_utf8_string(name, const_cast<char*>(value), 0);
  };
  const auto octets = [](const char* name, const std::string& value) {
    return OSSL_PARAM_construct_octet_string(name, const_cast<char*>(value.data()), value.size());
  };
  const OSSL_PARAM parameters[] = {
      text(OSSL_KDF_PARAM_MODE, "counter"),
      text(OSSL_KDF_PARAM_MAC, "CMAC"),
      text(OSSL_KDF_PARAM_CIPHER, key.size() == 16 ? "AES-128-CBC" : "AES-256-CBC"),
      octets(OSSL_KDF_PARAM_KEY, key),
      octets(OSSL_KDF_PARAM_SALT, label),
      octets(OSSL_KDF_PARAM_INFO, context),
      OSSL_PARAM_construct_end()};
  std::string derived(bytes, '\0');
  ENSURE(EVP_KDF_derive(state.get(), data_of(derived), bytes, parameters) == 1);
  return derived;
}

}  // namespace tinyot::test
