// The certificates of a TLS server and those of its clients' authorities, checked before the server
// starts. Unlike those of parties (identity.h), they are ordinary certificates, which others issue.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

namespace tinyot::net {

// A file and its content in PEM.
struct PemFile {
  std::string name;
  std::string_view text;
};

// `certificate` begins with the server's own certificate, `key` has its private key. Returns until
// when the certificate is valid. Fails: UsageError naming the file and what is wrong with it.
std::chrono::system_clock::time_point check_server_certificate(const PemFile& certificate,
                                                               const PemFile& key);

// Checks that one of the certificates is valid now. Returns until when the one that is valid for
// longest is. Fails: as check_server_certificate().
std::chrono::system_clock::time_point check_authorities(const PemFile& certificates);

// The authorities of a server's clients. Thread-safe.
class ClientAuthorities {
 public:
  // Of certificates that check_authorities() has accepted.
  explicit ClientAuthorities(const PemFile& certificates);
  ~ClientAuthorities();

  // Whether the certificate of a client, the first in `chain`, is valid now and leads to one of
  // them, by way of the others in `chain`. That the client has its key was shown when it connected.
  bool admit(std::string_view chain) const;

 private:
  struct Store;
  std::unique_ptr<const Store> store_;
};

}  // namespace tinyot::net
