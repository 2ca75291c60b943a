// Files of `tinyot key`: payloads, what encrypt makes of them, and private keys of backups.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/secret.h"
#include "crypto/sealed_box.h"
#include "service/keys_client.h"

namespace tinyot::tools {

// "-" stands for stdin and stdout in all functions.

// What is encrypted, signed or verified, up to the most that any policy allows. Fails: UsageError.
SecretVector<std::byte> read_payload(const std::string& path);
// The key itself. Fails: UsageError for a file that other users can read, and one that is longer
// than any key.
SecretVector<std::byte> read_key_bytes(const std::string& path);
// The bytes of a public value: those of @FILE, or the text itself. Fails: UsageError.
std::string read_public(const std::string& text);
// The same for digits in hexadecimal in place of text.
std::vector<std::byte> read_hex_or_file(const std::string& option, const std::string& text);
// Exactly `bytes` of them. Fails: UsageError naming the option.
void parse_hex_option(const std::string& option, const std::string& text,
                      std::span<std::byte> bytes);

// What encrypt writes and decrypt reads: "TOT1", 16 bytes id of the key, 12 bytes nonce, the
// ciphertext, 16 bytes tag.
std::vector<std::byte> encrypted_file_of(const service::EncryptedText& text);
// `name` stands for the file in errors. Fails: UsageError.
service::EncryptedText encrypted_text_from(std::span<const std::byte> file,
                                           const std::string& name);
service::EncryptedText read_encrypted_file(const std::string& path);

// A file is replaced as a whole, mode 0600. Fails: UsageError if there is something else than a
// file; Error if it cannot be written.
void write_output(const std::string& path, std::span<const std::byte> bytes);

// A private key for backups, as a line of 64 hex digits. Fails: UsageError; a file that exists is
// not replaced.
void write_backup_key(const crypto::BoxPrivateKey& key, const std::string& path);
crypto::BoxPrivateKey read_backup_key(const std::string& path);

}  // namespace tinyot::tools
