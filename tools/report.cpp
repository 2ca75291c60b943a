#include "tools/report.h"

#include <hwy/targets.h>
#include <sys/resource.h>

#include <cmath>
#include <fstream>
#include <iostream>
#include <sstream>
#include <thread>

#include "engine/plan.h"
#include "net/handshake.h"
#include "offline/parameters.h"
#include "tinyot/version.h"
#include "tools/memory_use.h"

namespace tinyot::tools {
namespace {

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

}  // namespace

std::uint64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

Json machine_json() {
  std::int64_t targets = hwy::SupportedTargets();
  // The best target is the lowest bit: it is the one in use.
  return {{"cpu", cpu_model()},
          {"features", hwy::TargetName(targets & -targets)},
          {"cores", std::thread::hardware_concurrency()}};
}

std::string version_text() { return std::string(version()); }

void add_security(Json& report, const storage::Manifest& manifest) {
  report["profile"] = manifest.profile;
  report["material"] = manifest.material;
  if (!manifest.columns.empty()) report["columns"] = manifest.columns;
  if (manifest.softspoken_k > 0) report["softspoken_k"] = manifest.softspoken_k;
  report["sigma"] = manifest.sigma;
  report["sigma_paper_bound"] = manifest.sigma_paper_bound;
  report["sigma_exact"] = manifest.sigma_exact;
  report["kappa"] = manifest.kappa;
  report["bucket"] = manifest.bucket;
  report["unit"] = manifest.unit;
}

void add_units(Json& report, const storage::Manifest& manifest,
               const storage::AttemptTotals& attempts) {
  ParameterRequest request = engine::begun_parameters(manifest);
  request.weak_allowed = true;
  const offline::SecurityParameters params = offline::SecurityParameters::make(request);
  report["units"] = Json::array();
  for (const auto& [plan, count] : attempts.units)
    report["units"].push_back({{"ands", plan.ands},
                               {"bucket", plan.bucket},
                               {"count", count},
                               {"bound_paper", params.bound_bits(plan.ands, plan.bucket)},
                               {"bound_exact", params.exact_bits(plan.ands, plan.bucket)}});
  report["outstanding"] = {{"units", attempts.outstanding},
                           {"sum", as_double(attempts.risk)},
                           {"limit", as_double(params.risk_limit())}};
}

std::string units_text(const Json& report) {
  // The jobs of a store that grows may each have had units of other sizes.
  constexpr std::size_t kSizesMax = 4;
  std::string text;
  const Json& sizes = report["units"];
  for (std::size_t i = 0; i < std::min(sizes.size(), kSizesMax); ++i) {
    const Json& unit = sizes[i];
    text += (text.empty() ? "units: " : "; ") + grouped(unit["count"]) + " of " +
            grouped(unit["ands"]) + " in buckets of " + unit["bucket"].dump() + " (" +
            decimals(unit["bound_paper"], 1) + " bits, exact " + decimals(unit["bound_exact"], 1) +
            ")";
  }
  if (sizes.size() > kSizesMax)
    text += "; " + grouped(sizes.size() - kSizesMax) + " other " +
            (sizes.size() == kSizesMax + 1 ? "size" : "sizes");
  if (!text.empty()) text += "\n";
  const Json& outstanding = report["outstanding"];
  if (const std::uint64_t units = outstanding["units"]; units > 0)
    text += "outstanding: " + grouped(units) + (units == 1 ? " unit" : " units") +
            " broken off or in flight, 2^" +
            decimals(std::log2(outstanding["sum"].get<double>()), 1) + " of 2^" +
            decimals(std::log2(outstanding["limit"].get<double>()), 1) + "\n";
  return text;
}

std::string profile_text(const Json& report) {
  std::string text =
      report["profile"].get<std::string>() + " (" + report["material"].get<std::string>();
  if (report.contains("columns")) text += ", " + report["columns"].get<std::string>() + " columns";
  if (report.contains("softspoken_k")) text += ", SoftSpoken k = " + report["softspoken_k"].dump();
  return text + ")";
}

void add_measurements(Json& report, const std::vector<PhaseCost>& phases) {
  report["phases"] = Json::array();
  for (const PhaseCost& phase : phases)
    report["phases"].push_back({{"name", phase.name},
                                {"wall_s", phase.wall_s},
                                {"cpu_s", phase.cpu_s},
                                {"bytes_sent", phase.bytes_sent},
                                {"bytes_received", phase.bytes_received},
                                {"rounds", phase.rounds},
                                {"items", phase.items}});
  report["peak_rss_bytes"] = peak_rss_bytes();
  const MemoryUse peak = peak_memory_use();
  report["peak_anonymous_bytes"] = peak.anonymous;
  report["peak_file_bytes"] = peak.file;
  report["machine"] = machine_json();
  report["version"] = version_text();
}

const Json& slower_of(const Json& both) {
  return both["A"]["wall_s"] > both["B"]["wall_s"] ? both["A"] : both["B"];
}

double wall_of_phase(const Json& report, std::string_view name) {
  for (const Json& phase : report["phases"])
    if (phase["name"] == name) return phase["wall_s"];
  return 0;
}

std::string json_text(const Json& report) {
  return report.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void print_report(Format format, const Json& report, const std::string& text) {
  if (format == Format::Json)
    std::cout << json_text(report) << std::endl;
  else
    std::cout << text << std::flush;
}

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

std::string decimals(double value, int digits) {
  std::ostringstream out;
  out << std::fixed;
  out.precision(digits);
  out << value;
  return out.str();
}

std::string bytes_text(double bytes) {
  static constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (bytes >= 1000 && unit < 4) bytes /= 1000, ++unit;
  return decimals(bytes, unit == 0 ? 0 : 1) + " " + kUnits[unit];
}

std::string seconds_text(double seconds) {
  if (seconds < 1) return decimals(seconds * 1000, 1) + " ms";
  if (seconds < 120) return decimals(seconds, 1) + " s";
  return decimals(seconds / 60, 1) + " min";
}

}  // namespace tinyot::tools
