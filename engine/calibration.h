// The rate of preprocessing on this machine, measured by a short job: both parties on threads of
// this process, over loopback, into stores that are removed afterwards.
#pragma once

#include "engine/estimate.h"
#include "tinyot/preprocess.h"

namespace tinyot::engine {

struct Calibration {
  double set_up_s;  // the base OTs, once per session
  // rate of a party: leaky objects of each kind and direction, with all further work on them
  double leaky_objects_per_s;
  double s_per_fresh_byte;    // for memory that is used for the first time
  std::uint64_t fresh_bytes;  // used by the short job, for itself and for its store
  std::uint64_t ands;         // that it made
};

// Runs a job like this one with fewer ANDs. Fails: as preprocess().
Calibration calibrate(const PreprocessRequest& job, const net::TcpTimeouts& timeouts);

// The time of the whole job at that rate, over such a link.
double estimated_s(const PreprocessRequest& job, const Calibration& calibration,
                   const net::LinkShape& link = {});

}  // namespace tinyot::engine
