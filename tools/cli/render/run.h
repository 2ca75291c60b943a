// What `tinyot run` reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "tinyot/run.h"
#include "tools/cli/circuit_spec.h"

namespace tinyot::tools {

struct RunReport {
  const RunRequest& request;
  const NamedCircuit& circuit;
  const RunResult& result;
  std::size_t lanes;                  // that are evaluated together
  std::optional<std::uint64_t> rows;  // of a table
  PrintedOutputs outputs;             // that are in no file
};
void print(Format format, const RunReport& report);

struct ReserveReport {
  Party party;
  const NamedCircuit& circuit;
  ReservedMaterial material;
};
void print(Format format, const ReserveReport& report);

}  // namespace tinyot::tools
