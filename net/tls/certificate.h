// The parts of a certificate that are used: its key's fingerprint and its validity. Internal to
// net/tls/.
#pragma once

#include "net/tls/identity.h"
#include "net/tls/openssl.h"

namespace tinyot::net {

struct Identity::Parts {
  KeyPtr key;
  CertificatePtr certificate;
  Fingerprint fingerprint;
};

Fingerprint fingerprint_of(const X509& certificate);
std::string dates_of(const X509& certificate);
bool is_valid_now(const X509& certificate);

}  // namespace tinyot::net
