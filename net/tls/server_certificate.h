// The certificates of a TLS server and those of its clients' authorities, checked before the server
// starts. Unlike those of parties (identity.h), they are ordinary certificates, which others issue.
#pragma once

#include <chrono>
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

}  // namespace tinyot::net
