// What `tinyot preprocess` and `tinyot params` report.
#pragma once

#include <optional>

#include "engine/calibration.h"
#include "engine/estimate.h"
#include "net/shaped_link.h"
#include "tinyot/party.h"
#include "tinyot/preprocess.h"
#include "tools/cli/render/circuit.h"

namespace tinyot::tools {

void print(Format format, Party party, const PreprocessResult& result);

// A job of as many ANDs with other parameters.
struct ComparedJob {
  Estimate estimate;
  Security security = {};
  std::optional<double> wall_s = {};  // if it was calibrated
};

// A job before it runs, and a run on its material.
struct JobForecast {
  const PreprocessRequest& job;  // planned
  const offline::SecurityParameters& params;
  const Estimate& estimate;
  Security security;
  std::optional<net::LinkShape> link;
  // Of this machine, and the time of the job at that rate.
  std::optional<engine::Calibration> calibration = {};
  double wall_s = 0;

  struct Run {
    std::string circuit;
    RunForecast forecast;
  };
  std::optional<Run> run = {};
  std::vector<ComparedJob> compared = {};
};
void print(Format format, const JobForecast& forecast);

}  // namespace tinyot::tools
