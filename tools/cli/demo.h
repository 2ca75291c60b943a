// `tinyot demo`: both parties on this machine: preprocess, store, oblivious AES on the FIPS-197
// vector and on 27 blocks.
#pragma once

#include <vector>

#include "crypto/library_aes.h"
#include "tools/cli/command_line.h"
#include "tools/cli/render/report.h"

namespace tinyot::tools {

int demo_command(const Arguments& arguments);

// Fails: Error if the ciphertext in the report of B's run differs from that of AES by Crypto++.
void check_ciphertext(const Json& report, const crypto::AesBytes& key,
                      const std::vector<crypto::AesBytes>& message);

}  // namespace tinyot::tools
