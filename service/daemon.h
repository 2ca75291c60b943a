// A party's daemon: its peers, its interface, and its metrics.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>

namespace tinyot::service {

// Reads all that the configuration names. Fails: UsageError.
void check_configuration(const std::filesystem::path& configuration);

// Serves until `cancel` requests a stop; then no further job begins, and evaluations and units in
// progress get 30 seconds to end.
// Fails: UsageError for a configuration that cannot be used; StoreError if another daemon uses its
// directory; NetworkError if an address is in use.
void serve(const std::filesystem::path& configuration, const std::string& version,
           const std::stop_token& cancel);

}  // namespace tinyot::service
