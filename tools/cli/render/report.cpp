#include "tools/cli/render/report.h"

#include <hwy/targets.h>
#include <sys/resource.h>

#include <cmath>
#include <fstream>
#include <iostream>
#include <sstream>
#include <thread>

#include "tinyot/version.h"
#include "tools/cli/failure.h"
#include "system/memory_use.h"

namespace tinyot::tools {
namespace {

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

template <class Value>
Value named(const std::string& name, std::initializer_list<Value> values) {
  for (const Value value : values)
    if (name == name_of(value)) return value;
  throw CommandError("a report names '" + name + "', which this program does not know");
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

void add_security(Json& report, const Security& security) {
  report["profile"] = name_of(security.profile);
  report["material"] = name_of(security.material);
  if (security.columns) report["columns"] = name_of(*security.columns);
  if (security.softspoken_k > 0) report["softspoken_k"] = security.softspoken_k;
  report["sigma"] = security.sigma;
  report["sigma_paper_bound"] = security.sigma_paper_bound;
  report["sigma_exact"] = security.sigma_exact;
  report["kappa"] = security.kappa;
  report["bucket"] = security.bucket;
  report["unit"] = security.unit;
}

void add_units(Json& report, const Security& security) {
  report["units"] = Json::array();
  for (const Security::Units& units : security.units)
    report["units"].push_back({{"ands", units.ands},
                               {"bucket", units.bucket},
                               {"count", units.count},
                               {"bound_paper", units.bound_paper},
                               {"bound_exact", units.bound_exact}});
  report["outstanding"] = {
      {"units", security.outstanding}, {"sum", security.risk}, {"limit", security.risk_limit}};
}

Security security_from(const Json& report) {
  Security security{.profile = named<Profile>(report["profile"], {Profile::Nnob12, Profile::Fast}),
                    .material = named<MaterialForm>(report["material"],
                                                    {MaterialForm::Pairs, MaterialForm::Triples}),
                    .columns = {},
                    .softspoken_k = report.value("softspoken_k", 0U),
                    .sigma = report["sigma"],
                    .sigma_paper_bound = report["sigma_paper_bound"],
                    .sigma_exact = report["sigma_exact"],
                    .kappa = report["kappa"],
                    .bucket = report["bucket"],
                    .unit = report["unit"],
                    .units = {},
                    .outstanding = report["outstanding"]["units"],
                    .risk = report["outstanding"]["sum"],
                    .risk_limit = report["outstanding"]["limit"]};
  if (report.contains("columns"))
    security.columns = named<Columns>(report["columns"], {Columns::Theorem, Columns::Experiment});
  for (const Json& units : report["units"])
    security.units.push_back({units["ands"], units["bucket"], units["count"], units["bound_paper"],
                              units["bound_exact"]});
  return security;
}

std::string units_text(const Security& security) {
  // The jobs of a store that grows may each have had units of other sizes.
  constexpr std::size_t kSizesMax = 4;
  std::string text;
  const std::vector<Security::Units>& sizes = security.units;
  for (std::size_t i = 0; i < std::min(sizes.size(), kSizesMax); ++i)
    text += (text.empty() ? "units: " : "; ") + grouped(sizes[i].count) + " of " +
            grouped(sizes[i].ands) + " in buckets of " + std::to_string(sizes[i].bucket) + " (" +
            decimals(sizes[i].bound_paper, 1) + " bits, exact " +
            decimals(sizes[i].bound_exact, 1) + ")";
  if (sizes.size() > kSizesMax)
    text += "; " + grouped(sizes.size() - kSizesMax) + " other " +
            (sizes.size() == kSizesMax + 1 ? "size" : "sizes");
  if (!text.empty()) text += "\n";
  if (security.outstanding > 0)
    text += "outstanding: " + grouped(security.outstanding) +
            (security.outstanding == 1 ? " unit" : " units") + " broken off or in flight, 2^" +
            decimals(std::log2(security.risk), 1) + " of 2^" +
            decimals(std::log2(security.risk_limit), 1) + "\n";
  return text;
}

std::string profile_text(const Security& security) {
  std::string text =
      std::string(name_of(security.profile)) + " (" + std::string(name_of(security.material));
  if (security.columns) text += ", " + std::string(name_of(*security.columns)) + " columns";
  if (security.softspoken_k > 0)
    text += ", SoftSpoken k = " + std::to_string(security.softspoken_k);
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
