#include "net/tls_record.h"

#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <string_view>

namespace tinyot {
namespace {

constexpr std::size_t kKeyBytes = 16, kTypeBytes = 1, kTagBytes = kRecordOverheadBytes - kTypeBytes;
constexpr unsigned char kVersion[] = {3, 3};  // of every record, for the sake of what stands between (5.1)

const unsigned char* data_of(std::span<const std::byte> bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }
unsigned char* writable(std::span<std::byte> bytes) { return reinterpret_cast<unsigned char*>(bytes.data()); }

// HKDF-Expand-Label with an empty context (7.1).
void expand_label(const TrafficSecret& secret, std::string_view label, std::span<unsigned char> out) {
  const KdfPtr kdf(EVP_KDF_fetch(nullptr, OSSL_KDF_NAME_TLS1_3_KDF, nullptr));
  const KdfContextPtr context(kdf ? EVP_KDF_CTX_new(kdf.get()) : nullptr);
  int mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
  const auto octets = [](const char* name, const auto& bytes) {
    return OSSL_PARAM_construct_octet_string(name, const_cast<void*>(static_cast<const void*>(bytes.data())), bytes.size());
  };
  const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
                                   OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, const_cast<char*>("SHA256"), 0),
                                   octets(OSSL_KDF_PARAM_KEY, secret),
                                   octets(OSSL_KDF_PARAM_PREFIX, std::string_view("tls13 ")),
                                   octets(OSSL_KDF_PARAM_LABEL, label),
                                   OSSL_PARAM_construct_end()};
  openssl_ensure(context && EVP_KDF_derive(context.get(), out.data(), out.size(), parameters) == 1, "derive a record key");
}

}  // namespace

RecordKey::RecordKey(TrafficSecret secret, Use use) : cipher_(EVP_CIPHER_CTX_new()), secret_(std::move(secret)), use_(use) { set_key(); }

void RecordKey::renew() {
  TrafficSecret next(secret_.size());
  expand_label(secret_, "traffic upd", {writable(next), next.size()});
  secret_ = std::move(next);
  set_key();
}

void RecordKey::set_key() {
  SecretVector<unsigned char> key(kKeyBytes);
  expand_label(secret_, "key", key);
  expand_label(secret_, "iv", iv_);
  sequence_ = 0;
  openssl_ensure(cipher_ && EVP_CipherInit_ex2(cipher_.get(), EVP_aes_128_gcm(), key.data(), nullptr, use_ == Use::Seals, nullptr) == 1,
                 "set a record key");
}

void RecordKey::begin(std::span<const unsigned char> header) {
  auto nonce = iv_;
  for (std::size_t i = 0; i < sizeof sequence_; ++i) nonce[nonce.size() - 1 - i] ^= static_cast<unsigned char>(sequence_ >> (8 * i));
  ++sequence_;
  int count = 0;
  openssl_ensure(EVP_CipherInit_ex2(cipher_.get(), nullptr, nullptr, nonce.data(), -1, nullptr) == 1 &&
                     EVP_CipherUpdate(cipher_.get(), nullptr, &count, header.data(), static_cast<int>(header.size())) == 1,
                 "begin a record");
}

std::size_t RecordKey::update(std::span<const unsigned char> from, unsigned char* to) {
  int count = 0;
  if (!from.empty())
    openssl_ensure(EVP_CipherUpdate(cipher_.get(), to, &count, from.data(), static_cast<int>(from.size())) == 1, "go on with a record");
  return static_cast<std::size_t>(count);
}

void RecordSealer::seal(RecordType type, std::span<const std::byte> first, std::span<const std::byte> rest, SecretVector<std::byte>& out) {
  const std::size_t body = first.size() + rest.size() + kRecordOverheadBytes, begin_of_record = out.size();
  ENSURE(first.size() + rest.size() <= kRecordContentMax);
  out.resize(begin_of_record + kRecordHeaderBytes + body);
  unsigned char* to = writable(std::span(out).subspan(begin_of_record));
  const unsigned char header[kRecordHeaderBytes] = {static_cast<unsigned char>(RecordType::Data), kVersion[0], kVersion[1],
                                                    static_cast<unsigned char>(body >> 8), static_cast<unsigned char>(body)};
  to = std::ranges::copy(header, to).out;
  begin(header);
  const auto inner_type = static_cast<unsigned char>(type);
  to += update({data_of(first), first.size()}, to);
  to += update({data_of(rest), rest.size()}, to);
  to += update({&inner_type, kTypeBytes}, to);
  int count = 0;
  openssl_ensure(EVP_CipherFinal_ex(cipher_.get(), to, &count) == 1 && EVP_CIPHER_CTX_ctrl(cipher_.get(), EVP_CTRL_AEAD_GET_TAG, kTagBytes, to) == 1,
                 "seal a record");
}

std::size_t RecordOpener::body_bytes(std::span<const std::byte, kRecordHeaderBytes> header) {
  const auto byte = [&](std::size_t i) { return std::to_integer<std::size_t>(header[i]); };
  if (byte(0) != static_cast<std::size_t>(RecordType::Data)) throw RecordError(SSL_AD_UNEXPECTED_MESSAGE, "a record of another kind than is due");
  const std::size_t size = byte(3) << 8 | byte(4);
  if (size > kRecordBodyMax) throw RecordError(SSL_AD_RECORD_OVERFLOW, "a record that is too long");
  if (size < kRecordOverheadBytes) throw RecordError(SSL_AD_BAD_RECORD_MAC, "a record that is too short");
  return size;
}

RecordOpener::Content RecordOpener::open(std::span<const std::byte, kRecordHeaderBytes> header, std::span<const std::byte> body,
                                         std::span<std::byte> content) {
  const std::size_t size = body.size() - kRecordOverheadBytes;
  ENSURE(content.size() >= size);
  begin({data_of(header), header.size()});
  unsigned char type = 0;
  update({data_of(body), size}, writable(content));
  update({data_of(body.subspan(size)), kTypeBytes}, &type);
  std::array<unsigned char, kTagBytes> tag;
  std::ranges::copy(std::span(data_of(body.last(kTagBytes)), kTagBytes), tag.begin());
  unsigned char none = 0;
  int count = 0;
  if (EVP_CIPHER_CTX_ctrl(cipher_.get(), EVP_CTRL_AEAD_SET_TAG, kTagBytes, tag.data()) != 1 || EVP_CipherFinal_ex(cipher_.get(), &none, &count) != 1)
    throw RecordError(SSL_AD_BAD_RECORD_MAC, "a record that was altered on its way");
  // The type is the last byte that is not of the padding, which is zeros (5.4).
  std::size_t end = size;
  while (type == 0 && end > 0) type = std::to_integer<unsigned char>(content[--end]);
  return {static_cast<RecordType>(type), end};
}

}  // namespace tinyot
