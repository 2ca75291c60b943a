#include "tools/cli/key_files.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/hex.h"
#include "base/secret_text.h"
#include "engine/key_file.h"
#include "service/key_policy.h"
#include "system/descriptor.h"
#include "system/errno_text.h"
#include "system/file.h"
#include "system/input_file.h"

namespace tinyot::tools {
namespace {

using service::EncryptedText;
using system::InputFile;

constexpr std::string_view kMagic = "TOT1";
constexpr std::size_t kIdBytes = 16;
constexpr std::size_t kHeaderBytes = kMagic.size() + kIdBytes + sizeof(service::KeyNonce);
constexpr std::size_t kFrameBytes = kHeaderBytes + sizeof(service::KeyTag);
constexpr std::size_t kKeyBytesMax = 32;
constexpr std::size_t kPublicBytesMax = 1 << 20;

InputFile opened(const std::string& path, InputFile::Kind kind = InputFile::Kind::Any) {
  return path == "-" ? InputFile::standard_input() : InputFile(path, kind);
}

// Fails: UsageError with `otherwise` if there are more bytes.
SecretVector<std::byte> read_at_most(InputFile file, std::size_t bytes_max,
                                     const std::string& otherwise) {
  SecretVector<char> text(bytes_max + 1);
  std::size_t size = 0;
  while (size < text.size()) {
    const std::size_t count = file.read(std::span(text).subspan(size));
    if (count == 0) break;
    size += count;
  }
  if (size > bytes_max)
    throw UsageError(file.name() + " has more than " + std::to_string(bytes_max) + " bytes" +
                     otherwise);
  const auto bytes = std::as_bytes(std::span(text).first(size));
  return {bytes.begin(), bytes.end()};
}

constexpr const char* kEncryptDataKey =
    ", the most that a key in two shares is used for at a time: make a key for the data, encrypt "
    "the data with it by another program, and encrypt that key here";

}  // namespace

SecretVector<std::byte> read_payload(const std::string& path) {
  return read_at_most(opened(path), service::kPayloadBytesMax, kEncryptDataKey);
}

SecretVector<std::byte> read_key_bytes(const std::string& path) {
  return read_at_most(opened(path, InputFile::Kind::Private), kKeyBytesMax,
                      ", and no key has; it holds the bytes of the key and nothing else");
}

std::string read_public(const std::string& text) {
  if (!text.starts_with('@')) return text;
  return system::read_text(InputFile(text.substr(1)), kPublicBytesMax);
}

std::vector<std::byte> read_hex_or_file(const std::string& option, const std::string& text) {
  if (text.starts_with('@')) {
    const std::string content = read_public(text);
    const auto bytes = std::as_bytes(std::span(content));
    return {bytes.begin(), bytes.end()};
  }
  std::vector<std::byte> bytes(text.size() / 2);
  if (!parse_hex(text, bytes))
    throw UsageError("--" + option + " takes two hex digits for each byte, or @FILE");
  return bytes;
}

void parse_hex_option(const std::string& option, const std::string& text,
                      std::span<std::byte> bytes) {
  if (!parse_hex(text, bytes))
    throw UsageError("--" + option + " takes " + std::to_string(2 * bytes.size()) +
                     " hex digits; '" + text + "' has " + std::to_string(text.size()) +
                     " characters");
}

std::vector<std::byte> encrypted_file_of(const EncryptedText& text) {
  std::array<std::byte, kIdBytes> id{};
  if (!parse_hex(text.key, id))
    throw Error(ErrorClass::Other, "the daemon sent an id of a key that is none");
  std::vector<std::byte> file(kFrameBytes + text.ciphertext.size());
  auto at = file.begin();
  for (const std::span<const std::byte> part :
       {std::as_bytes(std::span(kMagic)), std::span<const std::byte>(id),
        std::span<const std::byte>(text.nonce), std::span<const std::byte>(text.ciphertext),
        std::span<const std::byte>(text.tag)})
    at = std::ranges::copy(part, at).out;
  return file;
}

EncryptedText encrypted_text_from(std::span<const std::byte> file, const std::string& name) {
  if (file.size() < kFrameBytes ||
      !std::ranges::equal(file.first(kMagic.size()), std::as_bytes(std::span(kMagic))))
    throw UsageError(name + " is not a file that tinyot key encrypt has written");
  EncryptedText text;
  std::size_t at = 0;
  const auto take = [&](std::size_t bytes) {
    const auto part = file.subspan(at, bytes);
    at += bytes;
    return part;
  };
  take(kMagic.size());
  text.key = hex_of(take(kIdBytes));
  std::ranges::copy(take(text.nonce.size()), text.nonce.begin());
  const auto ciphertext = take(file.size() - kFrameBytes);
  text.ciphertext.assign(ciphertext.begin(), ciphertext.end());
  std::ranges::copy(take(text.tag.size()), text.tag.begin());
  return text;
}

EncryptedText read_encrypted_file(const std::string& path) {
  InputFile file = opened(path);
  const std::string name = file.name();
  return encrypted_text_from(
      read_at_most(std::move(file), kFrameBytes + service::kPayloadBytesMax, kEncryptDataKey),
      name);
}

void write_output(const std::string& path, std::span<const std::byte> bytes) {
  if (path == "-") {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!system::write_all(STDOUT_FILENO, text))
      throw Error(ErrorClass::Other, "cannot write the result to stdout: " + system::errno_text());
    return;
  }
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error))
    throw UsageError(path + " exists and is not a regular file");
  try {
    system::replace_file(path, bytes);
  } catch (const StoreError& failure) {
    throw Error(ErrorClass::Other, failure.what());
  }
}

void write_backup_key(const crypto::BoxPrivateKey& key, const std::string& path) {
  SecretText text;
  for (const std::byte byte : key.bytes) {
    text.push_back(hex_digit(std::to_integer<std::uint32_t>(byte) >> 4));
    text.push_back(hex_digit(std::to_integer<std::uint32_t>(byte) & 15));
  }
  text.push_back('\n');
  engine::write_private_file(view_of(text), path);
}

crypto::BoxPrivateKey read_backup_key(const std::string& path) {
  const SecretText text = engine::read_private_file(path);
  std::string_view digits = view_of(text);
  while (digits.ends_with('\n') || digits.ends_with('\r')) digits.remove_suffix(1);
  crypto::BoxPrivateKey key;
  if (!parse_hex(digits, key.bytes))
    throw UsageError(path + " is not a private key of backups, a line of 64 hex digits");
  return key;
}

}  // namespace tinyot::tools
