// What `tinyot circuit` reports, and what the reports of circuits have in common.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "circuitgen/cost.h"
#include "circuitgen/formats/verilog/import.h"
#include "net/shaped_link.h"
#include "tools/cli/circuit_spec.h"
#include "tools/cli/outputs.h"
#include "tools/cli/render/report.h"

namespace tinyot::tools {

// The circuits by name.
void print_circuits(Format format);

struct CircuitReport {
  const NamedCircuit& circuit;
  std::optional<RunForecast> run = {};
  std::optional<net::LinkShape> link = {};
};
void print(Format format, const CircuitReport& report);

// Of the plain evaluation.
void print(Format format, const NamedCircuit& circuit, const PrintedOutputs& outputs);

// A circuit that was written to a file.
void print_converted(Format format, const NamedCircuit& circuit, const std::filesystem::path& file);

// The circuits of a design, of which the first is in the file.
struct ImportReport {
  const std::vector<circuit::Candidate>& candidates;
  system::Sandbox sandbox;
  std::filesystem::path file;
};
void print(Format format, const ImportReport& report);

Json json_of(const PrintedOutputs& outputs);
std::string text_of(const PrintedOutputs& outputs);  // a line for each value

// link, rtt_ms, rate_mbit (0: unlimited).
Json fields_of(const std::optional<net::LinkShape>& shape);

Json half_round_trips_json(const std::array<std::uint64_t, 2>& half_round_trips);

// Fields of the JSON object "run"; link_s if there is a link, wall_s if it has been measured.
Json fields_of(const RunForecast& forecast, const std::optional<net::LinkShape>& link);
// Lines with the same.
std::string text_of(const RunForecast& forecast, const std::optional<net::LinkShape>& link);

}  // namespace tinyot::tools
