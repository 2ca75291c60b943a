#include "crypto/library_aes.h"

#include <cryptopp/aes.h>

namespace tinyot::crypto {

std::vector<AesBytes> aes128_by_library_vartime(const AesBytes& key,
                                                const std::vector<AesBytes>& blocks) {
  const CryptoPP::AES::Encryption aes(key.data(), key.size());
  std::vector<AesBytes> encrypted(blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i)
    aes.ProcessBlock(blocks[i].data(), encrypted[i].data());
  return encrypted;
}

}  // namespace tinyot::crypto
