// All that a daemon needs to start, except free addresses: the configuration and what it names.
// `serve --check` and the start itself do the same, so what the one accepts does not stop the
// other.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/secret_text.h"
#include "config.pb.h"
#include "storage/key_table.h"

namespace tinyot::service {

// The files of config::Tls, in PEM.
struct TlsFiles {
  std::string certificate, clients;
  SecretText key;
  std::chrono::system_clock::time_point certificate_end, clients_end;
};

struct StartCheck {
  config::Daemon config;
  std::optional<StoreKey> store_key;
  std::optional<TlsFiles> tls;
  // For the operator, for example that a certificate expires soon.
  std::vector<std::string> warnings;
  // What a start lacks now, as the service manager makes it at each start: the socket's directory.
  std::optional<std::string> missing;
};

// Reads, and makes nothing. Fails: UsageError naming the configuration, the field and the reason,
// for everything that an operator has to mend.
StartCheck check_start(const std::filesystem::path& configuration);

}  // namespace tinyot::service
