#include "tools/cli/metrics_option.h"

#include <unistd.h>

#include <chrono>

#include "base/error.h"
#include "service/metrics.h"
#include "storage/store.h"
#include "system/errno_text.h"
#include "tools/cli/failure.h"
#include "tools/cli/log.h"
#include "tools/cli/render/report.h"

namespace tinyot::tools {
namespace {

void check_writable(const std::filesystem::path& file) {
  const std::filesystem::path directory = file.has_parent_path() ? file.parent_path() : ".";
  if (::access(directory.c_str(), W_OK | X_OK) != 0)
    throw UsageError("--metrics-file: cannot write in " + directory.string() + ": " +
                     system::errno_text());
}

// Stores that can be opened.
std::vector<storage::Inventory> inventories_of(const Measured& measured) {
  std::vector<storage::Inventory> stores;
  for (const std::filesystem::path& directory : measured.stores) {
    try {
      stores.push_back(storage::take_inventory(storage::Store::open(
          directory, {.purpose = storage::Purpose::Inspect, .store_key = measured.store_key})));
    } catch (const StoreError&) {
      // The command itself reports what is wrong with it.
    }
  }
  return stores;
}

}  // namespace

void add_metrics_option(Options& options) {
  options
      .value("metrics-file",
             "FILE for the metrics of this command and its stores, in the text format of "
             "Prometheus")
      .advanced();
}

int with_metrics(const CommandLine& line, const Measured& measured,
                 const std::function<WorkDone()>& work) {
  if (!line.has("metrics-file")) return work().exit_status;
  const std::filesystem::path file = line.text("metrics-file");
  check_writable(file);
  const auto begin = std::chrono::steady_clock::now();
  service::CommandRecord record{.command = measured.command};
  const auto write = [&] {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    record.end_s =
        static_cast<double>(std::chrono::duration_cast<std::chrono::seconds>(now).count());
    record.duration_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    try {
      service::write_metrics_file(file, record, inventories_of(measured), version_text());
    } catch (const std::filesystem::filesystem_error& error) {
      log_line(LogLevel::Warning,
               "cannot write the metrics to " + file.string() + ": " + error.code().message());
    }
  };
  try {
    const WorkDone done = work();
    record.exit_status = done.exit_status;
    record.ands = done.ands;
    for (const PhaseCost& phase : done.phases) {
      record.bytes_sent += phase.bytes_sent;
      record.bytes_received += phase.bytes_received;
    }
    write();
    return done.exit_status;
  } catch (...) {
    record.exit_status = static_cast<int>(current_failure().status);
    write();
    throw;
  }
}

}  // namespace tinyot::tools
