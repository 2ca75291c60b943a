#include "net/tls/identity.h"

#include <openssl/pem.h>
#include <openssl/rand.h>

#include <climits>
#include <span>

#include "base/error.h"
#include "base/hex.h"
#include "net/tls/certificate.h"

namespace tinyot::net {
namespace {

constexpr std::string_view kPrefix = "sha256:";
constexpr unsigned char kName[] = "TinyOT party";

CertificatePtr read_certificate(std::string_view pem) {
  return CertificatePtr(PEM_read_bio_X509(bio_of(pem).get(), nullptr, no_passphrase, nullptr));
}

bool is_supported(const EVP_PKEY& key) {
  if (EVP_PKEY_is_a(&key, "ED25519")) return true;
  char group[32] = {};
  return EVP_PKEY_is_a(&key, "EC") &&
         EVP_PKEY_get_group_name(&key, group, sizeof group, nullptr) == 1 &&
         std::string_view(group) == "prime256v1";
}

std::string time_text(const ASN1_TIME* time, const char* format) {
  std::tm date{};
  char text[32] = "?";
  if (ASN1_TIME_to_tm(time, &date) == 1) std::strftime(text, sizeof text, format, &date);
  return text;
}

std::string validity_of(const X509& certificate, const char* format) {
  return time_text(X509_get0_notBefore(&certificate), format) + " to " +
         time_text(X509_get0_notAfter(&certificate), format);
}

CertificatePtr self_signed(EVP_PKEY& key, Identity::Clock::time_point from,
                           std::chrono::days valid) {
  CertificatePtr certificate(X509_new());
  X509* x509 = certificate.get();
  std::uint64_t serial = 0;
  const std::time_t begin = Identity::Clock::to_time_t(from),
                    end = Identity::Clock::to_time_t(from + valid);
  openssl_ensure(
      x509 && RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) == 1 &&
          X509_set_version(x509, X509_VERSION_3) == 1 &&
          ASN1_INTEGER_set_uint64(X509_get_serialNumber(x509), serial >> 1) == 1 &&
          ASN1_TIME_set(X509_getm_notBefore(x509), begin) &&
          ASN1_TIME_set(X509_getm_notAfter(x509), end) && X509_set_pubkey(x509, &key) == 1 &&
          X509_NAME_add_entry_by_txt(X509_get_subject_name(x509), "CN", MBSTRING_ASC, kName, -1, -1,
                                     0) == 1 &&
          X509_set_issuer_name(x509, X509_get_subject_name(x509)) == 1 &&
          X509_sign(x509, &key, EVP_PKEY_is_a(&key, "ED25519") ? nullptr : EVP_sha256()) > 0,
      "make a certificate");
  return certificate;
}

UsageError refusal(const std::string& file, const std::string& reason) {
  return UsageError(file + " " + reason, Remedy::MakeKey);
}

KeyPtr read_key(std::string_view pem, const std::string& file) {
  // PEM_read_bio_PrivateKey() frees a line of the text without wiping it.
  unsigned char* der = nullptr;
  long size = 0;
  KeyPtr key;
  if (PEM_bytes_read_bio_secmem(&der, &size, nullptr, PEM_STRING_EVP_PKEY, bio_of(pem).get(),
                                no_passphrase, nullptr) == 1) {
    const unsigned char* at = der;
    key.reset(d2i_AutoPrivateKey(nullptr, &at, size));
    OPENSSL_secure_clear_free(der, static_cast<std::size_t>(size));
  }
  if (!key) throw refusal(file, "holds no private key that can be read without a passphrase");
  if (!is_supported(*key)) throw refusal(file, "holds a key that is neither Ed25519 nor P-256");
  return key;
}

std::unique_ptr<Identity::Parts> with_new_certificate(KeyPtr key, Identity::Clock::time_point from,
                                                      std::chrono::days valid) {
  CertificatePtr certificate = self_signed(*key, from, valid);
  const Fingerprint fingerprint = fingerprint_of(*certificate);
  return std::unique_ptr<Identity::Parts>(
      new Identity::Parts{std::move(key), std::move(certificate), fingerprint});
}

std::string_view text_in(BIO& bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(&bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

}  // namespace

int no_passphrase(char*, int, int, void*) { return 0; }

BioPtr bio_of(std::string_view text) {
  ENSURE(text.size() <= INT_MAX);
  BioPtr bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  openssl_ensure(bio != nullptr, "read from memory");
  return bio;
}

std::string text_of(const Fingerprint& fingerprint) {
  return std::string(kPrefix) + hex_of(std::as_bytes(std::span(fingerprint.bytes)));
}

std::optional<Fingerprint> parse_fingerprint(std::string_view text) {
  if (text.starts_with(kPrefix)) text.remove_prefix(kPrefix.size());
  Fingerprint fingerprint;
  if (!parse_hex(text, std::as_writable_bytes(std::span(fingerprint.bytes)))) return std::nullopt;
  return fingerprint;
}

std::optional<Fingerprint> certificate_fingerprint(std::string_view pem) {
  const CertificatePtr certificate = read_certificate(pem);
  if (!certificate) return std::nullopt;
  return fingerprint_of(*certificate);
}

Fingerprint fingerprint_of(const X509& certificate) {
  unsigned char* der = nullptr;
  const int size = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(&certificate), &der);
  openssl_ensure(size > 0, "encode a public key");
  Fingerprint fingerprint;
  const int hashed = EVP_Digest(der, static_cast<std::size_t>(size), fingerprint.bytes.data(),
                                nullptr, EVP_sha256(), nullptr);
  OPENSSL_free(der);
  openssl_ensure(hashed == 1, "hash a public key");
  return fingerprint;
}

std::string dates_of(const X509& certificate) { return validity_of(certificate, "%Y-%m-%d"); }

bool is_valid_now(const X509& certificate) {
  return X509_cmp_current_time(X509_get0_notBefore(&certificate)) < 0 &&
         X509_cmp_current_time(X509_get0_notAfter(&certificate)) > 0;
}

std::string invalidity_of(const X509& certificate) {
  if (is_valid_now(certificate)) return {};
  const bool is_early = X509_cmp_current_time(X509_get0_notBefore(&certificate)) > 0;
  return (is_early ? "is not valid yet: valid from " : "has expired: valid from ") +
         validity_of(certificate, "%Y-%m-%dT%H:%M:%SZ");
}

Identity::Clock::time_point end_of(const X509& certificate) {
  std::tm date{};
  openssl_ensure(ASN1_TIME_to_tm(X509_get0_notAfter(&certificate), &date) == 1, "read a date");
  return Identity::Clock::from_time_t(::timegm(&date));
}

Identity Identity::generate(Clock::time_point from, std::chrono::days valid) {
  KeyPtr key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  openssl_ensure(key != nullptr, "make a key");
  return Identity(with_new_certificate(std::move(key), from, valid));
}

Identity Identity::renew(std::string_view pem, const std::string& file, Clock::time_point from,
                         std::chrono::days valid) {
  return Identity(with_new_certificate(read_key(pem, file), from, valid));
}

Identity Identity::parse(std::string_view pem, const std::string& file) {
  KeyPtr key = read_key(pem, file);
  CertificatePtr certificate = read_certificate(pem);
  if (!certificate) throw refusal(file, "holds no certificate");
  if (X509_check_private_key(certificate.get(), key.get()) != 1)
    throw refusal(file, "holds a certificate that does not belong to its private key");
  if (const std::string invalidity = invalidity_of(*certificate); !invalidity.empty())
    throw UsageError(file + " holds a certificate that " + invalidity, Remedy::RenewCertificate);
  const Fingerprint fingerprint = fingerprint_of(*certificate);
  return Identity(
      std::unique_ptr<Parts>(new Parts{std::move(key), std::move(certificate), fingerprint}));
}

Identity::Identity(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Identity::Identity(Identity&&) noexcept = default;
Identity& Identity::operator=(Identity&&) noexcept = default;
Identity::~Identity() = default;

const Fingerprint& Identity::fingerprint() const { return parts_->fingerprint; }
std::string Identity::dates() const { return dates_of(*parts_->certificate); }
Identity::Clock::time_point Identity::valid_until() const { return end_of(*parts_->certificate); }
bool Identity::is_valid_now() const { return net::is_valid_now(*parts_->certificate); }

SecretVector<char> Identity::private_pem() const {
  const BioPtr bio(BIO_new(BIO_s_secmem()));
  openssl_ensure(bio &&
                     PEM_write_bio_PrivateKey(bio.get(), parts_->key.get(), nullptr, nullptr, 0,
                                              nullptr, nullptr) == 1 &&
                     PEM_write_bio_X509(bio.get(), parts_->certificate.get()) == 1,
                 "write a key");
  const std::string_view text = text_in(*bio);
  return {text.begin(), text.end()};
}

std::string Identity::certificate_pem() const {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  openssl_ensure(bio && PEM_write_bio_X509(bio.get(), parts_->certificate.get()) == 1,
                 "write a certificate");
  return std::string(text_in(*bio));
}

}  // namespace tinyot::net
