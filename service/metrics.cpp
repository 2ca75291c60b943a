#include "service/metrics.h"

#include <prometheus/gauge.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "service/store_metrics.h"
#include "system/input_file.h"

namespace tinyot::service {
namespace {

using Labels = prometheus::Labels;

constexpr std::uint64_t kTextBytesMax = 16 << 20;
constexpr char kSuccessTime[] = "tinyot_command_success_timestamp_seconds";

class Gauges {
 public:
  void set(const std::string& name, const std::string& help, const Labels& labels, double value) {
    prometheus::BuildGauge().Name(name).Help(help).Register(registry_).Add(labels).Set(value);
  }
  std::string text() const { return prometheus::TextSerializer().Serialize(registry_.Collect()); }

 private:
  prometheus::Registry registry_{prometheus::Registry::InsertBehavior::Merge};
};

// The value of a command's metric in a text of metrics; 0 if there is none.
double value_in(const std::string& text, const std::string& name, const std::string& command) {
  const std::string begin = name + "{command=\"" + command + "\"} ";
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(begin)) return std::strtod(line.c_str() + begin.size(), nullptr);
  return 0;
}

void add_command(Gauges& gauges, const CommandRecord& record, const std::string& before) {
  const auto set = [&](const std::string& name, const std::string& help, double value) {
    gauges.set("tinyot_command_" + name, help, {{"command", record.command}}, value);
  };
  set("exit_status", "Exit status of the last run; 4: the peer cheated", record.exit_status);
  set("end_timestamp_seconds", "Time at which the last run ended", record.end_s);
  set("duration_seconds", "Duration of the last run", record.duration_s);
  set("ands", "ANDs that the last run made or evaluated", static_cast<double>(record.ands));
  set("sent_bytes", "Bytes that the last run sent", static_cast<double>(record.bytes_sent));
  set("received_bytes", "Bytes that the last run received",
      static_cast<double>(record.bytes_received));
  gauges.set(
      kSuccessTime, "Time at which the last successful run ended", {{"command", record.command}},
      record.exit_status == 0 ? record.end_s : value_in(before, kSuccessTime, record.command));
}

// Empty if there is no text that can be read.
std::string content_of(const std::filesystem::path& file) {
  try {
    return system::read_text(system::InputFile(file), kTextBytesMax);
  } catch (const UsageError&) {
    return {};
  }
}

}  // namespace

std::string metrics_text(const CommandRecord& record, std::span<const storage::Inventory> stores,
                         const std::string& version, const std::string& before) {
  Gauges gauges;
  gauges.set("tinyot_build_info", "1, with the version of the program", {{"version", version}}, 1);
  add_command(gauges, record, before);
  for (const storage::Inventory& store : stores)
    add_store_metrics(store, {},
                      [&](const std::string& name, const std::string& help, const Labels& labels,
                          double value) { gauges.set(name, help, labels, value); });
  return gauges.text();
}

void write_metrics_file(const std::filesystem::path& file, const CommandRecord& record,
                        std::span<const storage::Inventory> stores, const std::string& version) {
  const std::string text = metrics_text(record, stores, version, content_of(file));
  // Readers of a directory of metrics look at *.prom only.
  const std::filesystem::path partial = file.string() + "." + std::to_string(::getpid());
  errno = 0;
  std::ofstream stream(partial, std::ios::binary | std::ios::trunc);
  stream << text;
  stream.close();
  if (!stream || ::chmod(partial.c_str(), 0644) != 0) {
    const std::error_code error(errno, std::generic_category());
    std::error_code ignored;
    std::filesystem::remove(partial, ignored);
    throw std::filesystem::filesystem_error("cannot write", file, error);
  }
  std::filesystem::rename(partial, file);
}

}  // namespace tinyot::service
