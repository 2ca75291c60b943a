// Reports: the result of a command, as one JSON object or as a few lines of text (doc/cli.md). The
// files of this folder turn typed results into both; no other part of the command knows JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tinyot/phase_cost.h"
#include "tinyot/security.h"
#include "tools/cli/command_line.h"
#include "tools/cli/failure.h"

namespace tinyot::tools {

using Json = nlohmann::ordered_json;

// Prints the report in JSON, or `text`.
void print_report(Format format, const Json& report, const std::string& text);
// A report on one line. Bytes that are not UTF-8, as in names of files, are replaced.
std::string json_text(const Json& report);

// The report of a failed command: {"error": {class, phase, message, remedy}}, without the phase or
// remedy if there is none. In text, the message on stderr is all there is.
Json failure_report(const Failure& failure);
void print_failure(const Failure& failure);
bool is_failure_report(const Json& report);

// The security of a session's material: profile and its options, sigma requested and reached,
// kappa, bucket, unit.
void add_security(Json& report, const Security& security);
// The units that it is made in, by size and bucket, and the outstanding attempts with their limit.
void add_units(Json& report, const Security& security);
std::string units_text(const Security& security);
// The profile and its options.
std::string profile_text(const Security& security);

// The fields that every report ends with: phases, peak memory, machine, version.
void add_measurements(Json& report, const std::vector<PhaseCost>& phases);

std::string vector_instructions();  // in use
Json machine_json();
std::string version_text();  // "0.2.0+1a2b3c4"

}  // namespace tinyot::tools
