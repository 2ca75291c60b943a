// A party's daemon: its peers, its interface, and its metrics.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>

namespace tinyot::service {

// Serves until `cancel` requests a stop; then no further job begins, and evaluations and units in
// progress get `grace` to end. `take_reload` is called now and then: when it returns true, the
// settings that can change while the daemon runs are read again (reload.h).
// Fails: UsageError as check_start(), which is called first; StoreError if another daemon uses its
// directory, or a store cannot be opened; NetworkError if an address is in use.
void serve(
    const std::filesystem::path& configuration, const std::string& version,
    const std::stop_token& cancel, const std::function<bool()>& take_reload = [] { return false; },
    std::chrono::milliseconds grace = std::chrono::seconds(30));

}  // namespace tinyot::service
