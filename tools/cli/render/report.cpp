#include "tools/cli/render/report.h"

#include <hwy/targets.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <thread>

#include "crypto/aead.h"
#include "system/memory_use.h"
#include "tinyot/version.h"
#include "tools/cli/render/text.h"

namespace tinyot::tools {
namespace {

// Its architecture where the kernel does not name the model, as on ARM.
std::string cpu_model(const utsname& system) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return system.machine;
}

std::string_view class_of(ExitStatus status) {
  switch (status) {
    case ExitStatus::Usage:
      return "usage";
    case ExitStatus::Network:
      return "network";
    case ExitStatus::PeerCheated:
      return "cheated";
    case ExitStatus::Store:
      return "store";
    case ExitStatus::Disagreement:
      return "disagreement";
    case ExitStatus::Done:
    case ExitStatus::Failure:
      break;
  }
  return "internal";
}

// "softspoken-k" is the field softspoken_k.
std::string field_of(std::string name) {
  std::ranges::replace(name, '-', '_');
  return name;
}

// A number as a number.
Json json_of(const std::string& value) {
  const bool is_number =
      !value.empty() && value.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? Json(std::stoull(value)) : Json(value);
}

// A number, or a list for a profile with more than one.
Json json_of(const BucketSizes& bucket) {
  if (bucket.levels() == 1) return bucket.only();
  return std::vector<std::uint32_t>(bucket.sizes().begin(), bucket.sizes().end());
}

}  // namespace

std::string vector_instructions() {
  const std::int64_t targets = hwy::SupportedTargets() & ~std::int64_t{HWY_DISABLED_TARGETS};
  // The best target is the lowest bit: it is the one in use.
  return hwy::TargetName(targets & -targets);
}

Json machine_json() {
  utsname system{};
  ::uname(&system);
  const auto pages = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES));
  return {{"cpu", cpu_model(system)},
          {"features", vector_instructions()},
          {"cores", std::thread::hardware_concurrency()},
          {"memory_bytes", pages * system::page_bytes()},
          {"kernel", std::string(system.sysname) + " " + system.release},
          {"openssl", crypto::sealing_library()}};
}

std::string version_text() { return std::string(version()); }

void add_security(Json& report, const Security& security) {
  report["profile"] = name_of(security.profile);
  report["material"] = name_of(security.material);
  for (const auto& [name, value] : named_values(security.profile, security.own))
    report[field_of(name)] = json_of(value);
  if (const auto lpn = lpn_of(security.own)) {
    report["lpn_bits"] = lpn->bits;
    report["is_lpn_retired"] = lpn->is_retired;
  }
  report["sigma"] = security.sigma;
  report["sigma_paper_bound"] = security.sigma_paper_bound;
  report["sigma_exact"] = security.sigma_exact;
  report["kappa"] = security.kappa;
  report["bucket"] = json_of(security.bucket);
  report["unit"] = security.unit;
}

void add_units(Json& report, const Security& security) {
  report["units"] = Json::array();
  for (const Security::Units& units : security.units)
    report["units"].push_back({{"ands", units.ands},
                               {"bucket", json_of(units.bucket)},
                               {"count", units.count},
                               {"bound_paper", units.bound_paper},
                               {"bound_exact", units.bound_exact}});
  report["outstanding"] = {
      {"units", security.outstanding}, {"sum", security.risk}, {"limit", security.risk_limit}};
}

std::string units_text(const Security& security) {
  // The jobs of a store that grows may each have had units of other sizes.
  constexpr std::size_t kSizesMax = 4;
  std::string text;
  const std::vector<Security::Units>& sizes = security.units;
  for (std::size_t i = 0; i < std::min(sizes.size(), kSizesMax); ++i)
    text += (text.empty() ? "units: " : "; ") + grouped(sizes[i].count) + " of " +
            grouped(sizes[i].ands) + " in buckets of " + sizes[i].bucket.text() + " (" +
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
  for (const auto& [name, value] : named_values(security.profile, security.own))
    text += ", " + name + " " + value;
  text += ")";
  if (const auto lpn = lpn_of(security.own))
    text += ", lpn: " + decimals(lpn->bits, 1) + " bits (" + std::string(name_of(lpn->set)) +
            (lpn->is_retired ? ", retired)" : ")");
  return text;
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
  report["peak_rss_bytes"] = system::peak_resident_bytes();
  const system::MemoryUse peak = system::peak_memory_use();
  report["peak_anonymous_bytes"] = peak.anonymous;
  report["peak_file_bytes"] = peak.file;
  report["machine"] = machine_json();
  report["version"] = version_text();
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

Json failure_report(const Failure& failure) {
  Json error = {{"class", class_of(failure.status)}};
  if (!failure.phase.empty()) error["phase"] = failure.phase;
  error["message"] = failure.message;
  if (!failure.remedy.empty()) error["remedy"] = failure.remedy;
  return {{"error", error}};
}

void print_failure(const Failure& failure) {
  print_report(Format::Json, failure_report(failure), {});
}

bool is_failure_report(const Json& report) { return report.contains("error"); }

}  // namespace tinyot::tools
