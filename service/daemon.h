// A party's daemon: its peers, its interface, and its metrics.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>

namespace tinyot::service {

// Serves until `cancel` requests a stop; then running evaluations end, and no further job begins.
// Fails: UsageError for a configuration that cannot be used; StoreError if another daemon uses its
// directory; NetworkError if an address is in use.
void serve(const std::filesystem::path& configuration, const std::string& version,
           const std::stop_token& cancel);

}  // namespace tinyot::service
