// The mechanisms of custody by OpenSSL, as references.
#pragma once

#include <string>

namespace tinyot::test {

std::string openssl_sha256(const std::string& text);
std::string openssl_cmac(const std::string& key, const std::string& message);
std::string openssl_hmac(const std::string& key, const std::string& message);
std::string openssl_block(const std::string& key, const std::string& block);
// GCM: ciphertext and tag.
std::string openssl_seal(const std::string& key, const std::string& nonce, const std::string& aad,
                         const std::string& message);
// NIST SP 800-108, counter mode with CMAC.
std::string openssl_kdf(const std::string& key, const std::string& label,
                        const std::string& context, std::size_t bytes);

}  // namespace tinyot::test
