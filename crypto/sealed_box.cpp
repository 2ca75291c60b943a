#include "crypto/sealed_box.h"

#include <sodium.h>

#include "base/error.h"

namespace tinyot::crypto {
namespace {

unsigned char* data_of(std::span<std::byte> bytes) {
  return reinterpret_cast<unsigned char*>(bytes.data());
}
const unsigned char* data_of(std::span<const std::byte> bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

}  // namespace

BoxPrivateKey random_box_key() {
  ENSURE(sodium_init() >= 0);
  BoxPrivateKey key;
  BoxPublicKey unused;
  ENSURE(crypto_box_keypair(data_of(std::span<std::byte>(unused)),
                            data_of(std::span<std::byte>(key.bytes))) == 0);
  return key;
}

BoxPublicKey public_key_of(const BoxPrivateKey& key) {
  BoxPublicKey result;
  ENSURE(crypto_scalarmult_base(data_of(std::span<std::byte>(result)),
                                data_of(std::span<const std::byte>(key.bytes))) == 0);
  return result;
}

std::vector<std::byte> seal_box(const BoxPublicKey& key, std::span<const std::byte> plain) {
  ENSURE(sodium_init() >= 0);
  std::vector<std::byte> box(plain.size() + crypto_box_SEALBYTES);
  if (crypto_box_seal(data_of(std::span(box)), data_of(plain), plain.size(),
                      data_of(std::span<const std::byte>(key))) != 0)
    throw UsageError("the public key of a recipient is not one of X25519");
  return box;
}

std::optional<SecretVector<std::byte>> open_box(const BoxPrivateKey& key,
                                                std::span<const std::byte> box) {
  if (box.size() < crypto_box_SEALBYTES) return std::nullopt;
  const BoxPublicKey public_key = public_key_of(key);
  SecretVector<std::byte> plain(box.size() - crypto_box_SEALBYTES);
  if (crypto_box_seal_open(data_of(std::span<std::byte>(plain)), data_of(box), box.size(),
                           data_of(std::span<const std::byte>(public_key)),
                           data_of(std::span<const std::byte>(key.bytes))) != 0)
    return std::nullopt;
  return plain;
}

}  // namespace tinyot::crypto
