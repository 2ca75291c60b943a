// How fast preprocessing goes on this machine, from a short job that is really run: both parties here, over loopback, into stores
// that are thrown away.
#pragma once

#include "offline/forecast.h"
#include "tools/preprocess.h"

namespace tinyot {

struct Calibration {
  double set_up_s;           // the seed OTs, once a session
  double leaky_objects_per_s;  // rate of a party, leaky objects of each kind and direction with all that belongs to them
  std::uint64_t ands;        // that were made to find out
};

// Runs a job like this one with few ANDs.  Fails: as preprocess_locally.
Calibration calibrate(const PreprocessJob& job, const TcpTimeouts& timeouts);

// How long the whole job takes at that rate.
double foretold_s(const PreprocessJob& job, const Calibration& calibration);

}  // namespace tinyot
