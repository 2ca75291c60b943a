// Where a daemon serves its clients.
#pragma once

#include <optional>
#include <string>

namespace tinyot::service {

struct ServerAddress {
  std::string text;  // unix:PATH or HOST:PORT
  struct TlsFiles {
    std::string ca, certificate, key;  // PEM
  };
  std::optional<TlsFiles> tls;  // with HOST:PORT only
};

}  // namespace tinyot::service
