// How fast preprocessing goes on this machine, from a short job that is really run: both parties
// here, over loopback, into stores that are thrown away.
#pragma once

#include "offline/estimate.h"
#include "tools/preprocess.h"

namespace tinyot::tools {

struct Calibration {
  double set_up_s;  // the seed OTs, once a session
  // rate of a party, leaky objects of each kind and direction with all that belongs to them
  double leaky_objects_per_s;
  double s_per_fresh_byte;    // of memory that is used for the first time
  std::uint64_t fresh_bytes;  // that the short job took, for itself and for what it wrote
  std::uint64_t ands;         // that it made
};

// Runs a job like this one with few ANDs.  Fails: as preprocess_locally.
Calibration calibrate(const PreprocessJob& job, const net::TcpTimeouts& timeouts);

// How long the whole job takes at that rate.
double estimated_s(const PreprocessJob& job, const Calibration& calibration);

}  // namespace tinyot::tools
