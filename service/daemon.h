// A party's daemon: its peers, its interface, and its metrics.
#pragma once

#include <chrono>
#include <filesystem>
#include <stop_token>
#include <string>

namespace tinyot::service {

// Serves until `cancel` requests a stop; then no further job begins, and evaluations and units in
// progress get `grace` to end.
// Fails: UsageError as check_start(), which is called first; StoreError if another daemon uses its
// directory, or a store cannot be opened; NetworkError if an address is in use.
void serve(const std::filesystem::path& configuration, const std::string& version,
           const std::stop_token& cancel,
           std::chrono::milliseconds grace = std::chrono::seconds(30));

}  // namespace tinyot::service
