// The estimated cost of a run, as `circuit info` and `params` report it.
#pragma once

#include "engine/run_estimate.h"
#include "tools/cli/circuit_spec.h"
#include "tools/cli/local_link.h"

namespace tinyot::tools {

struct RunForecast {
  std::size_t lanes;
  std::size_t window;
  MaterialForm form;
  engine::RunEstimate estimate;
};
// Fails: UsageError for the option --window.
RunForecast run_forecast(const NamedCircuit& circuit, MaterialForm form, const CommandLine& line);

// Fields of the JSON object "run"; link_s if there is a link.
Json fields_of(const RunForecast& forecast, const std::optional<net::LinkShape>& link);
// Sentences with the same, ending with a newline.
std::string text_of(const RunForecast& forecast, const std::optional<net::LinkShape>& link);

}  // namespace tinyot::tools
