#include "crypto/aead.h"

#include <cryptopp/hkdf.h>
#include <cryptopp/hmac.h>
#include <cryptopp/misc.h>
#include <cryptopp/sha.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include <climits>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "crypto/use_ledger.h"

namespace tinyot::crypto {
namespace {

const CryptoPP::byte* data_of(std::span<const std::byte> bytes) {
  return reinterpret_cast<const CryptoPP::byte*>(bytes.data());
}
CryptoPP::byte* writable(std::span<std::byte> bytes) {
  return reinterpret_cast<CryptoPP::byte*>(bytes.data());
}

void note_nonce(const SealKey& key, const SealNonce& nonce) {
  std::uint64_t first = 0;
  std::uint32_t rest = 0;
  std::memcpy(&first, nonce.data(), sizeof first);
  std::memcpy(&rest, nonce.data() + sizeof first, sizeof rest);
  note_use({UseKind::Seal, key.bytes, rest, first, 1});
}

std::span<const std::byte> bytes_of_text(std::string_view text) {
  return std::as_bytes(std::span(text));
}

void require(bool done) {
  if (!done) throw Error(ErrorClass::Other, "OpenSSL cannot encrypt with AES-256-GCM");
}

const EVP_CIPHER* aes_256_gcm() {
  static const std::unique_ptr<EVP_CIPHER, decltype(&EVP_CIPHER_free)> cipher(
      EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr), &EVP_CIPHER_free);
  require(cipher != nullptr);
  return cipher.get();
}

const unsigned char* octets(std::span<const std::byte> bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

// One use of a key and a nonce. Key and state are wiped on destruction.
class Cipher {
 public:
  enum class Direction { Open, Seal };

  Cipher(Direction direction, const SealKey& key, const SealNonce& nonce)
      : context_(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free) {
    require(context_ && EVP_CipherInit_ex2(get(), aes_256_gcm(), octets(key.bytes), octets(nonce),
                                           static_cast<int>(direction), nullptr) == 1);
  }

  EVP_CIPHER_CTX* get() { return context_.get(); }

  void authenticate(std::span<const std::byte> bytes) { update(bytes, nullptr); }
  void process(std::span<const std::byte> in, std::span<std::byte> out) {
    update(in, reinterpret_cast<unsigned char*>(out.data()));
  }
  // False if the tag to be checked is wrong.
  bool finish() {
    unsigned char nothing[16];
    int length = 0;
    const bool done = EVP_CipherFinal_ex(get(), nothing, &length) == 1;
    if (!done) ERR_clear_error();  // so that this thread's TLS does not find it
    return done;
  }

 private:
  void update(std::span<const std::byte> in, unsigned char* out) {
    ENSURE(in.size() <= INT_MAX);
    int length = 0;
    require(in.empty() ||
            EVP_CipherUpdate(get(), out, &length, octets(in), static_cast<int>(in.size())) == 1);
  }

  std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> context_;
};

}  // namespace

SealTag seal(const SealKey& key, const SealNonce& nonce, std::span<const std::byte> context,
             std::span<const std::span<const std::byte>> plain, std::span<std::byte> sealed) {
  note_nonce(key, nonce);
  Cipher cipher(Cipher::Direction::Seal, key, nonce);
  cipher.authenticate(context);
  for (const std::span<const std::byte> part : plain) {
    ENSURE(part.size() <= sealed.size());
    cipher.process(part, sealed.first(part.size()));
    sealed = sealed.subspan(part.size());
  }
  ENSURE(sealed.empty());
  SealTag tag;
  require(cipher.finish() &&
          EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_GET_TAG, tag.size(), tag.data()) == 1);
  return tag;
}

SealTag seal(const SealKey& key, const SealNonce& nonce, std::span<const std::byte> context,
             std::span<const std::byte> plain, std::span<std::byte> sealed) {
  return seal(key, nonce, context, std::span(&plain, 1), sealed);
}

bool open_sealed(const SealKey& key, const SealNonce& nonce, std::span<const std::byte> context,
                 std::span<const std::byte> sealed, const SealTag& tag,
                 std::span<const std::span<std::byte>> plain) {
  Cipher cipher(Cipher::Direction::Open, key, nonce);
  cipher.authenticate(context);
  for (const std::span<std::byte> part : plain) {
    ENSURE(part.size() <= sealed.size());
    cipher.process(sealed.first(part.size()), part);
    sealed = sealed.subspan(part.size());
  }
  ENSURE(sealed.empty());
  SealTag expected = tag;
  require(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_SET_TAG, expected.size(),
                              expected.data()) == 1);
  const bool is_genuine = cipher.finish();
  if (!is_genuine)
    for (const std::span<std::byte> part : plain) wipe(part.data(), part.size());
  return is_genuine;
}

bool open_sealed(const SealKey& key, const SealNonce& nonce, std::span<const std::byte> context,
                 std::span<const std::byte> sealed, const SealTag& tag,
                 std::span<std::byte> plain) {
  return open_sealed(key, nonce, context, sealed, tag, std::span(&plain, 1));
}

SealKey derive_key(std::span<const std::byte> secret, std::span<const std::byte> salt,
                   std::string_view purpose) {
  SealKey key;
  CryptoPP::HKDF<CryptoPP::SHA256>().DeriveKey(
      writable(key.bytes), key.bytes.size(), data_of(secret), secret.size(), data_of(salt),
      salt.size(), data_of(bytes_of_text(purpose)), purpose.size());
  return key;
}

SealTag authenticate(const SealKey& key, std::span<const std::byte> message) {
  CryptoPP::HMAC<CryptoPP::SHA256> hmac(data_of(key.bytes), key.bytes.size());
  SealTag tag;
  hmac.Update(data_of(message), message.size());
  hmac.TruncatedFinal(writable(tag), tag.size());
  return tag;
}

bool equal_constant_time(const SealTag& a, const SealTag& b) {
  return CryptoPP::VerifyBufsEqual(data_of(a), data_of(b), a.size());
}

std::string sealing_library() { return ::OpenSSL_version(OPENSSL_VERSION); }

}  // namespace tinyot::crypto
