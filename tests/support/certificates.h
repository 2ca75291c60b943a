// Certificates for tests of the daemon's interface over TLS.
#pragma once

#include <filesystem>
#include <string>

#include "tests/support/process.h"

namespace tinyot::test {

// Writes ca.pem, {server,client}.{key,pem}, signed by it for 127.0.0.1, and other.{key,pem}, which
// is not. False if there is no openssl command.
inline bool make_certificates(const std::filesystem::path& directory) {
  const std::string script =
      "set -e; cd '" + directory.string() +
      "'; new() { openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes "
      "-subj \"/CN=$1\" -keyout \"$1.key\" \"${@:2}\" 2>/dev/null; }; "
      "new ca -x509 -days 2 -out ca.pem; new other -x509 -days 2 -out other.pem; "
      "echo subjectAltName=IP:127.0.0.1 >ext; "
      "for name in server client; do new $name -out $name.csr; "
      "openssl x509 -req -in $name.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 "
      "-extfile ext -out $name.pem 2>/dev/null; done";
  return Process("/bin/bash", {"-c", script}).end().status == 0;
}

}  // namespace tinyot::test
