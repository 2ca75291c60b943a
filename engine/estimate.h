// Computes the estimated cost of a preprocessing job: traffic, disk, memory.
#pragma once

#include <chrono>
#include <cstdint>

#include "net/shaped_link.h"
#include "offline/parameters.h"
#include "offline/unit/preprocessor.h"
#include "tinyot/estimate.h"

namespace tinyot::engine {

// What a party's half of such material takes in a new store.
std::uint64_t bytes_on_disk(AndMaterial form, std::uint64_t ands, std::uint64_t inputs);

// Without ANDs, nothing is made and no bound applies.
Estimate estimate_job(const offline::SecurityParameters& params, std::uint64_t ands,
                      std::uint64_t inputs, std::uint64_t threads, const net::LinkShape& link = {});

// Workers beyond `threads` that a job of the fast profile has where messages take `latency`, so
// that the link stays busy while units wait for them: two, if there are units for them and the
// memory of their layers is within kWaitingLayersBytes. The same at both parties.
std::size_t waiting_workers(const offline::SecurityParameters& params, std::uint64_t ands,
                            std::uint64_t threads, std::chrono::nanoseconds latency);

// aBits for inputs in the unit of ANDs [first, first + count), if `inputs` are spread over `ands`
// ANDs. Differences of rounded cumulative shares, so that the sum over all units is `inputs`.
std::uint64_t inputs_of_unit(std::uint64_t inputs, std::uint64_t ands, std::uint64_t first,
                             std::uint64_t count);

}  // namespace tinyot::engine
