#include "net/tls/openssl.h"

#include <openssl/err.h>

#include "base/error.h"

namespace tinyot::net {

std::string openssl_reason() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* reason = ERR_reason_error_string(code);
  return reason ? reason : "unknown reason";
}

void openssl_ensure(bool done, const char* what) {
  if (!done)
    throw Error(ErrorClass::Other, std::string("OpenSSL cannot ") + what + ": " + openssl_reason());
}

}  // namespace tinyot::net
