// Reports: the result of a command, as one JSON object or as a few lines of text (doc/cli.md).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tinyot/phase_cost.h"
#include "tinyot/security.h"
#include "tools/cli/command_line.h"

namespace tinyot::tools {

using Json = nlohmann::ordered_json;

// The security of a session's material: profile and its options, sigma requested and reached,
// kappa, bucket, unit.
void add_security(Json& report, const Security& security);
// The units that it is made in, by size and bucket, and the outstanding attempts with their limit.
void add_units(Json& report, const Security& security);
// Of such a report, which another process has made.
Security security_from(const Json& report);
std::string units_text(const Security& security);
// The profile and its options.
std::string profile_text(const Security& security);

// The fields that every report ends with: phases, peak memory, machine, version.
void add_measurements(Json& report, const std::vector<PhaseCost>& phases);

Json machine_json();
std::string version_text();  // "0.2.0+1a2b3c4"
std::uint64_t peak_rss_bytes();

// Of a joint report of both parties, the one that took longer.
const Json& slower_of(const Json& both);
// Wall time of a phase, 0 if there is none of that name.
double wall_of_phase(const Json& report, std::string_view name);

// A report on one line. Bytes that are not UTF-8, as in names of files, are replaced.
std::string json_text(const Json& report);
// Prints the report in JSON, or `text`.
void print_report(Format format, const Json& report, const std::string& text);

// 12345678 -> "12,345,678"; bytes -> "1.2 GB"; seconds -> "3.4 s".
std::string grouped(std::uint64_t number);
std::string bytes_text(double bytes);
std::string seconds_text(double seconds);
std::string decimals(double value, int digits);

}  // namespace tinyot::tools
