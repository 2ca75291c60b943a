// The check of `tinyot demo`.
#pragma once

#include <string>
#include <vector>

#include "crypto/library_aes.h"

namespace tinyot::tools {

// Fails: CommandError if the ciphertext, in hex, differs from that of AES by Crypto++.
void check_ciphertext(const std::string& ciphertext, const crypto::AesBytes& key,
                      const std::vector<crypto::AesBytes>& message);

}  // namespace tinyot::tools
