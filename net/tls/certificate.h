// The parts of a certificate that are used: its key's fingerprint and its validity; and PEM in
// memory. Internal to net/tls/.
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
// Why it is not valid now, "has expired: ..." or "is not valid yet: ...", with the times; empty if
// it is.
std::string invalidity_of(const X509& certificate);
// Of its validity.
Identity::Clock::time_point end_of(const X509& certificate);

// To read `text`, which must outlive it.
BioPtr bio_of(std::string_view text);
// A callback for PEM that replaces OpenSSL's, which prompts at the terminal.
int no_passphrase(char*, int, int, void*);

}  // namespace tinyot::net
