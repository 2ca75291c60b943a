// Owning pointers to OpenSSL's objects, and its errors as text. Connections use OpenSSL
// in this folder only.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

namespace tinyot::net {

template <auto kFree>
struct OpensslDeleter {
  template <class Object>
  void operator()(Object* object) const {
    kFree(object);
  }
};
using BioPtr = std::unique_ptr<BIO, OpensslDeleter<BIO_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, OpensslDeleter<EVP_PKEY_free>>;
using CertificatePtr = std::unique_ptr<X509, OpensslDeleter<X509_free>>;
using SslContextPtr = std::unique_ptr<SSL_CTX, OpensslDeleter<SSL_CTX_free>>;
using SslPtr = std::unique_ptr<SSL, OpensslDeleter<SSL_free>>;

// The reason for the last OpenSSL error on this thread; clears the error queue.
std::string openssl_reason();

// Throws with that reason unless `done`. For calls that fail only if memory is exhausted or the
// library's configuration is broken.
void openssl_ensure(bool done, const char* what);

}  // namespace tinyot::net
