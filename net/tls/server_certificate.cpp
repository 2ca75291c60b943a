#include "net/tls/server_certificate.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "net/tls/certificate.h"

namespace tinyot::net {
namespace {

UsageError refusal(const PemFile& file, const std::string& reason) {
  ERR_clear_error();
  return UsageError(file.name + " " + reason);
}

void free_stack(STACK_OF(X509) * stack) { sk_X509_free(stack); }

std::vector<CertificatePtr> certificates_in(const PemFile& file) {
  const BioPtr bio = bio_of(file.text);
  std::vector<CertificatePtr> all;
  while (X509* const next = PEM_read_bio_X509(bio.get(), nullptr, no_passphrase, nullptr))
    all.emplace_back(next);
  const bool is_at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (all.empty()) throw refusal(file, "holds no certificate");
  if (!is_at_end) throw refusal(file, "holds a certificate that cannot be read");
  return all;
}

}  // namespace

std::chrono::system_clock::time_point check_server_certificate(const PemFile& certificate,
                                                               const PemFile& key) {
  const std::vector<CertificatePtr> chain = certificates_in(certificate);
  const KeyPtr private_key(
      PEM_read_bio_PrivateKey(bio_of(key.text).get(), nullptr, no_passphrase, nullptr));
  if (!private_key)
    throw refusal(key, "holds no private key that can be read without a passphrase");
  if (X509_check_private_key(chain.front().get(), private_key.get()) != 1)
    throw refusal(certificate,
                  "holds a certificate that does not belong to the private key in " + key.name);
  if (const std::string invalidity = invalidity_of(*chain.front()); !invalidity.empty())
    throw refusal(certificate, "holds a certificate that " + invalidity);
  return end_of(*chain.front());
}

std::chrono::system_clock::time_point check_authorities(const PemFile& certificates) {
  std::chrono::system_clock::time_point last{};
  const std::vector<CertificatePtr> all = certificates_in(certificates);
  for (const CertificatePtr& authority : all)
    if (is_valid_now(*authority)) last = std::max(last, end_of(*authority));
  if (last == std::chrono::system_clock::time_point())
    throw refusal(certificates,
                  "holds no certificate that is valid now: " + dates_of(*all.front()));
  return last;
}

struct ClientAuthorities::Store {
  using Pointer = std::unique_ptr<X509_STORE, OpensslDeleter<X509_STORE_free>>;
  Pointer trusted;
};

ClientAuthorities::ClientAuthorities(const PemFile& certificates) {
  Store::Pointer trusted(X509_STORE_new());
  openssl_ensure(trusted != nullptr, "the memory for authorities");
  for (const CertificatePtr& authority : certificates_in(certificates))
    openssl_ensure(X509_STORE_add_cert(trusted.get(), authority.get()) == 1,
                   "the list of authorities");
  // As far as one of them, which need not be a root.
  X509_STORE_set_flags(trusted.get(), X509_V_FLAG_PARTIAL_CHAIN);
  store_.reset(new Store{std::move(trusted)});
}

ClientAuthorities::~ClientAuthorities() = default;

bool ClientAuthorities::admit(std::string_view chain) const {
  std::vector<CertificatePtr> certificates;
  try {
    certificates = certificates_in({"the client's certificate", chain});
  } catch (const UsageError&) {
    return false;
  }
  const std::unique_ptr<STACK_OF(X509), OpensslDeleter<free_stack>> others(sk_X509_new_null());
  const std::unique_ptr<X509_STORE_CTX, OpensslDeleter<X509_STORE_CTX_free>> check(
      X509_STORE_CTX_new());
  openssl_ensure(others != nullptr && check != nullptr, "the memory for a certificate's check");
  for (std::size_t i = 1; i < certificates.size(); ++i)
    openssl_ensure(sk_X509_push(others.get(), certificates[i].get()) > 0,
                   "the memory for a certificate's check");
  openssl_ensure(X509_STORE_CTX_init(check.get(), store_->trusted.get(), certificates.front().get(),
                                     others.get()) == 1 &&
                     X509_STORE_CTX_set_default(check.get(), "ssl_client") == 1,
                 "the check of a certificate");
  const bool is_admitted = X509_verify_cert(check.get()) == 1;
  ERR_clear_error();
  return is_admitted;
}

}  // namespace tinyot::net
