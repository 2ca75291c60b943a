#include "crypto/aead.h"

#include <cryptopp/aes.h>
#include <cryptopp/gcm.h>
#include <cryptopp/hkdf.h>
#include <cryptopp/hmac.h>
#include <cryptopp/misc.h>
#include <cryptopp/sha.h>

#include <algorithm>
#include <cstring>

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

}  // namespace

SealTag seal(const SealKey& key, const SealNonce& nonce, std::span<const std::byte> context,
             std::span<const std::byte> plain, std::span<std::byte> sealed) {
  ENSURE(plain.size() == sealed.size());
  note_nonce(key, nonce);
  CryptoPP::GCM<CryptoPP::AES>::Encryption cipher;
  cipher.SetKeyWithIV(data_of(key.bytes), key.bytes.size(), data_of(nonce), nonce.size());
  SealTag tag;
  cipher.EncryptAndAuthenticate(writable(sealed), writable(tag), tag.size(), data_of(nonce),
                                static_cast<int>(nonce.size()), data_of(context), context.size(),
                                data_of(plain), plain.size());
  return tag;
}

bool open_sealed(const SealKey& key, const SealNonce& nonce, std::span<const std::byte> context,
                 std::span<const std::byte> sealed, const SealTag& tag,
                 std::span<std::byte> plain) {
  ENSURE(plain.size() == sealed.size());
  CryptoPP::GCM<CryptoPP::AES>::Decryption cipher;
  cipher.SetKeyWithIV(data_of(key.bytes), key.bytes.size(), data_of(nonce), nonce.size());
  const bool is_genuine = cipher.DecryptAndVerify(
      writable(plain), data_of(tag), tag.size(), data_of(nonce), static_cast<int>(nonce.size()),
      data_of(context), context.size(), data_of(sealed), sealed.size());
  if (!is_genuine) wipe(plain.data(), plain.size());
  return is_genuine;
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

}  // namespace tinyot::crypto
