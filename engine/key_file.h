// Files of keys and fingerprints.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "net/tls/identity.h"

namespace tinyot::engine {

// A party's private key and certificate. Fails: UsageError if the file cannot be read, is readable
// by other users, or does not contain both.
net::Identity read_identity(const std::string& file);

// Any file with a private key, of at most 64 KiB. Fails: UsageError if it cannot be read, or is
// readable by other users.
SecretVector<char> read_private_file(const std::string& file);

// Makes a file with a secret, mode 0600, durable on return. Fails: UsageError if it exists or
// cannot be written.
void write_private_file(std::string_view content, const std::filesystem::path& file);

// FINGERPRINT, or @FILE that contains a fingerprint or a certificate. Fails: UsageError.
net::Fingerprint peer_key_from(const std::string& text);

// Writes the private key with its certificate to `file` (mode 0600), and the certificate alone, for
// the peer, to `file`.crt. Fails: UsageError if one of the two exists or cannot be written; then
// neither has been changed.
void write_identity(const net::Identity& identity, const std::filesystem::path& file);
// Replaces the certificate in `file`, and in `file`.crt, by a new one of the same private key. Both
// files keep their owners and modes; a reader finds the old content or the new one. Fails:
// UsageError if `file` holds no key or cannot be replaced; its key is never lost.
net::Identity renew_identity(const std::filesystem::path& file);
std::filesystem::path certificate_of(const std::filesystem::path& file);

}  // namespace tinyot::engine
