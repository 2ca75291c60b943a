// Parameters of a job that are left to the link: how fast it is, as both parties agree.
#pragma once

#include <cstdint>

#include "net/channel.h"
#include "offline/parameters.h"

namespace tinyot::engine {

// The rate that a job of so many ANDs is fitted to, over a link of this rate, 0 if it is not known:
// small jobs are not worth a measurement, and are made as over a fast link.
double rate_for_fit(std::uint64_t ands, double bits_per_s);

// Role: both. The job's parameters, fitted to the link. Wire: if parameters are open and the job is
// not small, from B 8 bytes, then 32,768 eight times, and from A 8 bytes, the rate. Fails: as the
// channel. A peer that lies changes traffic and work of both parties, and nothing else.
offline::SecurityParameters fitted_to_link(const offline::SecurityParameters& params,
                                           std::uint64_t ands, std::uint64_t threads, Party me,
                                           net::Channel& channel);

}  // namespace tinyot::engine
