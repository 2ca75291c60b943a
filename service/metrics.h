// Metrics of commands and stores, in the text format of Prometheus. No label holds a secret, an
// input, or the path of a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "storage/inventory.h"

namespace tinyot::service {

// The last run of a command.
struct CommandRecord {
  std::string command;
  int exit_status = 0;
  double end_s = 0;  // seconds since 1970
  double duration_s = 0;
  std::uint64_t ands = 0;  // made or evaluated
  std::uint64_t bytes_sent = 0, bytes_received = 0;
};

// The time of the last success is taken from `before`, the text that this one replaces, if the
// command has failed now.
std::string metrics_text(const CommandRecord& record, std::span<const storage::Inventory> stores,
                         const std::string& version, const std::string& before = {});

// Replaces the file as a whole, so that no reader sees a part of it; its mode is 0644. Fails:
// std::filesystem::filesystem_error.
void write_metrics_file(const std::filesystem::path& file, const CommandRecord& record,
                        std::span<const storage::Inventory> stores, const std::string& version);

}  // namespace tinyot::service
